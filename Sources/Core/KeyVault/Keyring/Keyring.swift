package import Sealing

/// The available sealing keys of one access group, by id: an immutable snapshot.
package struct Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    /// All key ids of *when unlocked*, including unavailable ones.
    private let whenUnlocked: Set<KeyID>
    /// The key for new blobs of *after first unlock*.
    package let active: SealingKey?
    /// The epoch for new blobs of *when unlocked*; `nil` while the class has no key.
    package let whenUnlockedEpoch: UInt32?
    private let minimumEpochs: (afterFirstUnlock: UInt32, whenUnlocked: UInt32)
    /// The tags of the names that are *when unlocked*.
    let listed: Set<Bytes16>
    /// `true` if the list of those names is not accessible because the compartment of persons is missing or damaged.
    /// Then a blob counts only under a name that this user has accepted before.
    package let isPersonMissing: Bool

    /// Unwraps the keys of *after first unlock*. The keys of the other class are listed, never omitted: locked is not
    /// unknown.
    ///
    /// - Parameter passingDamage: Whether to leave out a key that does not match its entry.
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry, `.outOfMemory`.
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

    /// Returns the keyring with one more key, for one use: a program that kept it would keep a key that a lock does not
    /// reach.
    func lending(_ key: SealingKey) -> Keyring { Keyring(self, lending: key) }

    /// Returns the key with that id, active or opening-only.
    @inline(__always)
    package func sealingKey(for id: KeyID) -> SealingKey? {
        // Nearly every blob is sealed under the active key; the look-up serves blobs that a rotation left behind.
        if let active, active.id == id { return active }
        return keys[id]
    }

    /// Returns whether the vault has that key but this keyring does not: `Vault.keyring(toOpen:)` has it while the
    /// vault is unlocked.
    package func isLocked(_ id: KeyID) -> Bool { whenUnlocked.contains(id) && keys[id] == nil }

    /// The keys of the vault that are not in this keyring.
    package var lockedIDs: Set<KeyID> { whenUnlocked.filter { keys[$0] == nil } }

    /// Returns the class of a key of the vault.
    package func protection(of id: KeyID) -> ProtectionClass {
        whenUnlocked.contains(id) ? .whenUnlocked : .afterFirstUnlock
    }

    /// Returns the minimum epoch of a class: blobs of earlier epochs were resealed, and are refused since.
    package func minimumEpoch(of protection: ProtectionClass) -> UInt32 {
        protection == .whenUnlocked ? minimumEpochs.whenUnlocked : minimumEpochs.afterFirstUnlock
    }

    /// The lower of both: `minimumEpoch(for:)` knows the class.
    package var minimumEpoch: UInt32 { min(minimumEpochs.afterFirstUnlock, minimumEpochs.whenUnlocked) }

    /// The lowest epoch of a readable blob of any class, even under a future key.
    package var lowestUsableEpoch: UInt32 { whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch }

    /// Returns the minimum epoch of a key's class.
    package func minimumEpoch(for id: KeyID) -> UInt32 {
        // Most vaults have no key of the other class.
        whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch(of: protection(of: id))
    }

    package func minimumEpoch(for key: SealingKey) -> UInt32 { minimumEpoch(for: key.id) }

    /// Returns the epoch for new blobs of a class; `nil` if the class has no active key.
    package func activeEpoch(of protection: ProtectionClass) -> UInt32? {
        protection == .whenUnlocked ? whenUnlockedEpoch : active?.epoch
    }

    /// `true` if any name is *when unlocked*.
    package var listsNames: Bool { !listed.isEmpty }

    /// The ids of all available keys.
    package var ids: Set<KeyID> { Set(keys.keys) }
}

/// The time when a protected value is available.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
    /// From the vault's first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// While the vault is unlocked.
    case whenUnlocked = 2
}
