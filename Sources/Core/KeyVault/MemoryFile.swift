internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A file in which this user's programs remember facts about a vault or a roster: mode 0600, in a directory of the user
/// beside the watermarks, replaced as a whole.
///
/// Other users cannot change it. A program of the same user can, as it can edit all files of that user.
struct MemoryFile: Hashable, Sendable {
    let directory: FilePath
    let leaf: String

    /// Returns the file's bytes; `nil` only if the file does not exist.
    ///
    /// - Throws: `FileError`.
    func read(limit: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) { return try Directory.openOwn(directory).read(leaf, limit: limit) } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// The identity and the last change of the file; `nil` without a file.
    var attributes: FileAttributes? { (try? Directory.openOwn(directory)).flatMap { try? $0.attributes(leaf) } }

    /// Replaces the file under a lock on its directory, so that no other program's change is lost between reading and
    /// writing.
    ///
    /// - Parameters:
    ///   - contents: Reads the file again and returns the bytes to write; `nil` leaves the file unchanged.
    ///   - afterwards: Called with the lock held.
    /// - Throws: `VaultError` `.lockTimeout` after five seconds, `.durabilityUnknown`, `.denied`, `.file`; those of `contents`.
    func update(
        _ operation: String, durability: Durability, _ contents: () throws(VaultError) -> [UInt8]?,
        afterwards: () -> Void = {}
    ) throws(VaultError) {
        let directory = try VaultError.onFiles(operation) { () throws(FileError) in
            try Directory.createOwn(self.directory)
        }
        guard let lock = DirectoryLock(self.directory) else {
            throw VaultError(
                .lockTimeout, operation, self.directory.string, "Another program holds the lock of the directory.",
                advice: "Try again.")
        }
        defer { lock.unlock() }
        if let bytes = try contents() {
            try VaultError.onFiles(operation) { () throws(FileError) in
                try directory.replace(leaf, with: bytes, mode: 0o600, durability: durability, strategy: .named)
            }
        }
        afterwards()
    }

    /// Removes the file for a person's decision, durably: after a power loss it would contradict what was decided.
    func remove() { try? Directory.openOwn(directory).remove(leaf, durability: .durable) }
}

/// An exclusive lock on a directory of this user, held between reading a file in it and replacing that file.
struct DirectoryLock {
    private static let attempts = 500
    private static let pause: UInt32 = 10_000

    private let descriptor: Int32

    /// Waits five seconds; returns `nil` if the directory cannot be locked.
    init?(_ path: FilePath) {
        let descriptor = open(path.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                self.descriptor = descriptor
                return
            }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(Self.pause)
        }
        close(descriptor)
        return nil
    }

    func unlock() { close(descriptor) }
}
