public import AppGroups
public import SharedFiles

extension Vault {
    /// Gives up what can no longer be opened, and starts anew with an empty vault.
    ///
    /// The new vault is made first, but for its name, so that what keeps it from being made is told while everything is as
    /// it was. Then, under the vault's lock, while no program is writing a record, in this order: the old vault's file, in whatever state, is renamed to `vault.abandoned-`
    /// and the time; its access log too; every sealed file of the group is moved to a folder `abandoned-` and the time in
    /// the container's quarantine, under the path that it had; the new vault gets its name, its first key in a higher epoch
    /// than any of those files claims. Nothing is deleted or overwritten.
    ///
    /// Whoever is killed on the way leaves every file whole, and no vault: programs are told `.absent` or `.orphanedBlobs`
    /// then, and make no key while one of the sealed files is still in its place. Abandoning again goes on from there;
    /// giving the files their old names back undoes it.
    /// - Parameters:
    ///   - slots: What will open the new vault: one at least.
    ///   - sharing: Who shares a vault directory that has to be made; one that is there stays as it is.
    ///   - team: The team key, which certifies the person key of a vault with a person's slot; needed where one is known.
    /// - Throws: `VaultError` `.durabilityUnknown` where the new vault is in place, and may not outlive a power loss;
    ///   `.otherFileSystem` where sealed files lie on a mounted one, and nothing was moved; `.orphanedBlobs` while another program keeps sealing streams under the old key;
    ///   `.lockTimeout` while one keeps a record locked; those of making a vault. What was moved by then is told.
    public static func abandon(
        _ accessGroup: AccessGroup, in home: GroupsHome, slots: [NewSlot], sharing: Sharing = .ownerOnly,
        certifiedBy team: TeamKey? = nil, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> AbandonReport {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        let plan = VaultPlan(slots: slots, sharing: sharing, certifier: team)
        var room = MakingRoom(in: place)
        let epoch = try room.naming { room throws(VaultError) in
            try VaultCreation(place: place, home: home, plan: plan, options: options)
                .run(noting: .abandoned) { directory, birthGuard throws(VaultError) in
                    try MakingRoom.whileWritersWait(in: birthGuard.container, options.lockTimeout) {
                        () throws(VaultError) in
                        try MakingRoom.prepareQuarantine(in: birthGuard.container)
                        try MakingRoom.requireReach(of: birthGuard.orphans(), in: birthGuard.container)
                        // The vault first: from then on no program gets its key for another write.
                        try room.setAside(in: directory)
                        try room.quarantineBlobs(birthGuard)
                    }
                }
        }
        return AbandonReport(setAside: room.files, quarantined: room.blobs, epoch: epoch)
    }
}

/// What was given up, where it lies now, and what took its place.
public struct AbandonReport: Sendable, Hashable {
    /// The old vault's file and its access log, as far as there were any.
    public let setAside: [SetAsideFile]
    /// The group's sealed files, now in the container's quarantine.
    public let quarantined: [SetAsideFile]
    /// The epoch of the new vault's first key; higher than any that the old files claim.
    public let epoch: UInt32
}

/// A file that was given another name, and is otherwise as it was.
public struct SetAsideFile: Sendable, Hashable {
    /// Its former path.
    public let from: String
    /// Its path now.
    public let to: String
}
