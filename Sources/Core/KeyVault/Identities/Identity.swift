public import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The X25519 keys of a person or program, which open the slots of their recipients. Its description does not show
/// them.
///
/// Its text is `SEALED-SECRET-KEY-1` and 58 characters. Any reader of the text can open what was sealed to it. There
/// may be several keys, such as an old and a new one; any of them opens.
public final class Identity: Sendable, CustomStringConvertible {
    /// The recipients of the keys, in the order of the text; at least one.
    public let recipients: [Recipient]
    let keys: [IdentityKey]

    /// The first key's recipient, for sharing with others.
    public var recipient: Recipient { recipients[0] }

    /// - Throws: `VaultError` `.malformedIdentity` if there are no keys.
    init(_ keys: [IdentityKey]) throws(VaultError) {
        guard !keys.isEmpty else { throw Self.malformed("It contains no key.") }
        self.keys = keys
        var recipients: [Recipient] = []
        for key in keys { recipients.append(try Recipient(key.publicKey)) }
        self.recipients = recipients
    }

    /// Creates an identity with a random key.
    public static func random() throws(VaultError) -> Identity {
        let key: IdentityKey
        do throws(CryptoError) { key = try IdentityKey(.random(count: X25519.keySize)) } catch {
            throw malformed("\(error).")
        }
        return try Identity([key])
    }

    /// Reads an identity's text: one key per line. Empty lines and lines that begin with `#` are skipped, as in age.
    ///
    /// - Throws: `VaultError` `.malformedIdentity` with the number of the line, never its contents.
    public convenience init(text: borrowing SecretBytes) throws(VaultError) {
        let keys = try text.withUnsafeBytes { text throws(VaultError) in try IdentityText.keys(in: text) }
        try self.init(keys)
    }

    static func malformed(_ reason: String) -> VaultError {
        VaultError(.malformedIdentity, "read", "the identity", reason)
    }

    /// The type's name, without the keys.
    public var description: String { "Identity(…)" }
}

/// Parses the text of an identity in place.
enum IdentityText {
    /// Enough for some 200 keys.
    static let maximumSize = 16 * 1024

    static func keys(in text: UnsafeRawBufferPointer) throws(VaultError) -> [IdentityKey] {
        guard text.count <= maximumSize else {
            throw Identity.malformed("It is longer than \(maximumSize) bytes.")
        }
        var keys: [IdentityKey] = []
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = trimmed(line)
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            do throws(CryptoError) {
                keys.append(try IdentityKey(text: UnsafeRawBufferPointer(rebasing: line)))
            } catch {
                throw VaultError(
                    error,
                    meaning: Identity.malformed("Line \(number) is not a key: SEALED-SECRET-KEY-1 and 58 characters."))
            }
        }
        return keys
    }

    /// Returns the line without spaces, tabs and carriage returns at either end, as a slice, so that no secret is
    /// copied.
    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }
}

extension Identity {
    /// Reads an identity file; refuses it if others have rights to it. A pipe is accepted, and read for at most 10
    /// seconds.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.malformedIdentity`, `.denied` or `.file`.
    public convenience init(contentsOf path: String) throws(VaultError) {
        try self.init(text: try Self.contents(path))
    }

    /// Creates a file of mode 0600 with this identity; never overwrites an existing file.
    ///
    /// - Throws: `VaultError` `.file`, `.denied`.
    public func write(to path: String) throws(VaultError) {
        let path = FilePath(path)
        let text = text()
        try VaultError.onFiles("write the identity", role: .output) { () throws(FileError) in
            guard let leaf = path.lastComponent, leaf.kind == .regular else {
                throw FileError(.invalidName, operation: "write the identity", path: path.string)
            }
            // The dot follows a link in the parent's own name, which is legitimate.
            let parent = try Directory.open(path.removingLastComponent().pushing("."))
            try text.withUnsafeBytes { text throws(FileError) in
                try parent.createExclusively(leaf.string, with: text, mode: 0o600)
            }
        }
    }

    /// Returns the text of all keys, each after a comment with its recipient.
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

/// An X25519 key of an identity.
final class IdentityKey: Sendable {
    static let encoding = Bech32(prefix: "sealed-secret-key-", isUpperCase: true)
    static let textSize = encoding.textSize(byteCount: X25519.keySize)

    let publicKey: X25519.PublicKey
    private let scalar: SecretBytes

    /// - Throws: `CryptoError` `.parameterOutOfRange` for another size than 32 bytes.
    init(_ scalar: consuming SecretBytes) throws(CryptoError) {
        publicKey = try X25519.PrivateKey(scalar.copied()).publicKey
        self.scalar = scalar
    }

    /// Reads `SEALED-SECRET-KEY-1…`.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding`.
    convenience init(text: UnsafeRawBufferPointer) throws(CryptoError) {
        try self.init(
            SecretBytes(count: X25519.keySize) { bytes throws(CryptoError) in
                try Self.encoding.decode(text, into: bytes)
            })
    }

    /// The secret with which the key's holder opens slots.
    var holder: HolderSecret { HolderSecret(scalar.copied(), isScalar: true) }

    /// Writes the text, `textSize` characters.
    func encode(into text: UnsafeMutableRawBufferPointer) {
        scalar.withUnsafeBytes { Self.encoding.encode($0, into: text) }
    }
}
