/// The key of fingerprints: who does not have it cannot try values against an ignore file.
public struct FingerprintKey: Sendable {
    let bytes: [UInt8]
    /// A key of 32 random bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
