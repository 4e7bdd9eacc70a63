package import Sealing

/// A sealing key as it may be shown to anybody.
package struct KeySummary: Hashable, Sendable {
    package let id: KeyID
    package let epoch: UInt32
    package let state: KeyState
    package let protection: ProtectionClass
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    init(_ entry: KeyringEntry) {
        id = KeyID(bytes: Bytes16(filling: { $0.copyBytes(from: entry.keyID) }))
        epoch = entry.epoch
        state = entry.state
        protection = entry.protection
        createdAt = entry.createdAt
    }

    init(_ key: RegisteredKey) {
        id = KeyID(bytes: Bytes16(filling: { $0.copyBytes(from: key.keyID) }))
        epoch = key.epoch
        state = key.state
        protection = .whenUnlocked
        createdAt = key.createdAt
    }
}
