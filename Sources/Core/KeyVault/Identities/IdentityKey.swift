internal import CryptoPrimitives

/// One X25519 key of an identity.
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
