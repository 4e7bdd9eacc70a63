public import AppGroups
public import SharedFiles

extension Vault {
    /// Gives up a vault that can no longer be opened and creates an empty one.
    ///
    /// The new vault is created first, except for its name, so that an obstacle is reported before anything changes.
    /// Then, under the vault's lock and while no program is writing a record, the steps in this order are: The old
    /// vault's file, in any state, is renamed to `vault.abandoned-` and the time, and so is its access log. Every
    /// sealed file of the group is moved to a folder `abandoned-` and the time in the container's quarantine, under its
    /// former path. The new vault gets its name, with a first key in a higher epoch than any of those files states.
    /// Nothing is deleted or overwritten.
    ///
    /// If the process is killed in between, every file is whole and there is no vault. Programs then get `.absent` or
    /// `.orphanedBlobs`, and create no key while one of the sealed files is still in its place. Abandoning again
    /// continues from there; renaming the files back undoes it.
    /// - Parameters:
    ///   - accessGroup: The group of the vault.
    ///   - home: The home of the group's files.
    ///   - slots: The slots of the new vault, at least one.
    ///   - sharing: The sharing of a vault directory that has to be created; an existing directory stays as it is.
    ///   - team: The team key, which certifies the person key of a vault with a person's slot; needed if a team key is
    ///     known.
    ///   - options: The options of the vault.
    /// - Throws: `VaultError` `.durabilityUnknown` if the new vault is in place but may not survive a power loss;
    ///   `.otherFileSystem` if sealed files are on another mounted file system, and nothing was moved; `.orphanedBlobs`
    ///   while another program continues to seal streams under the old key; `.lockTimeout` while a program keeps a
    ///   record locked; those of creating a vault. The error names the files moved so far.
    public static func abandon(
        _ accessGroup: AccessGroup, in home: GroupsHome, slots: [NewSlot], sharing: Sharing = .ownerOnly,
        certifiedBy team: TeamKey? = nil, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> AbandonReport {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        let plan = VaultPlan(slots: slots, sharing: sharing, certifier: team)
        var room = VaultAbandonment(in: place)
        let epoch = try room.naming { room throws(VaultError) in
            try VaultCreation(place: place, home: home, plan: plan, options: options)
                .run(noting: .abandoned) { directory, orphanCheck throws(VaultError) in
                    try VaultAbandonment.whileWritersWait(in: orphanCheck.container, options.lockTimeout) {
                        () throws(VaultError) in
                        try VaultAbandonment.prepareQuarantine(in: orphanCheck.container)
                        try VaultAbandonment.requireReach(of: orphanCheck.orphans(), in: orphanCheck.container)
                        // Move the vault first: from then on no program gets its key for another write.
                        try room.setAside(in: directory)
                        try room.quarantineBlobs(orphanCheck)
                    }
                }
        }
        return AbandonReport(setAside: room.files, quarantined: room.blobs, epoch: epoch)
    }
}

/// The result of abandoning a vault: the new paths of the old files, and the new epoch.
public struct AbandonReport: Sendable, Hashable {
    /// The old vault's file and its access log, if they existed.
    public let setAside: [SetAsideFile]
    /// The group's sealed files, now in the container's quarantine.
    public let quarantined: [SetAsideFile]
    /// The epoch of the new vault's first key, higher than any that the old files state.
    public let epoch: UInt32
}

/// A file that was renamed and is otherwise unchanged.
public struct SetAsideFile: Sendable, Hashable {
    /// Its former path.
    public let from: String
    /// Its path now.
    public let to: String
}
