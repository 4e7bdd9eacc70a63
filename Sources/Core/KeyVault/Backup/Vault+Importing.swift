public import AppGroups
internal import Glibc
public import SharedFiles
internal import SystemPackage

extension Vault {
    /// Imports a backup.
    ///
    /// Without an existing vault, a vault is created with the backup's keys, in their epochs, and its items. Blobs
    /// under the backup's keys do not prevent it; other blobs do, as for any new vault. After a backup of everything,
    /// sealing continues in a new epoch and a rotation begins; otherwise the keys keep their states.
    ///
    /// An existing vault gets the whole backup in one change, or nothing. Keys that it does not know become
    /// opening-only; keys that were destroyed there stay destroyed; items that it already has stay and are reported,
    /// unless they are to be replaced.
    ///
    /// An author of the file who knows its passphrase or a recipient decides its contents: import only backups of known
    /// origin. A recipient slot proves nothing about the author.
    /// - Parameters:
    ///   - path: The backup.
    ///   - backup: The credential of the backup: a passphrase or an identity.
    ///   - accessGroup: The group that was backed up.
    ///   - home: The home of the group's files.
    ///   - credential: The credential of the existing vault.
    ///   - slots: The slots of a new vault, not needed for an existing one; by default the slot of `credential`.
    ///   - importing: The contents to take, and the treatment of existing contents.
    ///   - team: The team key, which certifies the person key of a new vault; needed if a team key is known.
    ///   - options: The options of the vault.
    /// - Throws: `VaultError`: `.notAnExport`, `.corrupt`, `.unsupported`, `.wrongGroup` and a wrong credential's code
    ///   for the backup; `.invalidArgument` if its contents need a person and no slot of a new vault reaches them;
    ///   `.epochClash` for a backup of another vault; `.locked` if the compartment that it belongs to is locked;
    ///   `.orphanedBlobs`, `.tooLarge`; those of opening, creating and changing a vault. Nothing was imported then.
    ///   With `.durabilityUnknown` everything was, but may not survive a power loss.
    public static func `import`(
        from path: String, opening backup: VaultCredential, _ accessGroup: AccessGroup, in home: GroupsHome,
        with credential: VaultCredential = .automatic, slots: [NewSlot] = [],
        importing: ImportOptions = ImportOptions(), certifiedBy team: TeamKey? = nil,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> ImportReport {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        let backup = try Backup.open(path, with: backup, for: place, taking: importing.contents)
        if !importing.setsVaultAside, let vault = try openUnlessGone(place, with: credential, options) {
            return try vault.merge(backup, replacingItems: importing.replacesItems)
        }
        let slots = slots.isEmpty ? [try NewSlot(for: credential, place)] : slots
        guard !backup.holdsWhenUnlocked || slots.contains(where: \.reachesWhenUnlocked) else {
            throw VaultError(
                .invalidArgument, "import a backup into", place.path,
                "It contains items or keys that need a person, and no slot of the new vault would reach them.",
                advice: "Add a passphrase or a recipient.")
        }
        let restoring = BackupRestoring(backup: backup, place: place, home: home, options: options)
        return try restoring.run(
            VaultPlan(slots: slots.map { $0.owned(by: credential) }, sharing: importing.sharing, certifier: team),
            importing)
    }

    /// Opens the existing vault; returns `nil` if it is missing, even if this user's programs remember it, because the
    /// backup restores it.
    private static func openUnlessGone(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Vault? {
        do throws(VaultError) { return try openIfPresent(place, with: credential, options) } catch {
            guard let directory = try place.openDirectory() else { return nil }
            for leaf in VaultPlace.leaves {
                let isThere = try VaultError.onFiles("open the vault") { () throws(FileError) in
                    try directory.exists(leaf)
                }
                if isThere { throw error }
            }
            return nil
        }
    }

    private func merge(_ backup: Backup, replacingItems: Bool) throws(VaultError) -> ImportReport {
        let merge = BackupMerge(backup: backup, replacesItems: replacingItems, directory: directory)
        let isReachable = try keys.reachesPerson()
        let needsPerson = backup.holdsWhenUnlocked || isReachable
        let (report, kept) = try change(.imported, needsPerson: needsPerson) { draft throws(VaultError) in
            try merge.merge(into: &draft)
        }
        // The import is complete: after a failure the next change removes the files of replaced values.
        try? sweep(kept)
        return report
    }
}

extension VaultPlace {
    /// A file with the name of one of the vault's files exists, also a link to nothing: a vault without its `vault`
    /// file still has the keys of *when unlocked*.
    package var holdsAnyFile: Bool {
        Self.leaves.contains { leaf in
            var status = stat()
            return lstat(directoryPath.appending(leaf).string, &status) == 0
        }
    }
}

/// The making of a vault from a backup.
struct BackupRestoring {
    let backup: Backup
    let place: VaultPlace
    let home: GroupsHome
    let options: VaultOptions

    func run(_ plan: VaultPlan, _ importing: ImportOptions) throws(VaultError) -> ImportReport {
        var plan = plan
        plan.backup = backup
        let creation = VaultCreation(place: place, home: home, plan: plan, options: options)
        var room = VaultAbandonment(in: place)
        let epoch: UInt32
        if importing.setsVaultAside {
            epoch = try room.naming { room throws(VaultError) in
                try creation.run(noting: .imported) { directory, orphanCheck throws(VaultError) in
                    try VaultAbandonment.whileWritersWait(in: orphanCheck.container, options.lockTimeout) {
                        () throws(VaultError) in
                        // Report obstacles to the new vault before anything changes.
                        try orphanCheck.check(knowing: backup.liveKeyIDs)
                        try room.setAside(in: directory)
                    }
                }
            }
        } else {
            epoch = try creation.run(noting: .imported)
        }
        var report = ImportReport()
        report.isNewVault = true
        if backup.continuesVault, !backup.keyring.isEmpty { report.rotationEpoch = epoch }
        report.setAside = room.files
        report.itemsAdded = backup.items.map(VaultItem.init)
        report.keysAdded = backup.keyring.filter { $0.state != .destroyed }.map(KeySummary.init)
        return report
    }
}

extension NewSlot {
    /// `true` if it opens contents that need a person.
    var reachesWhenUnlocked: Bool {
        switch self {
        case .passphrase, .recipient(_, unattended: false), .identity(_, unattended: false): true
        case .keyFile, .defaultKeyFile, .systemdCredential, .recipient, .identity: false
        }
    }
}

/// The options of an import.
public struct ImportOptions: Sendable, Hashable {
    /// The contents to take.
    public var contents: BackupContents
    /// `true` to replace items of the same service and account by the backup's.
    public var replacesItems: Bool
    /// `true` to set an existing vault, in any state, aside instead of adding to it. Its file stays beside the new one
    /// under the name `vault.abandoned-` and the time.
    public var setsVaultAside: Bool
    /// The sharing of a new vault. A vault that replaces another keeps that one's sharing.
    public var sharing: Sharing

    /// Creates the options; by default everything is added to the existing vault and nothing is replaced.
    public init(
        contents: BackupContents = .everything, replacesItems: Bool = false, setsVaultAside: Bool = false,
        sharing: Sharing = .ownerOnly
    ) {
        self.contents = contents
        self.replacesItems = replacesItems
        self.setsVaultAside = setsVaultAside
        self.sharing = sharing
    }
}

/// The imported contents of a backup, and the contents that did not change.
public struct ImportReport: Sendable, Hashable {
    /// `true` if a vault was created.
    public internal(set) var isNewVault = false
    /// The files of an existing vault that was set aside, with its access log.
    public internal(set) var setAside: [SetAsideFile] = []
    /// Items that the vault did not have.
    public internal(set) var itemsAdded: [VaultItem] = []
    /// Items whose former value was replaced; only if replacing was requested.
    public internal(set) var itemsReplaced: [VaultItem] = []
    /// The backup's items that were omitted because the vault has items of the same service and account.
    public internal(set) var itemsLeft: [VaultItem] = []
    /// The epoch in which sealing continues, if a rotation to it has begun; otherwise `nil`.
    ///
    /// A rotation begins if a key of a later epoch than the active one was imported, because readers refuse a write of
    /// an earlier epoch as a replay. It also begins if a vault was restored from a backup of everything, because former
    /// members may know the backup's active key.
    public internal(set) var rotationEpoch: UInt32?
    /// Sealing keys that were imported.
    package internal(set) var keysAdded: [KeySummary] = []
    /// Sealing keys that the vault already had, unchanged.
    package internal(set) var keysKnown: [KeySummary] = []
    /// Sealing keys that the backup has but that were destroyed here, and stay destroyed.
    package internal(set) var keysStillDestroyed: [KeySummary] = []
    /// Sealing keys that were destroyed in the backup and still exist here, unchanged.
    package internal(set) var keysDestroyedThere: [KeySummary] = []

    /// The number of imported sealing keys.
    public var keyCount: Int { keysAdded.count }
}
