package import CryptoPrimitives
internal import SharedFiles
internal import SystemPackage

/// Small files that hold a secret, read straight into guarded memory.
package enum SecretFile {
    /// Reads a file named by the person who runs the program: any path, links allowed, but only a regular file or pipe.
    ///
    /// - Throws: `VaultError` `.file`, also for one longer than `limit` bytes.
    package static func read(path: String, limit: Int, operation: String) throws(VaultError) -> SecretBytes {
        do throws(FileError) {
            let descriptor = try Descriptor.openForReading(path: path)
            return try read(descriptor, limit: limit, path: path)
        } catch {
            throw VaultError(error, operation)
        }
    }

    /// Reads an open file to its end.
    static func read(_ descriptor: borrowing Descriptor, limit: Int, path: String) throws(FileError) -> SecretBytes {
        var count = 0
        let room = try SecretBytes(count: limit + 1) { buffer throws(FileError) in
            count = try descriptor.read(into: buffer)
        }
        guard count <= limit else {
            throw FileError(.tooLarge, operation: "read", path: path, advice: "It may have \(limit) bytes at most.")
        }
        return room.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
    }
}
