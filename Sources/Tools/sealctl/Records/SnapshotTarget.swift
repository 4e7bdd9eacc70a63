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
        leaf = place.leaf
        try sync(parent)
    }

    /// For file systems that cannot rename without replacing: takes the name with an empty directory, which is then
    /// replaced. A directory that is not empty is never replaced.
    private func renameOverOwn() throws(FileError) {
        let at = parent.descriptor.rawValue
        guard mkdirat(at, place.leaf, 0o700) == 0, renameat(at, leaf, at, place.leaf) == 0 else {
            throw FileError(errno: errno, operation: "write", path: parent.display(place.leaf))
        }
    }

    private func sync(_ directory: Directory) throws(Failure) {
        guard fsync(directory.descriptor.rawValue) < 0 else { return }
        throw Failure(FileError(errno: errno, operation: "sync", path: directory.path.string), .output)
    }

    func discard() { try? parent.removeTree(leaf) }

    private func failure(_ operation: String, _ path: String) -> Failure {
        Failure(FileError(errno: errno, operation: operation, path: directory.display(path)), .output)
    }
}

/// The directories of snapshots that are being written: `.sealctl-snapshot.` and 16 hexadecimal digits, beside the
/// place of the snapshot.
///
/// The writer holds a lock of flock(2) on its directory, which the kernel releases when the process ends: one that is
/// not locked is the leftover of a killed command.
private enum SnapshotLeftovers {
    private static let prefix = ".sealctl-snapshot."
    private static let attempts = 16

    /// Creates and locks a directory.
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
            return (leaf, directory)
        }
        throw FileError(.alreadyExists, operation: "create the directory", path: parent.display(prefix))
    }

    /// Removes the leftovers of this user's killed commands, as far as possible.
    static func remove(in parent: Directory) {
        for entry in (try? parent.entries()) ?? [] where entry.kind == .directory && isOurs(entry.name) {
            guard let directory = try? parent.directory(entry.name), let facts = try? directory.attributes("."),
                facts.uid == geteuid(), facts.mode & 0o077 == 0, lock(directory) == .held,
                isNamed(directory, entry.name, in: parent)
            else { continue }
            try? parent.removeTree(entry.name)
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
