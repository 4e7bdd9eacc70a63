public import AppGroups
internal import CryptoPrimitives
internal import Sealing
public import SharedFiles

extension Vault {
    /// Opens the vault, or creates it with its first key if it does not exist.
    ///
    /// The first key is created once, under the vault's lock. It is not created if a vault exists that cannot be
    /// opened, if this user's programs have opened another one, or if the group's container has blobs of this group
    /// that a new key could not open.
    /// - Throws: `VaultError`; as for `open`, and `.orphanedBlobs`, `.containerAway` or `.lockTimeout`.
    public static func openOrCreate(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        sharing: Sharing = .ownerOnly, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        if !VaultCreation.isHalfMade(place), let vault = try openIfPresent(place, with: credential, options) {
            return vault
        }
        let plan = VaultPlan(slots: [try NewSlot(for: credential, place)], sharing: sharing)
        return try VaultCreation(place: place, home: home, plan: plan, options: options)
            .run(openingWith: credential, mayExist: true)
    }

    /// Creates the vault with its first key.
    ///
    /// - Parameters:
    ///   - accessGroup: The group of the vault.
    ///   - home: The home of the group's files.
    ///   - slots: The slots that open it, at least one.
    ///   - sharing: The sharing among the members of a unix group.
    ///   - credential: The credential of one of the slots, which opens the vault.
    ///   - team: The team key, which certifies the person key of a vault with a person's slot; needed if a team key is
    ///     known.
    ///   - options: The options of the vault.
    /// - Throws: `VaultError`, `.alreadyExists` if a vault exists in any state; `.missing` if this user's programs have
    ///   opened one that is now missing.
    public static func create(
        _ accessGroup: AccessGroup, in home: GroupsHome, slots: [NewSlot], sharing: Sharing = .ownerOnly,
        openingWith credential: VaultCredential, certifiedBy team: TeamKey? = nil,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        return try VaultCreation(
            place: VaultPlace(accessGroup, in: home, teamKey: options.teamKey), home: home,
            plan: VaultPlan(slots: slots, sharing: sharing, certifier: team), options: options
        ).run(openingWith: credential, mayExist: false)
    }
}

/// The creation of a vault, under its lock.
struct VaultCreation {
    let place: VaultPlace
    let home: GroupsHome
    let plan: VaultPlan
    let options: VaultOptions

    static let making = "make the vault"

    func run(openingWith credential: VaultCredential, mayExist: Bool) throws(VaultError) -> Vault {
        let vault = try underLock(openingWith: credential) { directory, lock, makers throws(VaultError) in
            var opening = options
            // Settling would take the lock that is held here.
            opening.settles = false
            // Another process may have created the vault between our look and our lock: its key is then used.
            if mayExist, !Self.isHalfMade(place),
                let vault = try Vault.openIfPresent(place, with: credential, opening, lasting: options)
            {
                return vault
            }
            let new = try vaultForAFreePlace(in: directory, makers)
            // A credential that does not open the vault is refused before the vault exists.
            _ = try CredentialOpening(
                slots: new.slots, vaultID: new.vaultID, register: new.register, place
            ).open(with: credential)
            let doubt = try write(new, in: directory, under: lock)
            opening.acceptsRollback = true
            guard let vault = try Vault.openIfPresent(place, with: credential, opening, lasting: options) else {
                throw VaultError(.absent, Self.making, place.path, "It was removed in the meantime.")
            }
            vault.note(.created)
            if let doubt { throw doubt }
            return vault
        }
        try vault.settle()
        return vault
    }

    /// Creates the vault without opening it: a person who creates it for others may have no credential for it.
    ///
    /// - Parameter event: A further entry of the new access log.
    /// - Returns: The epoch of its active key.
    @discardableResult
    func run(noting event: AccessEvent) throws(VaultError) -> UInt32 {
        try underLock { directory, lock, makers throws(VaultError) in
            let new = try vaultForAFreePlace(in: directory, makers)
            let doubt = try write(new, in: directory, under: lock)
            // A damaged memory would refuse the restored vault.
            if plan.backup != nil, (try? place.memory.load()) == nil { place.memory.remove() }
            note(event, of: new, in: directory)
            if let doubt { throw doubt }
            return new.epoch
        }
    }

    /// Begins the access log of a vault that is created without being opened.
    private func note(_ event: AccessEvent, of new: NewVault, in directory: Directory) {
        guard options.accessLog != .off else { return }
        let log = AccessLog(directory: directory, mode: directory.fileMode, keys: new.logKeys)
        let write = VaultWrite(.service, period: new.register.period, generation: 1)
        for event in [.created, event] { _ = try? log.append(event, outcome: .succeeded, generation: write.encoded) }
    }

