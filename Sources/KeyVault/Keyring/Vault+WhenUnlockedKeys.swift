internal import CryptoPrimitives
package import Sealing

/// Sealing keys of the class *when unlocked*: each is taken from the vault for one use and kept nowhere, so that a lock takes
/// effect for everybody at the next use.
extension Vault {
    /// The key that new blobs of a class are sealed under, after a look at the file.
    ///
    /// - Throws: `VaultError` `.locked`; `.noActiveKey` where the class has none (`makeKey(for:)` makes it), and as
    ///   `current()`.
    package func activeKey(for protection: ProtectionClass) throws(VaultError) -> SealingKey {
        if protection == .afterFirstUnlock { return try activeKey() }
        let contents = try current()
        guard let entry = contents.body.keyring.activeWhenUnlocked else {
            throw VaultError(
                .noActiveKey, "seal with", path, "It has no active key of the class \"when unlocked\".",
                advice: "Write again: the first write makes it.")
        }
        return try lend(entry, of: contents)
    }

    /// Sees to it that a class has an active key that is within reach. The first key of *when unlocked* is born here, once,
    /// under the vault's lock; its epoch is that of the active key, which is never a retired one.
    ///
    /// Must not be called with a record's lock in hand: whoever sets a vault aside takes the vault's lock first.
    /// - Throws: `VaultError` `.locked`; `.orphanedBlobs` where the vault never had a key of that class and the container
    ///   holds blobs of the group under keys that it does not know; those of any change.
    package func makeKey(for protection: ProtectionClass) throws(VaultError) {
        if protection == .afterFirstUnlock { return }
        let contents = try current()
        do throws(VaultError) { try keys.withKeyBytes(.whenUnlocked) { _ in } } catch {
            throw error.code == .locked ? error.explained(for: contents) : error
        }
        guard contents.body.keyring.activeWhenUnlocked == nil else { return }
        try change(.keyAdded) { draft throws(VaultError) in
            // Another program may have made it meanwhile.
            if draft.body.keyring.activeWhenUnlocked != nil {
                draft.isSettled = true
                return
            }
            try requireNoOrphans(knowing: draft.body.keyring)
            try draft.addWhenUnlockedKey()
        }
    }

    /// The keyring of the last look, and in it the key with that id, whatever its class.
    ///
    /// - Throws: `VaultError` `.locked`, `.corrupt`.
    package func keyring(toOpen id: KeyID) throws(VaultError) -> Keyring { try keyring(toOpen: id, of: heldContents) }

    /// The same after a look at the file.
    ///
    /// - Throws: `VaultError` `.locked`, and as `current()`.
    package func currentKeyring(toOpen id: KeyID) throws(VaultError) -> Keyring {
        try keyring(toOpen: id, of: current())
    }

    private func keyring(toOpen id: KeyID, of contents: VaultContents) throws(VaultError) -> Keyring {
        guard contents.keyring.isLocked(id),
            let entry = contents.body.keyring.first(where: { KeySummary($0).id == id })
        else { return contents.keyring }
        return contents.keyring.lending(try lend(entry, of: contents))
    }

    private func lend(_ entry: KeyringEntry, of contents: VaultContents) throws(VaultError) -> SealingKey {
        do throws(VaultError) {
            return try KeyringReader(place: place, vaultID: contents.head.header.vaultID).unwrap(entry, keys: keys)
        } catch {
            throw error.code == .locked ? error.explained(for: contents) : error
        }
    }

    /// A vault that was restored from before the class had a key looks as if it never had one. What that key sealed would
    /// be lost beside another one; a class that had a key here goes on without a search, as a rotation does.
    private func requireNoOrphans(knowing keyring: [KeyringEntry]) throws(VaultError) {
        guard !keyring.contains(where: { $0.protection == .whenUnlocked }) else { return }
        do throws(VaultError) {
            try KeyBirthGuard(accessGroup, in: place.home).check(knowing: Set(keyring.map { KeySummary($0).id }))
        } catch {
            guard error.code == .orphanedBlobs else { throw error }
            throw VaultError(
                .orphanedBlobs, "make a key of the class \"when unlocked\" for", accessGroup.identifier, error.reason,
                advice:
                    "Bring in the backup that holds their key (sealctl vault import), or move them out of the container."
            )
        }
    }
}

extension [KeyringEntry] {
    /// The key that blobs of *when unlocked* are sealed under. One of another epoch than the active key's seals nothing: it
    /// may be of a retired one.
    var activeWhenUnlocked: KeyringEntry? {
        guard let epoch = first(where: { $0.state == .active && $0.protection == .afterFirstUnlock })?.epoch else {
            return nil
        }
        return first { $0.state == .active && $0.protection == .whenUnlocked && $0.epoch == epoch }
    }
}

extension VaultDraft {
    /// Gives *when unlocked* a fresh active key of the active epoch.
    fileprivate mutating func addWhenUnlockedKey() throws(VaultError) {
        guard let active = activeEntry(.afterFirstUnlock) else {
            throw VaultError(.noActiveKey, "seal with", place.path, "Its keyring has no active key.")
        }
        for index in body.keyring.indices
        where body.keyring[index].state == .active && body.keyring[index].protection == .whenUnlocked {
            body.keyring[index].state = .decryptOnly
        }
        // No two keys of one class have one epoch.
        if isTaken(active.epoch, .whenUnlocked) {
            _ = try beginNextEpoch(startingWith: .whenUnlocked)
        } else {
            try addActiveKey(.whenUnlocked, epoch: active.epoch)
        }
    }

    /// Whether a class has a key of that epoch that does not seal.
    func isTaken(_ epoch: UInt32, _ protection: ProtectionClass) -> Bool {
        body.keyring.contains { $0.epoch == epoch && $0.protection == protection && $0.state != .active }
    }
}
