internal import CryptoPrimitives

/// The public half of an ``Identity``, to which a vault's slot is sealed. Its text begins with `sealed1` and is not
/// secret.
public struct Recipient: Sendable, Hashable, CustomStringConvertible {
    static let encoding = Bech32(prefix: "sealed", isUpperCase: false)

    let key: X25519.PublicKey

    /// - Throws: `VaultError` `.malformedIdentity` for a key that would make every slot for it useless: one of low
    ///   order, which anyone can open, or one in a form that no identity has, which no identity can open.
    init(_ key: X25519.PublicKey) throws(VaultError) {
        self.key = key
        let malformed = Self.malformed("It is not a usable X25519 public key.")
        guard Self.isCanonical(key.bytes) else { throw malformed }
        // A point of low order gives no secret.
        do throws(CryptoError) { _ = try X25519.PrivateKey.random().sharedSecret(with: key) } catch {
            throw VaultError(error, meaning: malformed)
        }
    }

    /// Reads a recipient's text.
    ///
    /// - Throws: `VaultError` `.malformedIdentity`.
    public init(_ text: String) throws(VaultError) {
        let key: X25519.PublicKey
        do throws(CryptoError) { key = try Self.decode(text) } catch {
            throw VaultError(
                error,
                meaning: Self.malformed(
                    text.hasPrefix("SEALED-SECRET-KEY-")
                        ? "It is an identity, which is secret; its recipient begins with sealed1."
                        : "It is not sealed1 and 58 characters, or one of them is wrong."))
        }
        try self.init(key)
    }

    private static func decode(_ text: String) throws(CryptoError) -> X25519.PublicKey {
        let bytes = try SecretBytes(count: X25519.keySize) { bytes throws(CryptoError) in
            try Array(text.utf8).withRawBytes { text throws(CryptoError) in try encoding.decode(text, into: bytes) }
        }
        return try X25519.PublicKey(bytes: bytes.withUnsafeBytes { Array($0) })
    }

    /// The text: `sealed1` and 58 characters.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.encoding.textSize(byteCount: X25519.keySize)) { text in
            key.bytes.withUnsafeBytes { Self.encoding.encode($0, into: UnsafeMutableRawBufferPointer(text)) }
            return text.count
        }
    }

    /// Returns an error that does not contain the text, because the user may have entered the secret half by mistake.
    private static func malformed(_ reason: String) -> VaultError {
        VaultError(.malformedIdentity, "read", "the recipient", reason, advice: "Copy the whole text again.")
    }

    /// Returns whether the number is below 2^255 - 19 and the highest bit is clear (RFC 7748, section 5).
    private static func isCanonical(_ bytes: [UInt8]) -> Bool {
        guard bytes[31] & 0x80 == 0 else { return false }
        return bytes[31] != 0x7F || bytes[1..<31].contains { $0 != 0xFF } || bytes[0] < 0xED
    }
}
