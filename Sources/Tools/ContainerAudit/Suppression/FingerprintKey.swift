internal import CryptoPrimitives

/// The key of fingerprints: who does not have it cannot try values against an ignore file.
///
/// Whoever runs audits keeps it, in a file that only they read, and uses the same one each time: with another key every
/// fingerprint is another one. It opens nothing.
public struct FingerprintKey: Sendable {
    /// The 32 bytes, to be kept.
    public let bytes: [UInt8]

    /// A key of 32 random bytes; nil for another number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// A new key, made at random.
    public init() { bytes = SecureRandom.bytes(count: Self.size) }

    /// How many bytes a key has.
    public static let size = 32

    /// What ignore lists and baselines call the key: 16 hexadecimal digits that tell nothing about it.
    public var id: String {
        Fingerprint.digits(of: BLAKE2b.hash([], key: bytes, personalization: .fingerprintKeyID, count: 16).prefix(8))
    }
}