    /// Creates the vault in the place of an old one, without opening it. An existing directory keeps its sharing.
    ///
    /// - Parameter makeRoom: Sets the old files aside. Called under the lock when the new vault is complete in memory,
    ///   so that an obstacle to its creation is reported before anything changes.
    /// - Returns: The epoch of its active key.
    /// - Throws: `VaultError`; `.durabilityUnknown` if the vault was created, the errors of `abandonOld`.
    func run(
        noting event: AccessEvent, abandoning abandonOld: (Directory, OrphanCheck) throws(VaultError) -> Void
    ) throws(VaultError) -> UInt32 {
        try underLock { directory, lock, makers throws(VaultError) in
            let orphanCheck = try OrphanCheck(place.accessGroup, in: home)
            var new = try vaultForATakenPlace(in: directory, makers, orphanCheck)
            try reserve(new, in: directory)
            try requireNamed(lock)
            try VaultError.beforeCompletion { () throws(VaultError) in try abandonOld(directory, orphanCheck) }
            try requireFreePlace(in: directory, orphanCheck, isGivenUp: true)
            // A stream that ended meanwhile may state a higher epoch than the blobs seen before.
            let firstEpoch = orphanCheck.firstEpoch()
            if plan.backup == nil, new.epoch < firstEpoch {
                new = try VaultError.beforeCompletion { () throws(VaultError) in
                    try newVault(makers, firstEpoch: firstEpoch)
                }
            }
            let doubt = try write(new, in: directory, under: lock)
            // Only now: until the new vault exists, this user's programs must not treat its place as free.
            place.memory.remove()
            note(event, of: new, in: directory)
            if let doubt { throw doubt }
            return new.epoch
        }
    }

    private func underLock<Result>(
        openingWith credential: VaultCredential? = nil,
        _ body: (Directory, borrowing HeldLock, [any SlotMaker]) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        // Faults of a slot's credential are thrown before anything is created.
        let makers = try makers(openingWith: credential)
        let directory = try VaultError.beforeCompletion { () throws(VaultError) in
            try VaultError.onFiles(Self.making) { () throws(FileError) in
                try place.makeDirectory(sharing: plan.sharing)
            }
        }
        let lock = try VaultError.onFiles(Self.making) { () throws(FileError) in
            try place.acquireLock(in: directory, options)
        }
        let result = try body(directory, lock, makers)
        lock.unlock()
        return result
    }

    /// - Parameter credential: The credential that opens the new vault: if it is an identity, its holder creates the
    ///   recipient's slot.
    private func makers(openingWith credential: VaultCredential?) throws(VaultError) -> [any SlotMaker] {
        guard (1...CompartmentHead.maximumSlots).contains(plan.slots.count) else {
            throw VaultError(.invalidArgument, Self.making, place.path, "A vault has 1 to 32 key slots.")
        }
        var makers: [any SlotMaker] = []
        for slot in plan.slots { makers.append(try slot.owned(by: credential).maker(for: place)) }
        return makers
    }

    private func vaultForAFreePlace(
        in directory: Directory, _ makers: [any SlotMaker]
    ) throws(VaultError) -> NewVault {
        try requireNoMemory(in: directory)
        // An existing directory may have another sharing.
        try VaultError.onFiles(Self.making) { () throws(FileError) in try plan.requireSharing(of: directory) }
        let orphanCheck = try OrphanCheck(place.accessGroup, in: home)
        try requireFreePlace(in: directory, orphanCheck)
        return try VaultError.beforeCompletion { () throws(VaultError) in
            try newVault(makers, firstEpoch: orphanCheck.firstEpoch())
        }
    }

    /// - Throws: `VaultError` `.missing` if this user's programs have opened a vault and all its files are missing.
    private func requireNoMemory(in directory: Directory) throws(VaultError) {
        guard plan.backup == nil, try place.memory.load() != nil,
            VaultPlace.leaves.allSatisfy({ (try? directory.exists($0)) == false })
        else { return }
        throw .missing(place.path, "This user's programs have opened a vault there, and it is missing now.")
    }

