package import Sealing

/// The sealing keys of one access group that are at hand, by id; a snapshot that never changes.
package struct Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    private let lockedKeys: Set<KeyID>
    /// The key that new blobs are sealed under.
    package let active: SealingKey?
    /// Blobs of an earlier epoch were resealed, and are refused since.
    package let minimumEpoch: UInt32

    /// - Parameter locked: Keys that the vault holds and that need the user to unlock it.
    init(keys: [SealingKey], active: SealingKey?, locked: Set<KeyID> = [], minimumEpoch: UInt32 = 1) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.active = active
        lockedKeys = locked
        self.minimumEpoch = minimumEpoch
    }

    /// The key with that id, active or decrypt-only.
    @inline(__always)
    package func sealingKey(for id: KeyID) -> SealingKey? {
        // Nearly every blob is sealed under the active key; the look-up is for what a rotation left behind.
        if let active, active.id == id { return active }
        return keys[id]
    }

    /// Whether the vault holds that key out of reach until it is unlocked.
    package func isLocked(_ id: KeyID) -> Bool { lockedKeys.contains(id) }

    /// The ids of all keys at hand.
    package var ids: Set<KeyID> { Set(keys.keys) }
}
