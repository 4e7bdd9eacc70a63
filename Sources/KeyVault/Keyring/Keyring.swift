package import Sealing

/// The sealing keys of one access group that are at hand, by id; a snapshot that never changes.
package struct Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    /// The key that new blobs are sealed under.
    package let active: SealingKey?

    init(keys: [SealingKey], active: SealingKey?) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.active = active
    }

    /// The key with that id, active or decrypt-only.
    @inline(__always)
    package func sealingKey(for id: KeyID) -> SealingKey? {
        // Nearly every blob is sealed under the active key; the look-up is for what a rotation left behind.
        if let active, active.id == id { return active }
        return keys[id]
    }

    /// The ids of all keys at hand.
    package var ids: Set<KeyID> { Set(keys.keys) }
}
