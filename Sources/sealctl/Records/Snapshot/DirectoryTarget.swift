internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A snapshot as a directory that is made here, for its owner alone.
final class DirectoryTarget: SnapshotTarget {
    private let parent: Directory
    private let leaf: String
    private let directory: Directory
    private var file: (descriptor: Int32, path: String)?
    /// When the file was changed last, as its copy is to say.
    private var modified = timespec()

    /// - Throws: `Failure` where the name is taken, or cannot be made.
    init(_ argument: String) throws(Failure) {
        let path = FilePath(WorkingDirectory.absolute(argument)).lexicallyNormalized()
        do throws(FileError) {
            parent = try Directory.open(path.removingLastComponent())
            leaf = try LeafName(path.lastComponent?.string ?? "").string
        } catch { throw Failure(error, .output) }
        if mkdirat(parent.descriptor.rawValue, leaf, 0o700) < 0 {
            guard errno != EEXIST else { throw TarTarget.taken(argument) }
            throw Failure(FileError(errno: errno, operation: "create the directory", path: path.string), .output)
        }
        directory = try Failure.onFiles(.output) { [parent, leaf] () throws(FileError) in try parent.directory(leaf) }
    }

    deinit { if let file { close(file.descriptor) } }

    func addDirectory(_ path: String) throws(Failure) {
        try Failure.onFiles(.output) { () throws(FileError) in _ = try directory.makeDirectory(path, mode: 0o700) }
    }

    func beginFile(_ path: String, size: Int64, modified: Timestamp) throws(Failure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = openat(directory.descriptor.rawValue, path, flags, mode_t(0o600))
        guard opened >= 0 else { throw failure("create", path) }
        file = (opened, path)
        let milliseconds = Int(modified.milliseconds)
        self.modified = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
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
        futimens(ended.descriptor, [modified, modified])
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
