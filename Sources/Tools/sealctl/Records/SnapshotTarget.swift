internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The destination of a snapshot. The snapshot appears there whole at the end, or not at all.
protocol SnapshotTarget: AnyObject {
    /// Adds a directory, before everything in it.
    func addDirectory(_ path: String) throws(Failure)
    /// Begins a file. Its contents follow in parts, with this size in total.
    func beginFile(_ path: String, size: Int64, modified: FileTime) throws(Failure)
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure)
    func endFile() throws(Failure)
    /// Completes the snapshot.
    func commit() throws(Failure)
    /// Removes the written data.
    func discard()
}

extension SnapshotTarget {
    func addFile(_ path: String, _ bytes: [UInt8], modified: FileTime) throws(Failure) {
        try beginFile(path, size: Int64(bytes.count), modified: modified)
        try add(bytes)
        try endFile()
    }

    func add(_ bytes: [UInt8]) throws(Failure) {
        let result = bytes.withUnsafeBytes { buffer -> Result<Void, Failure> in
            do throws(Failure) { return .success(try write(buffer)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

/// A snapshot as a new directory that only its owner can open. It is written beside its place, and renamed when it is
/// complete.
final class DirectoryTarget: SnapshotTarget {
    private let place: SnapshotPlace
    private let parent: Directory
    /// The present name of the directory.
    private var leaf: String
    private let directory: Directory
    /// The directory has its own name: it is no longer removed.
    private var isCommitted = false
    private var file: (descriptor: Int32, path: String)?
    /// The time of the file's last change, which its copy gets.
    private var modified = FileTime.now

    /// - Throws: `Failure` if the directory cannot be created.
    init(_ place: SnapshotPlace) throws(Failure) {
        self.place = place
        parent = place.parent
        SnapshotLeftovers.remove(in: place.parent)
        (leaf, directory) = try Failure.onFiles(.output) { () throws(FileError) in
            try SnapshotLeftovers.makeDirectory(in: place.parent)
        }
    }

    deinit { if let file { close(file.descriptor) } }

    func addDirectory(_ path: String) throws(Failure) {
        try Failure.onFiles(.output) { () throws(FileError) in _ = try directory.makeDirectory(path, mode: 0o700) }
    }

    func beginFile(_ path: String, size: Int64, modified: FileTime) throws(Failure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = openat(directory.descriptor.rawValue, path, flags, mode_t(0o600))
        guard opened >= 0 else { throw failure("create", path) }
        file = (opened, path)
        self.modified = modified
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard let file else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(file.descriptor, part.baseAddress, part.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("write", file.path) }
            rest = rest.dropFirst(count)
        }
    }

    func endFile() throws(Failure) {
        guard let ended = file else { return }
        file = nil
        defer { close(ended.descriptor) }
        futimens(ended.descriptor, [modified.systemTime, modified.systemTime])
        guard fdatasync(ended.descriptor) == 0 else { throw failure("sync", ended.path) }
    }

    func commit() throws(Failure) {
        try sync(directory)
        do throws(FileError) {
            if try !parent.renameNew(leaf, place.leaf, "write") { try renameOverOwn() }
        } catch {
            throw error.code == .alreadyExists ? place.taken : Failure(error, .output)
        }
        (leaf, isCommitted) = (place.leaf, true)
        SnapshotLeftovers.removeMark(from: directory)
        try sync(directory)
        try sync(parent)
    }

    /// For file systems that cannot rename without replacing: takes the name with an empty directory, which is then
    /// replaced. A directory that is not empty is never replaced.
    private func renameOverOwn() throws(FileError) {
        let at = parent.descriptor.rawValue
        guard mkdirat(at, place.leaf, 0o700) == 0 else {
            throw FileError(errno: errno, operation: "write", path: parent.display(place.leaf))
        }
        guard renameat(at, leaf, at, place.leaf) == 0 else {
            let error = FileError(errno: errno, operation: "write", path: parent.display(place.leaf))
            unlinkat(at, place.leaf, AT_REMOVEDIR)
            throw error
        }
    }

    private func sync(_ directory: Directory) throws(Failure) {
        guard fsync(directory.descriptor.rawValue) < 0 else { return }
        throw Failure(FileError(errno: errno, operation: "sync", path: directory.path.string), .output)
    }

    func discard() { if !isCommitted { try? parent.removeTree(leaf) } }

    private func failure(_ operation: String, _ path: String) -> Failure {
        Failure(FileError(errno: errno, operation: operation, path: directory.display(path)), .output)
    }
}

/// The directories of snapshots that are being written: `.sealctl-snapshot.` and 16 hexadecimal digits, beside the
/// place of the snapshot.
///
/// The writer holds a lock of flock(2) on its directory, which the kernel releases when the process ends: one that is
/// not locked is the leftover of a killed command. The first file in it, which is empty and goes when the snapshot has its
/// name, is the mark that the directory was made here: another one may have been given such a name.
private enum SnapshotLeftovers {
    private static let prefix = ".sealctl-snapshot."
    private static let mark = ".sealctl-snapshot"
    private static let attempts = 16

    /// Creates, locks and marks a directory.
    static func makeDirectory(in parent: Directory) throws(FileError) -> (leaf: String, Directory) {
        for _ in 0..<attempts {
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            let leaf = prefix + String(repeating: "0", count: 16 - digits.count) + digits
            if mkdirat(parent.descriptor.rawValue, leaf, 0o700) < 0 {
                guard errno == EEXIST else {
                    throw FileError(errno: errno, operation: "create the directory", path: parent.display(leaf))
                }
                continue
            }
            // Another command that removes leftovers may have been quicker.
            guard let directory = try? parent.directory(leaf), lock(directory) != .taken,
                isNamed(directory, leaf, in: parent)
            else { continue }
            do throws(FileError) { try addMark(to: directory) } catch {
                unlinkat(parent.descriptor.rawValue, leaf, AT_REMOVEDIR)
                throw error
            }
            return (leaf, directory)
        }
        throw FileError(.alreadyExists, operation: "create the directory", path: parent.display(prefix))
    }

    private static func addMark(to directory: Directory) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = openat(directory.descriptor.rawValue, mark, flags, mode_t(0o600))
        guard opened >= 0 else {
            throw FileError(errno: errno, operation: "create", path: directory.display(mark))
        }
        close(opened)
    }

    /// Removes the mark of a complete snapshot.
    static func removeMark(from directory: Directory) { unlinkat(directory.descriptor.rawValue, mark, 0) }

    /// Removes the leftovers of this user's killed commands, as far as possible. Nothing is removed where another user
    /// could exchange a directory meanwhile.
    static func remove(in parent: Directory) {
        guard let place = try? parent.attributes("."), place.mode & 0o022 == 0 || place.mode & 0o1000 != 0 else {
            return
        }
        for entry in (try? parent.entries()) ?? [] where entry.kind == .directory && isOurs(entry.name) {
            guard let directory = try? parent.directory(entry.name), let facts = try? directory.attributes("."),
                facts.uid == geteuid(), facts.mode & 0o077 == 0, lock(directory) == .held,
                isNamed(directory, entry.name, in: parent)
            else { continue }
            if (try? directory.exists(mark)) == true {
                try? parent.removeTree(entry.name)
            } else {
                // Killed before the mark was made; any other directory is not empty.
                unlinkat(parent.descriptor.rawValue, entry.name, AT_REMOVEDIR)
            }
        }
    }

    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 16
            && name.utf8.dropFirst(prefix.utf8.count).allSatisfy(\.isLowerHexDigit)
    }

    private static func isNamed(_ directory: Directory, _ leaf: String, in parent: Directory) -> Bool {
        guard let named = try? parent.attributes(leaf), let own = try? directory.attributes(".") else { return false }
        return named.isSameFile(as: own)
    }

    private enum Lock {
        case held, taken
        /// The file system has no such locks; then nothing is removed there.
        case unavailable
    }

    /// The lock ends with the descriptor of the directory.
    private static func lock(_ directory: Directory) -> Lock {
        if flock(directory.descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 { return .held }
        return errno == EWOULDBLOCK ? .taken : .unavailable
    }
}
