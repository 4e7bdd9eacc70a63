internal import Sealing
internal import SharedFiles

/// Adds a backup to an existing vault. The vault's own entries win, and nothing is renumbered: a blob's header names
/// its epoch, which must be the vault's epoch of the blob's key.
struct BackupMerge {
    let backup: Backup
    let replacesItems: Bool
    let directory: Directory

    /// - Returns: The report, and the items of each changed compartment, whose value files stay.
    /// - Throws: `VaultError` `.epochClash`, `.locked`, `.tooLarge`, `.corrupt`; the draft is then unusable.
    func merge(
        into draft: inout VaultDraft
    ) throws(VaultError) -> (ImportReport, kept: [(CompartmentRole, [ItemEntry])]) {
        if let failure = draft.serviceFailure { throw failure }
        var report = ImportReport()
        for protection in ProtectionClass.allCases { try addKeys(of: protection, to: &draft, &report) }
        let kept = try addItems(to: &draft, &report)
        draft.service.tokenKeys += try backup.carriedTokenKeys(to: draft, knowing: draft.service.tokenKeys)
        backup.listNames(in: &draft)
        return (report, kept)
    }

    private func addKeys(
        of protection: ProtectionClass, to draft: inout VaultDraft, _ report: inout ImportReport
    ) throws(VaultError) {
        let entries = backup.keyring.filter { $0.protection == protection }
        guard !entries.isEmpty else { return }
        var compartment = try draft.compartment(protection)
        var plan = KeyringMerge(compartment.keyring, path: draft.place.path)
        var added: [KeySummary] = []
        for entry in entries {
            switch try plan.take(entry) {
            case .unknown:
                try requireRoom(for: entry, in: compartment, draft.place)
                compartment.keyring.append(try backup.carried(entry, to: compartment, draft, as: .decryptOnly))
                added.append(KeySummary(entry))
            case .known: report.keysKnown.append(KeySummary(entry))
            case .destroyedHere: report.keysStillDestroyed.append(KeySummary(entry))
            case .destroyedThere(let key): report.keysDestroyedThere.append(key)
            case .nothingToTake: break
            }
        }
        guard compartment.keyring.count <= KeyringEntry.maximumCount else {
            throw VaultError(
                .tooLarge, "import a backup into", draft.place.path, "It would have more keys than a keyring can hold.")
        }
        compartment.keyring.sort { $0.epoch < $1.epoch }
        let path = draft.place.path(of: compartment.role)
        let active = compartment.keyring.active(protection)?.epoch
        var next: UInt32?
        // The active key has the highest epoch: of two blobs with one sequence, the later epoch counts as newer.
        if let highest = added.map(\.epoch).max(), active.map({ $0 < highest }) ?? true {
            next = try compartment.beginEpoch(protection, vaultID: draft.vaultID, at: draft.now, path: path)
        }
        // Before the rotation changes, because it is part of the compartment.
        draft.set(compartment)
        retire(protection, before: active, in: &draft)
        if next != nil { draft.beginResealing(protection) }
        if protection == .afterFirstUnlock { report.rotationEpoch = next }
        report.keysAdded += added
    }

    /// Requires an epoch within the vault's period, which its reader checks. The active key's epoch must be later
    /// still.
    private func requireRoom(
        for entry: KeyringEntry, in compartment: CompartmentDraft, _ place: VaultPlace
    ) throws(VaultError) {
        guard entry.epoch >= KeyringEntry.maximumEpoch(period: compartment.period) else { return }
        let isNext = KeyringEntry.period(ofEpoch: entry.epoch) == compartment.period + 1
        throw VaultError(
            .tooLarge, "import a backup into", place.path(of: compartment.role),
            "The backup has a key of epoch \(entry.epoch), and in period \(compartment.period) epochs end at "
                + "\(KeyringEntry.maximumEpoch(period: compartment.period)).",
            advice: (isNext ? "Begin the next period first (sealctl vault rekey), import" : "Import")
                + " only the backup's items (--items-only), or replace the vault by the backup (--set-vault-aside).")
    }

    /// Keeps refusing epochs that a completed rotation elsewhere has ended, although their keys are imported. Blobs
    /// sealed here now stay readable: the active epoch and later ones are not refused, and a rotation under way here
    /// changes nothing.
    private func retire(_ protection: ProtectionClass, before active: UInt32?, in draft: inout VaultDraft) {
        let there = protection == .whenUnlocked ? backup.register?.person?.rotation : backup.rotation
        guard draft.rotation(of: protection).stage != .resealing, let active, let there else { return }
        draft.changeRotation(of: protection) {
            $0.minimumEpoch = max($0.minimumEpoch, min(there.minimumEpoch, active))
        }
    }

    private func addItems(
        to draft: inout VaultDraft, _ report: inout ImportReport
    ) throws(VaultError) -> [(CompartmentRole, [ItemEntry])] {
        var edit = ItemEdit(draft, directory: directory)
        for entry in backup.items {
            let name = try ItemName(entry, path: draft.place.path)
            let isThere = try edit.holds(name)
            let isLowering = entry.accessibility.protection == .afterFirstUnlock && edit.isListed(name)
            if isLowering || (isThere && !replacesItems) {
                report.itemsLeft.append(VaultItem(entry))
                continue
            }
            let target = try edit.draft.compartment(entry.accessibility.protection)
            try edit.put(try backup.carried(entry, to: target, edit.draft), name)
            if isThere {
                report.itemsReplaced.append(VaultItem(entry))
            } else {
                report.itemsAdded.append(VaultItem(entry))
            }
        }
        try edit.writeFiles()
        draft = edit.draft
        return edit.sweeps()
    }
}

/// Decides for each key of one keyring what another keyring takes.
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
        /// The key as the vault has it.
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
