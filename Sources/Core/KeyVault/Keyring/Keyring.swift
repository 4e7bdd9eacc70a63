package import Sealing

/// The sealing keys of one access group that are at hand, by id; a snapshot that never changes.
package struct Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    /// Those of *when unlocked*, at hand or not.
    private let whenUnlocked: Set<KeyID>
    /// The key that new blobs of *after first unlock* are sealed under.
    package let active: SealingKey?
    /// The epoch that new blobs of *when unlocked* are sealed in; nil while the class has no key.
    package let whenUnlockedEpoch: UInt32?
    private let minimumEpochs: (afterFirstUnlock: UInt32, whenUnlocked: UInt32)
    /// The tags of the names that are *when unlocked*.
    let listed: Set<Bytes16>
    /// Whether the list of those names is out of reach, because the compartment of persons is gone or damaged. Then a blob
    /// counts only under a name that this user has accepted before.
    package let isPersonMissing: Bool

    /// Unwraps the keys of *after first unlock*. Those of the other class are named, never left out: locked is not unknown.
    ///
    /// - Parameter passingDamage: Whether a key that does not fit its entry is left out.
    /// - Throws: `VaultError` `.corrupt` for a key that does not fit its entry, `.outOfMemory`.
    init(
        _ service: CompartmentContents?, _ person: Register.Person?, vaultID: [UInt8], root: RootKey,
        listed: Set<Bytes16>, isPersonMissing: Bool, path: String, passingDamage: Bool
    ) throws(VaultError) {
        self.isPersonMissing = isPersonMissing
        var found: [KeyID: SealingKey] = [:]
        var active: SealingKey?
        let entries = (service?.keyring ?? []).filter { $0.state != .destroyed }
        try WrappedSecrets.open(entries, passingDamage: passingDamage) { entry, output throws(VaultError) in
            try entry.unwrap(into: output, vaultID: vaultID, root: root, path: path)
        } _: { entry, secret throws(VaultError) in
            let key = try entry.key(secret, path: path)
            found[key.id] = key
            if entry.state == .active { active = key }
        }
        keys = found
        self.active = active
        let others = (person?.keys ?? []).filter { $0.state != .destroyed }
        whenUnlocked = Set(others.map { KeyID(bytes: $0.keyID.withUnsafeBytes { Bytes16($0) }) })
        whenUnlockedEpoch = others.first { $0.state == .active }?.epoch
        minimumEpochs = (service?.state.rotation.minimumEpoch ?? 1, person?.rotation.minimumEpoch ?? 1)
        self.listed = listed
    }

    private init(_ other: Keyring, lending key: SealingKey) {
        keys = other.keys.merging([key.id: key]) { _, lent in lent }
        active = other.active
        whenUnlocked = other.whenUnlocked
        whenUnlockedEpoch = other.whenUnlockedEpoch
        minimumEpochs = other.minimumEpochs
        listed = other.listed
        isPersonMissing = other.isPersonMissing
    }

    /// The same with one key more, for one use: a program that keeps it keeps a key that a lock does not reach.
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

    /// Blobs of an earlier epoch were resealed, and are refused since.
    package func minimumEpoch(of protection: ProtectionClass) -> UInt32 {
        protection == .whenUnlocked ? minimumEpochs.whenUnlocked : minimumEpochs.afterFirstUnlock
    }

    /// The lower of both: `minimumEpoch(for:)` knows the class.
    package var minimumEpoch: UInt32 { min(minimumEpochs.afterFirstUnlock, minimumEpochs.whenUnlocked) }

    /// The lowest epoch that a blob of any class can have and be read, also under a key that is still to come.
    package var lowestUsableEpoch: UInt32 { whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch }

    /// The same for the class of a key.
    package func minimumEpoch(for id: KeyID) -> UInt32 {
        // Most vaults hold no key of the other class.
        whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch(of: protection(of: id))
    }

    package func minimumEpoch(for key: SealingKey) -> UInt32 { minimumEpoch(for: key.id) }

    /// The epoch that blobs of a class are sealed in; nil where the class has no active key.
    package func activeEpoch(of protection: ProtectionClass) -> UInt32? {
        protection == .whenUnlocked ? whenUnlockedEpoch : active?.epoch
    }

    /// Whether any name is *when unlocked*.
    package var listsNames: Bool { !listed.isEmpty }

    /// The ids of all keys at hand.
    package var ids: Set<KeyID> { Set(keys.keys) }
}

/// When a protected value can be reached.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
    /// From the vault's first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// While the vault is unlocked.
    case whenUnlocked = 2
}
