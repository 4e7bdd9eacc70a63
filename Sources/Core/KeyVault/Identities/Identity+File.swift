internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

extension Identity {
    /// Reads an identity file and refuses it where others have a right to it. A pipe does as well, for at most 10
    /// seconds.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.malformedIdentity`, `.denied` or `.file`.
    public convenience init(contentsOf path: String) throws(VaultError) {
        try self.init(text: try Self.contents(path))
    }

    /// Makes a file of mode 0600 that holds this identity; one that exists is never written over.
    ///
    /// - Throws: `VaultError` `.file`, `.denied`.
    public func write(to path: String) throws(VaultError) {
        let path = FilePath(path)
        let text = text()
        try VaultError.onFiles("write the identity", role: .output) { () throws(FileError) in
            guard let leaf = path.lastComponent, leaf.kind == .regular else {
                throw FileError(.invalidName, operation: "write the identity", path: path.string)
            }
            // The dot follows a link in the parent's own name, which a person may well have.
            let parent = try Directory.open(path.removingLastComponent().pushing("."))
            try text.withUnsafeBytes { text throws(FileError) in
                try parent.createExclusively(leaf.string, with: text, mode: 0o600)
            }
        }
    }

    /// Each key behind a comment with its recipient.
    private func text() -> SecretBytes {
        let comments = recipients.map { Array("# recipient: \($0)\n".utf8) }
        let size = comments.reduce(0) { $0 + $1.count + IdentityKey.textSize + 1 }
        return SecretBytes(count: size) { text in
            var rest = text[...]
            func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
                defer { rest = rest.dropFirst(count) }
                return UnsafeMutableRawBufferPointer(rebasing: rest.prefix(count))
            }
            for (key, comment) in zip(keys, comments) {
                take(comment.count).copyBytes(from: comment)
                key.encode(into: take(IdentityKey.textSize))
                take(1)[0] = UInt8(ascii: "\n")
            }
        }
    }

    private static func contents(_ path: String) throws(VaultError) -> SecretBytes {
        do throws(FileError) {
            return try SecretFile.read(
                path: path, at: .stated, refusing: S_IRWXG | S_IRWXO, limit: IdentityText.maximumSize,
                operation: "read the identity")
        } catch {
            guard error.code == .tooLarge else { throw VaultError(error, "read the identity", role: .input) }
            throw malformed("It is longer than \(IdentityText.maximumSize) bytes.")
        }
    }
}
