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

/// A snapshot as a new directory that only its owner can open.
final class DirectoryTarget: SnapshotTarget {
    private let parent: Directory
    private let leaf: String
    private let directory: Directory
    private var file: (descriptor: Int32, path: String)?
    /// The time of the file's last change, which its copy gets.
    private var modified = FileTime.now

    /// - Throws: `Failure` if the name exists by now or cannot be created.
    init(_ place: SnapshotPlace) throws(Failure) {
        parent = place.parent
        leaf = place.leaf
        if mkdirat(parent.descriptor.rawValue, leaf, 0o700) < 0 {
            guard errno != EEXIST else { throw place.taken }
            let path = parent.display(leaf)
            throw Failure(FileError(errno: errno, operation: "create the directory", path: path), .output)
        }
        directory = try Failure.onFiles(.output) { [parent, leaf] () throws(FileError) in try parent.directory(leaf) }
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
        for synced in [directory, parent] where fsync(synced.descriptor.rawValue) < 0 {
            throw Failure(FileError(errno: errno, operation: "sync", path: synced.path.string), .output)
        }
    }

    func discard() { try? parent.removeTree(leaf) }

    private func failure(_ operation: String, _ path: String) -> Failure {
        Failure(FileError(errno: errno, operation: operation, path: directory.display(path)), .output)
    }
}