    private func vaultForATakenPlace(
        in directory: Directory, _ makers: [any SlotMaker], _ orphanCheck: OrphanCheck
    ) throws(VaultError) -> NewVault {
        // A restored vault moves no sealed files, so it must open all of them.
        let found = try orphanCheck.orphans(knowing: plan.backup?.liveKeyIDs ?? [])
        guard plan.backup == nil || found.isEmpty else { throw orphanCheck.refusal(found) }
        return try VaultError.beforeCompletion { () throws(VaultError) in
            try newVault(makers, firstEpoch: orphanCheck.firstEpoch(after: found))
        }
    }

    /// - Parameter isGivenUp: Whether a person gives up the vault that this user's programs remember.
    private func requireFreePlace(
        in directory: Directory, _ orphanCheck: OrphanCheck, isGivenUp: Bool = false
    ) throws(VaultError) {
        if Self.isHalfMade(place) {
            // No program has opened it, and its keys have sealed nothing: sealed files are detected below.
            var room = VaultAbandonment(in: place)
            try room.setAside(in: directory)
        }
        for leaf in VaultPlace.leaves {
            let isThere = try VaultError.onFiles(Self.making) { () throws(FileError) in try directory.exists(leaf) }
            guard !isThere else { throw alreadyThere }
        }
        if !isGivenUp { try requireNoMemory(in: directory) }
        try orphanCheck.check(knowing: plan.backup?.keyIDs ?? [])
    }

    /// Returns whether a creation ended between its two files: only `vault.person` of the first write exists, and this
    /// user's programs have never opened a vault there. Under the vault's lock no creation is under way.
    ///
    /// A process that can remove `vault` from a new vault can remove both files, so setting this one aside exposes
    /// nothing more.
    static func isHalfMade(_ place: VaultPlace) -> Bool {
        guard let directory = try? place.openDirectory(),
            (try? directory.exists(CompartmentRole.service.leaf)) == false,
            case .success(.none) = Result(catching: place.memory.load),
            let person = try? CompartmentFile.open(.person, in: directory)
        else { return false }
        let contents = person.head.register?.person
        return person.head.generation == 1 && person.head.register?.nextRoot == nil
            && contents?.keys.isEmpty == true && contents?.nameCount == 0
    }

    var alreadyThere: VaultError {
        VaultError(.alreadyExists, Self.making, place.path, "It exists already.")
    }
}

/// The contents of a new vault.
extension VaultCreation {
    /// - Parameter firstEpoch: The epoch of its first key, unless its backup has an active key.
    /// - Throws: `VaultError`, those of the slots and of the backup; only key files were created then.
    private func newVault(_ makers: [any SlotMaker], firstEpoch: UInt32) throws(VaultError) -> NewVault {
        // A damaged memory fails a plain creation later.
        let memory = place.memory.ofFormerVault()
        let team = KnownTeam(place: place, memory: memory)
        // Readers of the group's roster refuse an earlier period, and the period bounds the first key's epoch.
        let isFirst = plan.backup?.keyring.active(.afterFirstUnlock) == nil
        var period = max(team.floor.period, KeyringEntry.period(ofEpoch: isFirst ? firstEpoch : 0))
        // A roster can end an abandoned vault only if the new one is in a later period.
        if plan.certifier != nil, let memory {
            period = max(period, min(memory.period + 1, CompartmentHead.maximumPeriod))
        }
        var draft: VaultDraft
        if let backup = plan.backup {
            draft = try backup.restoredDraft(place, knownPeriod: memory?.period ?? 0, lowestPeriod: period)
        } else {
            draft = try VaultDraft(making: SecureRandom.bytes(count: 16), period: period, place: place)
        }
        draft.certifier = plan.certifier
        // Slots of persons first, so that they vouch for the others.
        for maker in makers.sorted(by: { $0.reach.rawValue > $1.reach.rawValue }) {
            try draft.add(try maker.prepare(vaultID: draft.vaultID))
        }
        try team.check(draft.register)
        let values = try plan.backup?.fill(&draft) ?? []
        if plan.backup?.continuesVault == true { try draft.endKnownEpochs() }
        let epoch = draft.addFirstKey(firstEpoch)
        var files: [(role: CompartmentRole, bytes: [UInt8])] = []
        if draft.hasPersons { files.append((.person, try draft.file(.person))) }
        files.append((.service, try draft.file(.service)))
        return NewVault(
            files: files, values: values, slots: draft.service.slots + (draft.person?.slots ?? []),
            register: draft.register, vaultID: draft.vaultID, epoch: epoch,
            logKeys: try AccessLogKeys(
                draft.service.secrets, period: draft.service.period, vaultID: draft.vaultID, root: draft.service.root,
                path: place.path) ?? .none)
    }

