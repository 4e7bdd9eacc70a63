internal import Sealing
internal import SharedFiles

/// Adds a backup to a vault that is there. What the vault has wins, and nothing is renumbered: a blob's header names its
/// epoch, and that has to be the epoch which the vault has for the blob's key.
struct BackupMerge {
    let backup: Backup
    let replacesItems: Bool

    /// - Throws: `VaultError` `.epochClash`, `.locked`, `.tooLarge`, `.corrupt`; the draft is of no use then.
    func merge(into draft: inout VaultDraft, directory: Directory) throws(VaultError) -> ImportReport {
        let target = WrappingSide(vaultID: draft.vaultID, keys: draft.keys, directory: directory, place: draft.place)
        let rewrapping = Rewrapping(source: backup.side, target: target)
        var report = ImportReport()
        try addKeys(to: &draft, rewrapping, &report)
        try addItems(to: &draft, rewrapping, &report)
        try draft.body.addTokenKeys(backup.tokenKeys, from: backup.side, to: target)
        return report
    }

    private func addKeys(
        to draft: inout VaultDraft, _ rewrapping: Rewrapping, _ report: inout ImportReport
    ) throws(VaultError) {
        var plan = KeyringMerge(draft.body.keyring, path: draft.place.path)
        for entry in backup.keyring {
            switch try plan.take(entry) {
            case .unknown:
                draft.body.keyring.append(try rewrapping.key(entry, as: .decryptOnly))
                report.keysAdded.append(KeySummary(entry))
            case .known: report.keysKnown.append(KeySummary(entry))
            case .destroyedHere: report.keysStillDestroyed.append(KeySummary(entry))
            case .destroyedThere(let key): report.keysDestroyedThere.append(key)
            case .nothingToTake: break
            }
        }
        guard draft.body.keyring.count <= VaultBody.maximumKeys else {
            throw VaultError(
                .tooLarge, "bring a backup into", draft.place.path, "It would have more keys than a keyring holds.")
        }
        draft.retire(before: backup.state.minimumEpoch)
        report.rotationEpoch = try draft.leadAgain(before: report.keysAdded)
    }

    private func addItems(
        to draft: inout VaultDraft, _ rewrapping: Rewrapping, _ report: inout ImportReport
    ) throws(VaultError) {
        for entry in backup.items {
            let isThere = draft.body.items[try ItemName(entry, path: draft.place.path)] != nil
            if isThere && !replacesItems {
                report.itemsLeft.append(VaultItem(entry))
                continue
            }
            let carried = try rewrapping.item(entry)
            if isThere {
                try draft.body.items.replace(with: carried, path: draft.place.path)
                report.itemsReplaced.append(VaultItem(entry))
            } else {
                try draft.body.items.insert(carried, path: draft.place.path)
                report.itemsAdded.append(VaultItem(entry))
            }
        }
    }
}

/// Decides key by key what a keyring takes from another one.
private struct KeyringMerge {
    private let path: String
    private var entries: [KeyID: KeySummary] = [:]
    private var places: Set<Place> = []

    private struct Place: Hashable {
        let epoch: UInt32
        let protection: ProtectionClass
    }

    enum Decision {
        case unknown, known, destroyedHere, nothingToTake
        /// The key as it is here.
        case destroyedThere(KeySummary)
    }

    init(_ keyring: [KeyringEntry], path: String) {
        self.path = path
        for entry in keyring { note(KeySummary(entry)) }
    }

    private mutating func note(_ key: KeySummary) {
        entries[key.id] = key
        places.insert(Place(epoch: key.epoch, protection: key.protection))
    }

    /// - Throws: `VaultError` `.epochClash`.
    mutating func take(_ entry: KeyringEntry) throws(VaultError) -> Decision {
        let key = KeySummary(entry)
        guard entry.state != .destroyed else {
            guard let known = entries[key.id], known.state != .destroyed else { return .nothingToTake }
            return .destroyedThere(known)
        }
        if let known = entries[key.id] {
            guard known.epoch == key.epoch else { throw .epochClash(path, epoch: key.epoch) }
            return known.state == .destroyed ? .destroyedHere : .known
        }
        guard !places.contains(Place(epoch: key.epoch, protection: key.protection)) else {
            throw .epochClash(path, epoch: key.epoch)
        }
        note(key)
        return .unknown
    }
}

extension VaultDraft {
    /// What a completed rotation has ended elsewhere does not come back with its key. What is sealed here now stays
    /// readable: no epoch from the active one on is refused, and nothing more while a rotation is under way here, whose
    /// blobs are still of the epochs before.
    fileprivate mutating func retire(before minimumEpoch: UInt32) {
        guard body.state.rotation != .resealing, let active = activeEntry(.afterFirstUnlock) else { return }
        body.state.minimumEpoch = max(body.state.minimumEpoch, min(minimumEpoch, active.epoch))
    }

    /// The active key has the highest epoch: of two blobs with one sequence the later epoch is ahead. So it gets the
    /// highest epoch again, as in a rotation. It does too where its epoch has a key of the other class now that came in to
    /// open only: the class needs one that seals, and has no room for it in that epoch.
    ///
    /// - Returns: The new active epoch; nil where the old one is still the highest.
    fileprivate mutating func leadAgain(before added: [KeySummary]) throws(VaultError) -> UInt32? {
        guard let highest = added.map(\.epoch).max(), let active = activeEntry(.afterFirstUnlock),
            active.epoch < highest || isTaken(active.epoch, .whenUnlocked)
        else { return nil }
        return try beginNextEpoch()
    }
}
