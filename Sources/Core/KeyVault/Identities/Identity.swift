public import CryptoPrimitives

/// A person's or program's own X25519 keys, which open the slots of their recipients. It prints as nothing.
///
/// Its text is `SEALED-SECRET-KEY-1` and 58 characters; whoever reads it can open what was sealed to it. There may be
/// several keys, such as an old and a new one; any of them opens.
public final class Identity: Sendable, CustomStringConvertible {
    /// One for each key, in the order of the text; at least one.
    public let recipients: [Recipient]
    let keys: [IdentityKey]

    /// The first key's recipient: the one to give to others.
    public var recipient: Recipient { recipients[0] }

    /// - Throws: `VaultError` `.malformedIdentity` for no key at all.
    init(_ keys: [IdentityKey]) throws(VaultError) {
        guard !keys.isEmpty else { throw Self.malformed("It holds no key.") }
        self.keys = keys
        var recipients: [Recipient] = []
        for key in keys { recipients.append(try Recipient(key.publicKey)) }
        self.recipients = recipients
    }

    /// A fresh key.
    public static func random() throws(VaultError) -> Identity {
        let key: IdentityKey
        do throws(CryptoError) { key = try IdentityKey(.random(count: X25519.keySize)) } catch {
            throw malformed("\(error).")
        }
        return try Identity([key])
    }

    /// Reads an identity's text: one key a line; empty lines and lines that begin with `#` are passed over, as age does.
    ///
    /// - Throws: `VaultError` `.malformedIdentity` with the number of the line, never its contents.
    public convenience init(text: borrowing SecretBytes) throws(VaultError) {
        let keys = try text.withUnsafeBytes { text throws(VaultError) in try IdentityText.keys(in: text) }
        try self.init(keys)
    }

    static func malformed(_ reason: String) -> VaultError {
        VaultError(.malformedIdentity, "read", "the identity", reason)
    }

    /// Says that it is an identity, never which.
    public var description: String { "Identity(…)" }
}

/// The text of an identity, taken apart in place.
enum IdentityText {
    /// Some 200 keys.
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
                    meaning: Identity.malformed("Line \(number) is no key: SEALED-SECRET-KEY-1 and 58 characters."))
            }
        }
        return keys
    }

    /// Without spaces, tabs and carriage returns at either end; a slice, so that nothing secret is copied.
    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }
}