    private func requireNamed(_ lock: borrowing HeldLock) throws(VaultError) {
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, Self.making, place.path, "Its lock file was replaced in the meantime.",
                advice: "Try again.")
        }
    }

    /// Reports a full disk before anything changes.
    private func reserve(_ new: NewVault, in directory: Directory) throws(VaultError) {
        for file in new.files {
            try VaultError.onFiles(Self.making) { () throws(FileError) in
                let probe = try NewFile.create(in: directory, leaf: file.role.leaf, mode: directory.fileMode)
                try probe.reserve(Int64(file.bytes.count))
                probe.discard()
            }
        }
    }

    /// Writes values, then the person compartment, then the service compartment. A vault that appeared meanwhile stays,
    /// with its access log.
    ///
    /// - Returns: The error to throw if the vault is in place but may not survive a power loss.
    private func write(
        _ new: NewVault, in directory: Directory, under lock: borrowing HeldLock
    ) throws(VaultError) -> VaultError? {
        try requireNamed(lock)
        // The logs of a missing vault, whose key alone continues their chain.
        let oldLogs = VaultAbandonment.logs(in: directory)
        for role in CompartmentRole.allCases {
            try ValueFiles(directory: directory, role: role)
                .write(new.values.filter { $0.role == role }.map { ($0.name, $0.bytes) })
        }
        var doubt: VaultError?
        var linked: [(role: CompartmentRole, bytes: [UInt8])] = []
        for file in new.files {
            do throws(VaultError) { doubt = try link(file.bytes, as: file.role, in: directory) ?? doubt } catch {
                for file in linked { unlink(file.bytes, as: file.role, in: directory, under: lock) }
                throw error
            }
            linked.append(file)
        }
        // The new vault is in place: verifying the log later reports logs that could not be moved.
        var room = VaultAbandonment(in: place)
        try? room.setAside(oldLogs, in: directory)
        let reserve = DeletionReserve(in: directory, prefix: VaultPlace.reservePrefix)
        for file in new.files { reserve.expect(file.bytes.count, roundedUpTo: VaultPlace.reserveStep) }
        reserve.keep()
        return doubt
    }

    /// Removes a file linked just before, if the other one cannot follow: alone it is no vault, and would block the
    /// next attempt. A file with other contents stays.
    private func unlink(
        _ bytes: [UInt8], as role: CompartmentRole, in directory: Directory, under lock: borrowing HeldLock
    ) {
        guard lock.isStillNamed(), (try? directory.read(role.leaf, limit: bytes.count)) == bytes else { return }
        try? directory.remove(role.leaf, durability: .durable)
    }

    private func link(
        _ bytes: [UInt8], as role: CompartmentRole, in directory: Directory
    ) throws(VaultError) -> VaultError? {
        do throws(FileError) {
            try directory.createExclusively(role.leaf, with: bytes, mode: directory.fileMode)
            return nil
        } catch {
            switch error.code {
            case .alreadyExists: throw alreadyThere
            case .durabilityUnknown:
                return VaultError(
                    error.advising("The vault was written. Check the disk (dmesg), then check that the vault opens."),
                    Self.making)
            default: throw VaultError(error, Self.making)
            }
        }
    }
}

extension VaultDraft {
    /// Begins a new epoch of each class that has keys: members who left the vault after the backup know the keys that
    /// were active in it.
    ///
    /// - Throws: `VaultError` `.tooLarge`.
    fileprivate mutating func endKnownEpochs() throws(VaultError) {
        for protection in ProtectionClass.allCases where protection == .afterFirstUnlock || person != nil {
            var compartment = try compartment(protection)
            guard !compartment.keyring.isEmpty else { continue }
            try compartment.beginEpoch(
                protection, vaultID: vaultID, at: now, path: place.path(of: compartment.role))
            set(compartment)
            beginResealing(protection)
        }
    }

    /// Adds the first key of *after first unlock*, unless there is an active one.
    ///
    /// - Returns: The active key's epoch.
    mutating func addFirstKey(_ epoch: UInt32) -> UInt32 {
        if let active = service.keyring.active(.afterFirstUnlock) { return active.epoch }
        let first = max(epoch, (service.keyring.map(\.epoch).max() ?? 0) + 1)
        service.keyring.append(
            .random(
                epoch: first, protection: .afterFirstUnlock, createdAt: now, vaultID: vaultID, root: service.root))
        return first
    }
}
