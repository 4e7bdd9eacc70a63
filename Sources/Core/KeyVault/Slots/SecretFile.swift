internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles

/// Small files that hold a secret, read straight into guarded memory.
enum SecretFile {
    /// Opens a file and reads it to its end. Neither step blocks: a pipe gets `Descriptor.inputLimit` in all.
    ///
    /// - Parameters:
    ///   - place: How far the path is trusted.
    ///   - rights: The permissions that nobody but the owner may have.
    /// - Throws: `FileError` `tooLarge` for one longer than `limit` bytes, `inputTimeout`, those of `Descriptor.openSecret`.
    static func read(
        path: String, at place: SecretPlace, refusing rights: mode_t, limit: Int, operation: String
    ) throws(FileError) -> SecretBytes {
        let file = try Descriptor.openSecret(path: path, at: place, refusing: rights, operation)
        var count = 0
        let room = try SecretBytes(count: limit + 1) { buffer throws(FileError) in
            count = try file.read(into: buffer, within: Descriptor.inputLimit)
        }
        guard count <= limit else {
            throw FileError(.tooLarge, operation: operation, path: path, advice: "It may have \(limit) bytes at most.")
        }
        return room.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
    }
}

extension FileError: SecretMemoryError {
    package static func noSecretMemory(count: Int) -> FileError {
        FileError(errno: ENOMEM, operation: "hold", path: "secrets")
    }
}
