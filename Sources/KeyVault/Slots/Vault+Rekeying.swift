internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// The options of a rekey.
public struct RekeyOptions: Sendable, Hashable {
    /// The slots to remove.
    public var removing: Set<UInt32>
    /// Slots to keep though no person vouched for them.
    public var keeping: Set<UInt32>
    /// Whether persons get a new root and a new person key although none of them is removed.
    public var renewsPersons: Bool
    /// The slots that a person was shown before; nil for whichever there are.
    public var confirmed: Set<UInt32>?
    /// Whether a service compartment that is beyond repair is given up: keys and items of *after first unlock* that no
    /// backup holds are lost.
    public var rebuildsServices = false

    /// - Parameters:
    ///   - removing: The slots to remove; none renews the roots only.
    ///   - keeping: Slots to keep though no person vouched for them.
    ///   - renewsPersons: Whether persons get a new root and a new person key although none of them is removed.
    ///   - confirmed: The slots that a person was shown before: one that came since is carried on by no rekey.
    public init(
        removing: Set<UInt32> = [], keeping: Set<UInt32> = [], renewsPersons: Bool = false,
        confirmed: Set<UInt32>? = nil
    ) {
        self.removing = removing
        self.keeping = keeping
        self.renewsPersons = renewsPersons
        self.confirmed = confirmed
    }
}

/// The result of a rekey.
public struct RekeyReport: Sendable, Hashable {
    /// The period that has begun.
    public let period: UInt32
    /// The slots that were removed.
    public let removed: [SlotSummary]
    /// The slots that stay.
    public let kept: [SlotSummary]
    /// What of the service compartment was not carried on.
    public let losses: RekeyLosses
    /// The directories of the vault and the group's container that others than their owner can write. A former member among
    /// them can plant records of an old epoch until the rotation is completed, and hold up programs.
    public let writableDirectories: [WritableDirectory]
}

/// A directory that the members of a unix group can write.
public struct WritableDirectory: Sendable, Hashable {
    /// Its path.
    public let path: String
    /// The unix group's number.
    public let groupID: UInt32
    /// The unix group's name; nil for one that the group database does not know.
    public let groupName: String?
    /// The members that the group database lists. Users whose primary group it is are not among them.
    public let members: [String]

    /// - Returns: Nil for a directory that only its owner can write.
    init?(_ directory: Directory) {
        guard let facts = try? directory.attributes("."), facts.mode & 0o020 != 0 else { return nil }
        path = directory.display(".")
        groupID = facts.gid
        let found = Sharing.members(ofGroup: facts.gid)
        groupName = found?.name
        members = found?.members ?? []
    }
}

/// What a rekey left out of the service compartment: what it could not open, or had no room for.
public struct RekeyLosses: Sendable, Hashable {
    /// A sealing key.
    public struct Key: Sendable, Hashable {
        /// 32 hexadecimal digits.
        public let id: String
        /// Its epoch.
        public let epoch: UInt32
    }

    /// Sealing keys, by epoch. What only they open is lost unless a backup holds them.
    public internal(set) var keys: [Key] = []
    /// The number of token keys: digests that were made with them no longer fit.
    public internal(set) var tokenKeyCount = 0
    /// Whether the index of items was given up, with all items of *after first unlock*.
    public internal(set) var isItemIndexLost = false
    /// Whether the whole compartment was given up, with all keys and items of *after first unlock*.
    public internal(set) var isCompartmentLost = false
    /// The file of the compartment that was given up and the directory of its values, as far as they were there.
    public internal(set) var setAside: [SetAsideFile] = []

    /// Whether everything was carried on.
    public var isEmpty: Bool { self == RekeyLosses() }
}

