package import Sealing

/// The sealing keys of one access group that are at hand, by id; a snapshot that never changes.
package struct Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    /// Those of *when unlocked*, at hand or not.
    private let whenUnlocked: Set<KeyID>
    /// The key that new blobs are sealed under.
    package let active: SealingKey?
    /// Blobs of an earlier epoch were resealed, and are refused since.
    package let minimumEpoch: UInt32

    /// - Parameter locked: Keys that the vault holds and that are taken from it for each use, while it is unlocked.
    init(keys: [SealingKey], active: SealingKey?, locked: Set<KeyID> = [], minimumEpoch: UInt32 = 1) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.active = active
        whenUnlocked = locked
        self.minimumEpoch = minimumEpoch
    }

    private init(_ other: Keyring, lending key: SealingKey) {
        keys = other.keys.merging([key.id: key]) { _, lent in lent }
        active = other.active
        whenUnlocked = other.whenUnlocked
        minimumEpoch = other.minimumEpoch
    }

    /// The same with one key more, for one use: whoever keeps it keeps a key that a lock does not reach.
    func lending(_ key: SealingKey) -> Keyring { Keyring(self, lending: key) }

    /// The key with that id, active or decrypt-only.
    @inline(__always)
    package func sealingKey(for id: KeyID) -> SealingKey? {
        // Nearly every blob is sealed under the active key; the look-up is for what a rotation left behind.
        if let active, active.id == id { return active }
        return keys[id]
    }

    /// Whether the vault holds that key, and it is not in this keyring: `Vault.keyring(toOpen:)` has it while the vault is
    /// unlocked.
    package func isLocked(_ id: KeyID) -> Bool { whenUnlocked.contains(id) && keys[id] == nil }

    /// The keys that the vault holds and that are not in this keyring.
    package var lockedIDs: Set<KeyID> { whenUnlocked.filter { keys[$0] == nil } }

    /// The class of a key that the vault holds.
    package func protection(of id: KeyID) -> ProtectionClass {
        whenUnlocked.contains(id) ? .whenUnlocked : .afterFirstUnlock
    }

    /// The ids of all keys at hand.
    package var ids: Set<KeyID> { Set(keys.keys) }
}
