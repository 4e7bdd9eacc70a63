public import AppGroups
internal import Glibc
public import SharedFiles
internal import SystemPackage

extension Vault {
    /// Brings a backup in.
    ///
    /// Where there is no vault, one is made with the backup's keys, in their epochs, and its items. Blobs whose keys
    /// the backup holds do not stand in its way; others do, as for any new vault. Of a backup of everything, sealing
    /// goes on in a new epoch and a rotation begins; otherwise the keys keep their states.
    ///
    /// Where there is a vault, the backup is added to it in one change, or not at all. Keys that it does not know come in
    /// to open only; keys that were destroyed there stay destroyed; items that it has stay and are named, unless they are
    /// to be replaced.
    ///
    /// Whoever could write the file and knows its passphrase or a recipient decides what comes in: import only backups
    /// whose origin is known. A recipient slot proves nothing about who made it.
    /// - Parameters:
    ///   - path: The backup.
    ///   - backup: What opens it: a passphrase or an identity.
    ///   - accessGroup: The group that it was made from.
    ///   - credential: What opens the vault that is there.
    ///   - slots: What will open a vault that is made, and is not needed before; without any, what `credential` stands
    ///     for.
    ///   - importing: What is taken, and what happens to what is there.
    ///   - team: The team key, which certifies the person key of a vault that is made; needed where one is known.
    /// - Throws: `VaultError`: `.notAnExport`, `.corrupt`, `.unsupported`, `.wrongGroup` and a wrong credential's code for
    ///   the backup; `.invalidArgument` where it holds what needs a person and no slot of a new vault reaches that;
    ///   `.epochClash` for a backup of another vault; `.locked` where the vault's part that it belongs to is locked;
    ///   `.orphanedBlobs`, `.tooLarge`; those of opening, making and changing a vault. Nothing was brought in then;
    ///   with `.durabilityUnknown` all of it was, and a power loss may take it away.
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
                .invalidArgument, "bring a backup into", place.path,
                "It holds items or keys that need a person, and nothing that would open the vault reaches those.",
                advice: "Add a passphrase or a recipient.")
        }
        let restoring = BackupRestoring(backup: backup, place: place, home: home, options: options)
        return try restoring.run(
            VaultPlan(slots: slots.map { $0.owned(by: credential) }, sharing: importing.sharing, certifier: team),
            importing)
    }

    /// The vault that is there; nil where none is, whatever this user's programs remember of one: a backup brings it back.
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
        // The backup is in: a failure leaves the files of replaced values to the next change.
        try? sweep(kept)
        return report
    }
}

extension VaultPlace {
    /// Whether anything has the name of one of the vault's files, also a link to nothing: a vault without its `vault` still has
    /// what is *when unlocked*.
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
        var room = MakingRoom(in: place)
        let epoch: UInt32
        if importing.setsVaultAside {
            epoch = try room.naming { room throws(VaultError) in
                try creation.run(noting: .imported) { directory, birthGuard throws(VaultError) in
                    try MakingRoom.whileWritersWait(in: birthGuard.container, options.lockTimeout) {
                        () throws(VaultError) in
                        // What stands in the way of the new vault is told while everything is as it was.
                        try birthGuard.check(knowing: backup.liveKeyIDs)
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
    /// Whether it gives what needs a person.
    var reachesWhenUnlocked: Bool {
        switch self {
        case .passphrase, .recipient(_, unattended: false), .identity(_, unattended: false): true
        case .keyFile, .defaultKeyFile, .systemdCredential, .recipient, .identity: false
        }
    }
}

/// How a backup is brought in.
public struct ImportOptions: Sendable, Hashable {
    /// What is taken from it.
    public var contents: BackupContents
    /// Whether the backup's items replace those of the same service and account.
    public var replacesItems: Bool
    /// Whether a vault that is there, in whatever state, is set aside first instead of being added to. Its file stays
    /// beside the new one under the name `vault.abandoned-` and the time.
    public var setsVaultAside: Bool
    /// Who shares a vault that is made. One that takes another's place is shared as that one was.
    public var sharing: Sharing

    /// The defaults: everything, added to what is there, replacing nothing.
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

/// What came out of a backup, and what stayed as it was.
public struct ImportReport: Sendable, Hashable {
    /// Whether a vault was made for it.
    public internal(set) var isNewVault = false
    /// Where a vault that was there was set aside to, with its access log.
    public internal(set) var setAside: [SetAsideFile] = []
    /// Items that the vault did not have.
    public internal(set) var itemsAdded: [VaultItem] = []
    /// Items whose former value is gone; only where replacing was asked for.
    public internal(set) var itemsReplaced: [VaultItem] = []
    /// The backup's items that were left out, because the vault has one of the same service and account.
    public internal(set) var itemsLeft: [VaultItem] = []
    /// The epoch that sealing goes on with, where a rotation to it has begun; nil where none has.
    ///
    /// It begins where a key of a later epoch than the active one came in, because readers refuse a write of an earlier
    /// epoch as a replay; and where a vault was restored from a backup of everything, because former members may know the
    /// key that was active in the backup.
    public internal(set) var rotationEpoch: UInt32?
    /// Sealing keys that came in.
    package internal(set) var keysAdded: [KeySummary] = []
    /// Sealing keys that the vault had already, left as they are.
    package internal(set) var keysKnown: [KeySummary] = []
    /// Sealing keys that were destroyed here, and stay so, though the backup has them.
    package internal(set) var keysStillDestroyed: [KeySummary] = []
    /// Sealing keys that were destroyed where the backup was made, and are still here: as they are in the vault.
    package internal(set) var keysDestroyedThere: [KeySummary] = []

    /// How many sealing keys came in.
    public var keyCount: Int { keysAdded.count }
}