/// Rekey: new roots, so that former members lose access to everything written afterwards (`docs/vault.md`, section 11).
extension Vault {
    /// Begins a new period: replaces the roots, reseals every slot that stays to its holder's public key, wraps all keys
    /// again, and begins a rotation.
    ///
    /// Removing a service renews the service root only; removing a person renews both. A former member who can still write
    /// the container can plant blobs of the old epochs until the rotation is completed (`SealedStore.rotate`): only then
    /// is the member removed for good.
    ///
    /// What a service has put into its compartment never keeps persons from a rekey: what does not open there, or finds no
    /// room, is left out and named. A compartment that does not open as a whole needs `RekeyOptions.rebuildsServices`.
    /// - Parameter team: The team key, where one is known and persons get a new person key. A rekey that keeps theirs does
    ///   not need it.
    /// - Returns: The slots that were removed and that stay. The call is complete: all files are written.
    /// - Throws: `VaultError` `.teamKeyNeeded` or `.wrongTeamKey` before anything is changed; `.slotNotFound`; `.lastSlot`;
    ///   `.unvouchedSlots` where slots that no person vouched for would stay and are not named; `.locked` in a vault with
    ///   persons that is locked; `.invalidArgument` where a service compartment that opens would be given up; those of
    ///   every change.
    @discardableResult
    public func rekey(
        _ rekeying: RekeyOptions = RekeyOptions(), certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> RekeyReport {
        // Once: a look at the files shows a rekey that another program left.
        try reload()
        var obstacle: VaultError?
        do throws(VaultError) { try completeRekey() } catch {
            guard rekeying.rebuildsServices else { throw error }
            obstacle = error
        }
        let lock = try lockForChange()
        let contents = try freshContents()
        publish(contents)
        guard contents.register?.nextRoot == nil || rekeying.rebuildsServices else {
            throw VaultError(
                .lockTimeout, "rekey", path, "Another rekey was begun and is not completed.",
                advice: "Unlock the vault and try again.")
        }
        var draft = try rekeyDraft(of: contents)
        draft.certifier = team
        if rekeying.rebuildsServices { try draft.rebuildServices(after: obstacle) }
        if let failure = draft.serviceFailure { throw failure.advisingRebuild }
        for id in rekeying.removing { try requireSlot(id, in: draft.register) }
        let summaries = contents.slotSummaries
        guard rekeying.confirmed?.isSuperset(of: summaries.map(\.id)) ?? true else {
            throw VaultError(
                .lockTimeout, "rekey", path, "A slot was added since its slots were confirmed.", advice: "Try again.")
        }
        let plan = try RekeyPlan(draft, rekeying)
        do throws(VaultError) { try plan.begin(&draft) } catch {
            throw error.code == .corrupt && draft.hasPersons ? error.advisingRebuild : error
        }
        let needed = draft.rekeySize
        try VaultError.onFiles("rekey") { () throws(FileError) in try directory.requireSpace(needed, "rekey") }
        do throws(VaultError) {
            if draft.hasPersons {
                try write(
                    &draft, after: contents, under: lock, [.person], .rekeyed, nil, isForced: true, publishing: false)
                try? keys.shareAgain(person: draft.person?.root)
                if draft.isRebuilt { draft.service.losses.setAside = try setServiceAside() }
                try plan.finish(
                    &draft,
                    write: { draft, role throws(VaultError) in
                        try self.write(
                            &draft, after: contents, under: lock, [role], .rekeyed, nil, isForced: true,
                            publishing: role == .person)
                    })
            } else {
                try write(&draft, after: contents, under: lock, [.service], .rekeyed, nil, isForced: true)
            }
        } catch {
            if error.code != .durabilityUnknown { note(.rekeyed, outcome: error.code.outcome) }
            throw error
        }
        try? keys.shareAgain(person: draft.person?.root)
        return RekeyReport(
            period: draft.register.period, removed: summaries.filter { rekeying.removing.contains($0.id) },
            kept: heldContents.slotSummaries, losses: draft.service.losses, writableDirectories: writableDirectories)
    }

    private var writableDirectories: [WritableDirectory] {
        let container = (try? KeyBirthGuard(accessGroup, in: place.home))?.container?.root
        return [directory, container].compactMap { $0.flatMap(WritableDirectory.init) }
    }

    /// Renames the file of a service compartment that is given up, and the directory of its values: nothing is destroyed because it could not be read.
    private func setServiceAside() throws(VaultError) -> [SetAsideFile] {
        var room = MakingRoom(in: place)
        try room.setAsideService(in: directory)
        return room.files
    }

    /// Removes a slot, and with a rekey what its holder knows.
    ///
    /// - Throws: As `rekey(_:)`.
    @discardableResult
    public func removeSlot(
        id: UInt32, keeping: Set<UInt32> = [], certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> RekeyReport {
        try rekey(RekeyOptions(removing: [id], keeping: keeping), certifiedBy: team)
    }

    private func rekeyDraft(of contents: VaultContents) throws(VaultError) -> VaultDraft {
        let root = keys.service
        guard contents.register?.person != nil else {
            return try VaultDraft(contents, root: root, person: nil, slotID: keys.slotID, place: place)
        }
        return try keys.withPerson { person throws(VaultError) in
            let opened = try contents.person(person, place: place)
            return try VaultDraft(contents, root: root, person: (person, opened), slotID: keys.slotID, place: place)
        }
    }

    /// Completes a rekey that another program has begun and not finished. A person's opening does it.
    func completeRekey() throws(VaultError) {
        guard heldContents.register?.nextRoot != nil, try keys.reachesPerson() else { return }
        let lock = try lockForChange()
        let contents = try freshContents()
        publish(contents)
        guard let register = contents.register, let next = register.nextRoot else { return }
        var draft = try rekeyDraft(of: contents)
        if let failure = draft.serviceFailure { throw failure.advisingRebuild }
        guard let person = draft.person, let opened = person.old else {
            throw .corrupt(place.path(of: .person), "It has no next root.")
        }
        let root = try opened.serviceRoot(1, root: person.root)
        guard root.commitment == next else { throw .corrupt(place.path(of: .person), "It has another next root.") }
        let plan = RekeyPlan(completing: draft)
        let seen = watermarks
        let isSecondWritten = try contents.service.head.period == register.period
        if !isSecondWritten {
            try plan.renewService(&draft, root: root)
            // Another completion may have written this file, and somebody may have put the old one back: what its readers
            // have seen must not look like another write of the same number.
            draft.goBeyond(seen)
            draft.service.generation += UInt64.random(in: 0..<(1 << 20))
        }
        try plan.finish(
            &draft, isSecondWritten: isSecondWritten,
            write: { draft, role throws(VaultError) in
                try self.write(
                    &draft, after: contents, under: lock, [role], .rekeyed, nil, isForced: true,
                    publishing: role == .person)
            })
    }
}

extension VaultError {
    /// The same, with what persons can do about a service compartment that stays damaged.
    fileprivate var advisingRebuild: VaultError {
        VaultError(
            code, operation, subject, reason,
            advice: "Restore the file from a copy; to give up its keys and items instead, "
                + "sealctl vault rekey --without-vault.",
            underlying: underlying)
    }
}

extension VaultError.Code {
    /// Slots that no person vouched for would be carried on by a rekey.
    public static let unvouchedSlots = VaultError.Code(rawValue: "unvouchedSlots")
}

extension AccessEvent {
    /// A rekey began a new period.
    public static let rekeyed = AccessEvent(rawValue: 35)
    /// A holder's slot was written in its own form after a rekey.
    public static let slotRenewed = AccessEvent(rawValue: 36)
}
