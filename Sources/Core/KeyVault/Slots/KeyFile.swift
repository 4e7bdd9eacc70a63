internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The key file of an unattended slot: `sealed-key-1 `, 64 hexadecimal digits, a line feed.
///
/// The mark distinguishes an empty, truncated or unrelated file from a wrong key.
enum KeyFile {
    private static let mark: StaticString = "sealed-key-1 "
    private static let keySize = 32
    private static let size = 13 + 2 * keySize + 1

    /// Reads a key file; refuses it if others have rights to it.
    ///
    /// - Parameters:
    ///   - place: `.usual` for the group's own key file and for credentials: no link, no pipe, no other user's file.
    ///   - rights: The permissions that only the owner may have.
    /// - Throws: `VaultError` `.unsafeFile`, `.malformedKeyFile`, `.denied` or `.file`, also if the file does not
    ///   exist.
    static func read(
        path: String, at place: SecretPlace = .stated, refusing rights: mode_t = S_IRWXG | S_IRWXO
    ) throws(VaultError) -> SecretBytes {
        let text = try contents(path, place, rights)
        return try text.withUnsafeBytes { text throws(VaultError) in try key(text, path) }
    }

    /// Returns whether an entry with that name exists, even if it is unusable.
    ///
    /// - Throws: `VaultError` `.denied` or `.file` if the check fails.
    static func exists(path: String) throws(VaultError) -> Bool {
        if access(path, F_OK) == 0 { return true }
        let number = errno
        if number == ENOENT { return false }
        throw VaultError(FileError(errno: number, operation: "examine", path: path), "read the key file", role: .input)
    }

    /// Reads the key file of an access group, or creates it. Many processes may do so at once.
    static func readOrCreate(in directory: Directory, leaf: String) throws(VaultError) -> SecretBytes {
        let path = directory.path.appending(leaf).string
        if try VaultError.onFiles(making, { () throws(FileError) in try directory.exists(leaf) }) {
            return try read(path: path, at: .usual)
        }
        let key = SecretBytes.random(count: keySize)
        let text = encode(key)
        do throws(FileError) {
            try text.withUnsafeBytes { text throws(FileError) in
                try directory.createExclusively(leaf, with: text, mode: 0o600)
            }
        } catch {
            // Another process created the file first, so its key counts.
            guard error.code == .alreadyExists else { throw VaultError(error, making, role: .output) }
            return try read(path: path, at: .usual)
        }
        return key
    }

    private static let making = "create the key file"

    private static func contents(
        _ path: String, _ place: SecretPlace, _ rights: mode_t
    ) throws(VaultError) -> SecretBytes {
        do throws(FileError) {
            return try SecretFile.read(
                path: path, at: place, refusing: rights, limit: size, operation: "read the key file")
        } catch {
            throw classified(error, path)
        }
    }

    private static func classified(_ error: FileError, _ path: String) -> VaultError {
        error.code == .tooLarge
            ? malformed(path, "It is longer than a key file.") : VaultError(error, "read the key file", role: .input)
    }

    private static func key(_ text: UnsafeRawBufferPointer, _ path: String) throws(VaultError) -> SecretBytes {
        let mark = UnsafeRawBufferPointer(start: Self.mark.utf8Start, count: Self.mark.utf8CodeUnitCount)
        guard text.starts(with: mark) else { throw malformed(path, "It does not begin with \(Self.mark).") }
        var digits = text[mark.count...]
        if digits.last == 0x0A { digits.removeLast() }
        do throws(CryptoError) {
            return try SecretBytes(count: keySize) { key throws(CryptoError) in
                try Hexadecimal.decode(UnsafeRawBufferPointer(rebasing: digits), into: key)
            }
        } catch {
            throw VaultError(error, meaning: malformed(path, "It does not contain 64 hexadecimal digits."))
        }
    }

    private static func encode(_ key: borrowing SecretBytes) -> SecretBytes {
        key.withUnsafeBytes { key in
            SecretBytes(count: size) { text in
                let mark = UnsafeRawBufferPointer(start: Self.mark.utf8Start, count: Self.mark.utf8CodeUnitCount)
                text.copyMemory(from: mark)
                Hexadecimal.encode(key, into: UnsafeMutableRawBufferPointer(rebasing: text[mark.count..<size - 1]))
                text[size - 1] = 0x0A
            }
        }
    }

    private static func malformed(_ path: String, _ reason: String) -> VaultError {
        VaultError(.malformedKeyFile, "read the key file", path, reason)
    }
}

/// Small files that contain a secret, read directly into guarded memory.
enum SecretFile {
    /// Opens a file and reads it to its end. Neither step blocks: a pipe gets `Descriptor.inputLimit` in all.
    ///
    /// - Parameters:
    ///   - place: The degree of trust in the path.
    ///   - rights: The permissions that only the owner may have.
    /// - Throws: `FileError` `tooLarge` for a file longer than `limit` bytes, `inputTimeout`, those of
    ///   `Descriptor.openSecret`.
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
