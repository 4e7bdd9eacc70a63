internal import CryptoPrimitives
package import Sealing
internal import SharedFiles

/// Sealing keys by epoch: `active`, then `decryptOnly`, then `destroyed`, and never back.
extension Vault {
    /// Every key that the vault holds or held, by epoch, without anything secret.
    ///
    /// - Throws: As `current()`.
    package func keySummaries() throws(VaultError) -> [KeySummary] {
        try current().body.keyring.map(KeySummary.init).sorted {
            ($0.epoch, $0.protection.rawValue) < ($1.epoch, $1.protection.rawValue)
        }
    }

    /// Begins a rotation: a fresh key of the next epoch becomes active, the one before opens only.
    ///
    /// A rotation that has begun and is not completed goes on: then nothing is made. While the vault is locked the class
    /// *when unlocked* gets no new key: its old one opens only, and the next use while it is unlocked makes the new one.
    /// - Returns: The epoch that blobs are to have.
    /// - Throws: `VaultError`, as any change.
    package func beginRotation() throws(VaultError) -> UInt32 {
        let contents = try current()
        if contents.body.state.rotation == .resealing, let active = contents.keyring.active { return active.epoch }
        return try change(.rotationBegun) { draft throws(VaultError) in
            // Another program may have begun meanwhile.
            if draft.body.state.rotation == .resealing, let active = draft.activeEntry(.afterFirstUnlock) {
                draft.isSettled = true
                return active.epoch
            }
            return try draft.beginNextEpoch()
        }
    }

    /// Completes a rotation: from now on blobs of earlier epochs are refused. Called when none is left.
    ///
    /// - Parameter epoch: What `beginRotation` returned; when another rotation has begun since, nothing is done.
    /// - Returns: Whether blobs of earlier epochs are refused now, whoever saw to it.
    @discardableResult
    package func completeRotation(to epoch: UInt32) throws(VaultError) -> Bool {
        let state = try current().body.state
        guard state.rotation == .resealing else { return state.minimumEpoch >= epoch }
        return try change(.rotationCompleted) { draft throws(VaultError) in
            guard draft.body.state.rotation == .resealing, draft.activeEntry(.afterFirstUnlock)?.epoch == epoch else {
                draft.isSettled = true
                return draft.body.state.minimumEpoch >= epoch
            }
            draft.body.state.rotation = .completed
            draft.body.state.rotationCompleted = draft.now
            draft.body.state.minimumEpoch = epoch
            return true
        }
    }

    /// Where the last rotation stands.
    package func rotationState() throws(VaultError) -> RotationState {
        let state = try current().body.state
        return RotationState(
            isResealing: state.rotation == .resealing, began: state.rotationBegan, completed: state.rotationCompleted,
            minimumEpoch: state.minimumEpoch)
    }

    /// Destroys a key: its bytes leave the vault, its id and epoch stay. What only it opens is lost.
    ///
    /// Whether a blob still needs it is the caller's to find out.
    /// - Parameter onlyIfRetired: Refuses a key whose epoch no completed rotation has ended, or that a program may still
    ///   seal under, as it is in the moment of the change: what the caller saw before may have passed.
    /// - Throws: `VaultError` `.keyNotFound`; `.keyInUse` for the active key and for one that is not retired.
    package func destroyKey(_ id: KeyID, onlyIfRetired: Bool = false) throws(VaultError) {
        try change(.keyDestroyed, subject: id.bytes.withUnsafeBytes { Array($0) }) { draft throws(VaultError) in
            guard let index = draft.body.keyring.firstIndex(where: { KeySummary($0).id == id }) else {
                throw VaultError(.keyNotFound, "destroy key \(id) of", path, "It has no such key.")
            }
            guard draft.body.keyring[index].state != .active else {
                throw VaultError(
                    .keyInUse, "destroy key \(id) of", path, "It is the active key.",
                    advice: "Rotate first: sealctl vault rotate.")
            }
            if onlyIfRetired { try requireRetired(draft.body.keyring[index], minimum: draft.body.state.minimumEpoch) }
            draft.body.keyring[index].destroy()
        }
    }

    private func requireRetired(_ key: KeyringEntry, minimum: UInt32) throws(VaultError) {
        let id = KeySummary(key).id
        guard key.epoch < minimum else {
            throw VaultError(
                .keyInUse, "destroy key \(id) of", path, "No rotation has been completed since it was active.")
        }
        guard isEpochHeld(key.epoch) == false else {
            throw VaultError(.keyInUse, "destroy key \(id) of", path, "A program may still seal under it.")
        }
    }

    /// Whether programs, this one included, still seal under an epoch; nil where that cannot be found out.
    package func isEpochHeld(_ epoch: UInt32) -> Bool? {
        let file = LockFile(directory: directory, name: ReaderPresence.leaf, mode: directory.fileMode)
        do throws(FileError) {
            // A moment's patience: another program that asks the same holds the byte while it asks.
            _ = try file.acquire(ReaderPresence.range(of: epoch), .exclusive, timeout: .milliseconds(20))
            return false
        } catch {
            return error.code == .lockTimeout ? true : nil
        }
    }
}

/// Where a rotation stands; times are milliseconds since 1970, 0 for never.
package struct RotationState: Sendable, Hashable {
    package let isResealing: Bool
    package let began: UInt64
    package let completed: UInt64
    package let minimumEpoch: UInt32
}

extension VaultDraft {
    func activeEntry(_ protection: ProtectionClass) -> KeyringEntry? {
        body.keyring.first { $0.state == .active && $0.protection == protection }
    }

    /// One more than any epoch that the vault has had.
    func nextEpoch() throws(VaultError) -> UInt32 {
        let highest = body.keyring.map(\.epoch).max() ?? 0
        guard highest < UInt32.max else {
            throw VaultError(.tooLarge, "rotate the keys of", place.path, "Its epochs are used up.")
        }
        return highest + 1
    }

    /// Goes on to the next epoch, which is a rotation that has begun.
    ///
    /// - Parameter first: A class that gets its first key with it.
    mutating func beginNextEpoch(startingWith first: ProtectionClass = .afterFirstUnlock) throws(VaultError) -> UInt32 {
        let epoch = try nextEpoch()
        try replaceActiveKeys(epoch: epoch, startingWith: first)
        body.state.rotation = .resealing
        body.state.rotationBegan = now
        return epoch
    }

    /// A fresh active key for each class that has one and is within reach; those before open only.
    mutating func replaceActiveKeys(
        epoch: UInt32, startingWith first: ProtectionClass = .afterFirstUnlock
    ) throws(VaultError) {
        let active = body.keyring.filter { $0.state == .active }.map(\.protection)
        for index in body.keyring.indices where body.keyring[index].state == .active {
            body.keyring[index].state = .decryptOnly
        }
        for protection in Set(active + [.afterFirstUnlock, first]).sorted(by: { $0.rawValue < $1.rawValue }) {
            guard try keys.reaches(protection) else { continue }
            try addActiveKey(protection, epoch: epoch)
        }
    }

    mutating func addActiveKey(_ protection: ProtectionClass, epoch: UInt32) throws(VaultError) {
        let secret = SecretBytes.random(count: SealingKey.size)
        body.keyring.append(
            try KeyringReader(place: place, vaultID: vaultID).entry(
                for: secret, epoch: epoch, state: .active, protection: protection, createdAt: now, keys: keys))
    }
}
