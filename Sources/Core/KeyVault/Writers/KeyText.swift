internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A kind of secret key with its own text: one Bech32 prefix for the plain form, one for the protected form.
struct KeyTextKind: Sendable {
    /// The kind's name in errors.
    let noun: String
    /// The error code for an invalid text.
    var malformedCode = VaultError.Code.malformedKey
    let plain: Bech32
    let protected: Bech32
    /// The size of the secret: an Ed25519 seed or an X25519 scalar.
    static let secretSize = 32

    static let writer = KeyTextKind(
        noun: "the writer key", plain: Bech32(prefix: "sealed-writer-key-", isUpperCase: true),
        protected: Bech32(prefix: "sealed-protected-writer-key-", isUpperCase: true))
    static let team = KeyTextKind(
        noun: "the team key", plain: Bech32(prefix: "sealed-team-key-", isUpperCase: true),
        protected: Bech32(prefix: "sealed-protected-team-key-", isUpperCase: true))
    static let identity = KeyTextKind(
        noun: "the identity", malformedCode: .malformedIdentity, plain: IdentityKey.encoding,
        protected: Bech32(prefix: "sealed-protected-secret-key-", isUpperCase: true))

    var plainSize: Int { plain.textSize(byteCount: Self.secretSize) }
    var protectedSize: Int { protected.textSize(byteCount: ProtectedKey.size) }

    func malformed(_ reason: String, _ subject: String? = nil) -> VaultError {
        VaultError(
            malformedCode, "read", subject ?? noun, reason, advice: "Restore it from a backup; it was not changed.")
    }
}

/// The lines of a text file of secret keys. Empty lines and lines that begin with `#` are skipped, as in age.
enum KeyText {
    /// The largest file in bytes.
    static let maximumSize = 16 * 1024

    /// A secret key in its file's form.
    enum Line: ~Copyable {
        case plain(SecretBytes)
        case protected(ProtectedKey)
    }

    /// Reads every key of a text.
    ///
    /// - Parameter body: Called with each key, in the order of the text.
    /// - Throws: `VaultError` `.malformedKey` with the number of the line, never its contents; what `body` throws.
    static func forEachKey(
        in text: UnsafeRawBufferPointer, _ kind: KeyTextKind, _ body: (consuming Line) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard text.count <= maximumSize else { throw kind.malformed("It is longer than \(maximumSize) bytes.") }
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = UnsafeRawBufferPointer(rebasing: trimmed(line))
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let key: Line
            do throws(CryptoError) { key = try self.key(line, kind) } catch {
                throw VaultError(error, meaning: kind.malformed("Line \(number) is not such a key."))
            }
            try body(key)
        }
    }

    private static func key(_ line: UnsafeRawBufferPointer, _ kind: KeyTextKind) throws(CryptoError) -> Line {
        guard line.count == kind.protectedSize else {
            return .plain(
                try SecretBytes(count: KeyTextKind.secretSize) { bytes throws(CryptoError) in
                    try kind.plain.decode(line, into: bytes)
                })
        }
        let bytes = try SecretBytes(count: ProtectedKey.size) { bytes throws(CryptoError) in
            try kind.protected.decode(line, into: bytes)
        }
        return .protected(try bytes.withUnsafeBytes { bytes throws(CryptoError) in try ProtectedKey(Array(bytes)) })
    }

    /// Returns the line without spaces, tabs and carriage returns at either end, as a slice, so that no secret is
    /// copied.
    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }

    /// Returns the text of one key after a comment with its public half.
    ///
    /// - Parameter write: Writes the line of the key, without its line end.
    static func text(
        comment: String, lineSize: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void
    ) -> SecretBytes {
        let comment = Array("# \(comment)\n".utf8)
        return SecretBytes(count: comment.count + lineSize + 1) { text in
            text.copyBytes(from: comment)
            write(UnsafeMutableRawBufferPointer(rebasing: text[comment.count..<(comment.count + lineSize)]))
            text[text.count - 1] = UInt8(ascii: "\n")
        }
    }
}

/// The files of secret keys: mode 0600, never overwritten.
enum KeyTextFile {
    /// Reads a file that only its owner may read.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.malformedKey`, `.denied` or `.file`.
    static func contents(_ path: String, _ kind: KeyTextKind) throws(VaultError) -> SecretBytes {
        do throws(FileError) {
            return try SecretFile.read(
                path: path, at: .stated, refusing: S_IRWXG | S_IRWXO, limit: KeyText.maximumSize,
                operation: "read \(kind.noun)")
        } catch {
            guard error.code == .tooLarge else { throw VaultError(error, "read \(kind.noun)", role: .input) }
            throw kind.malformed("It is longer than \(KeyText.maximumSize) bytes.", path)
        }
    }

    /// Creates a file of mode 0600; never overwrites an existing file.
    static func write(_ text: borrowing SecretBytes, to path: String, _ kind: KeyTextKind) throws(VaultError) {
        let path = FilePath(path)
        let operation = "write \(kind.noun)"
        do throws(FileError) {
            guard let leaf = path.lastComponent, leaf.kind == .regular else {
                throw FileError(.invalidName, operation: operation, path: path.string)
            }
            // The dot follows a link in the parent's own name, which is legitimate.
            let parent = try Directory.open(path.removingLastComponent().pushing("."))
            try text.withUnsafeBytes { text throws(FileError) in
                try parent.createExclusively(leaf.string, with: text, mode: 0o600)
            }
        } catch {
            throw VaultError(error, operation, role: .output)
        }
    }
}
