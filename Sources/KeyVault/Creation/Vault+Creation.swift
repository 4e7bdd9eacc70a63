public import AppGroups
internal import CryptoPrimitives
public import SharedFiles

extension Vault {
    /// Opens the vault, or makes it together with its first key where there is none.
    ///
    /// A key is born once: under the vault's lock, never while a vault exists that cannot be opened, and never while the
    /// group's container holds blobs of this group that a new key could not open.
    /// - Throws: `VaultError`; as for `open`, and `.orphanedBlobs`, `.containerAway` or `.lockTimeout`.
    public static func openOrCreate(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        sharing: Sharing = .ownerOnly, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home)
        if let vault = try openIfPresent(place, with: credential, options) { return vault }
        let plan = VaultPlan(slots: [try NewSlot(for: credential, place)], sharing: sharing)
        return try VaultCreation(place: place, home: home, plan: plan, options: options)
            .run(openingWith: credential, mayExist: true)
    }

    /// Makes the vault with its first key.
    ///
    /// - Parameters:
    ///   - slots: What will open it: one at least.
    ///   - sharing: Whether the members of a unix group share it.
    ///   - credential: What it is opened with when it is there: one of the slots'.
    /// - Throws: `VaultError`, `.alreadyExists` where there is a vault, whatever its state.
    public static func create(
        _ accessGroup: AccessGroup, in home: GroupsHome, slots: [NewSlot], sharing: Sharing = .ownerOnly,
        openingWith credential: VaultCredential, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        return try VaultCreation(
            place: VaultPlace(accessGroup, in: home), home: home, plan: VaultPlan(slots: slots, sharing: sharing),
            options: options
        ).run(openingWith: credential, mayExist: false)
    }
}

/// What a vault is made of.
struct VaultPlan {
    var slots: [NewSlot]
    var sharing = Sharing.ownerOnly
    /// What it begins with; without one, or where that has no active key, it begins with a fresh key.
    var backup: Backup?
}

/// The making of a vault, under its lock.
struct VaultCreation {
    let place: VaultPlace
    let home: GroupsHome
    let plan: VaultPlan
    let options: VaultOptions

    static let making = "make the vault"

    func run(openingWith credential: VaultCredential, mayExist: Bool) throws(VaultError) -> Vault {
        try underLock { directory, lock, makers throws(VaultError) in
            // Another process may have made it between our look and our lock: its key is the key.
            if mayExist, let vault = try Vault.openIfPresent(place, with: credential, options) { return vault }
            let new = try vaultForAFreePlace(in: directory, makers)
            // What does not open it is told before it is there.
            let stamp = LockStamp.ifReadable(in: directory.path)
            let secrets = try Vault.unlock(new.image.head, place, with: credential)
            let keys = ClassKeys(
                secrets, vaultID: new.image.head.header.vaultID, directory: directory, openedAt: stamp)
            let file = try written(new, in: directory)
            let doubt = try link(file, in: directory, under: lock)
            let (contents, header) = try VaultReader(place: place).contents(of: new.image, root: keys.root, keys: keys)
            let vault = try Vault.open(contents, header, place, directory, keys, options)
            vault.note(.created)
            if let doubt { throw doubt }
            return vault
        }
    }

    /// Makes the vault without opening it: a person who makes it for others need not have what opens it.
    ///
    /// - Parameter event: What the new access log says besides that it was made.
    func run(noting event: AccessEvent) throws(VaultError) {
        try underLock { directory, lock, makers throws(VaultError) in
            let new = try vaultForAFreePlace(in: directory, makers)
            let file = try written(new, in: directory)
            let doubt = try link(file, in: directory, under: lock)
            begin(new, in: directory, event)
            if let doubt { throw doubt }
        }
    }

    /// Makes the vault in place of what is there, without opening it. A directory that is there stays shared as it is.
    ///
    /// - Parameter makeRoom: Takes what is there out of the way. Run under the lock, when the new vault lies on the disk
    ///   and lacks nothing but its name: what keeps it from being made is told while everything is as it was.
    /// - Returns: The epoch of its active key.
    /// - Throws: `VaultError`; `.durabilityUnknown` where the vault was made, what `makeRoom` throws.
    func run(
        noting event: AccessEvent, makingRoom makeRoom: (Directory, KeyBirthGuard) throws(VaultError) -> Void
    ) throws(VaultError) -> UInt32 {
        try underLock { directory, lock, makers throws(VaultError) in
            let birthGuard = try KeyBirthGuard(place.accessGroup, in: home)
            var new = try vaultForATakenPlace(in: directory, makers, birthGuard)
            var file = try written(new, in: directory)
            try requireNamed(lock)
            try VaultError.onTheWay { () throws(VaultError) in try makeRoom(directory, birthGuard) }
            try requireFreePlace(in: directory, birthGuard)
            // A stream that was ended meanwhile may claim more than all that was seen before.
            let firstEpoch = birthGuard.firstEpoch()
            if plan.backup == nil, new.epoch < firstEpoch {
                new = try VaultError.onTheWay { () throws(VaultError) in
                    try newVault(in: directory, makers, firstEpoch: firstEpoch)
                }
                file = try written(new, in: directory)
            }
            let doubt = try link(file, in: directory, under: lock)
            begin(new, in: directory, event)
            if let doubt { throw doubt }
            return new.epoch
        }
    }

    private func underLock<Result>(
        _ body: (Directory, borrowing HeldLock, [any SlotMaker]) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        // Whatever a person has to mend about a slot shows before anything is made.
        let makers = try makers()
        let directory = try VaultError.onTheWay { () throws(VaultError) in
            try VaultError.onFiles(Self.making) { () throws(FileError) in
                try place.makeDirectory(sharing: plan.sharing)
            }
        }
        let lock = try VaultError.onFiles(Self.making) { () throws(FileError) in
            try place.lockFile(in: directory).acquire(.whole, .exclusive, timeout: options.lockTimeout)
        }
        let result = try body(directory, lock, makers)
        lock.unlock()
        return result
    }

    private func makers() throws(VaultError) -> [any SlotMaker] {
        guard (1...VaultHeader.maximumSlots).contains(plan.slots.count) else {
            throw VaultError(.invalidArgument, Self.making, place.path, "A vault has 1 to 32 key slots.")
        }
        var makers: [any SlotMaker] = []
        for slot in plan.slots { makers.append(try slot.maker(for: place)) }
        return makers
    }

    private func vaultForAFreePlace(
        in directory: Directory, _ makers: [any SlotMaker]
    ) throws(VaultError) -> NewVault {
        // A directory that was there before may be shared otherwise.
        try VaultError.onFiles(Self.making) { () throws(FileError) in try directory.requireSharing(plan.sharing) }
        let birthGuard = try KeyBirthGuard(place.accessGroup, in: home)
        try requireFreePlace(in: directory, birthGuard)
        return try VaultError.onTheWay { () throws(VaultError) in
            try newVault(in: directory, makers, firstEpoch: birthGuard.firstEpoch())
        }
    }

    private func vaultForATakenPlace(
        in directory: Directory, _ makers: [any SlotMaker], _ birthGuard: KeyBirthGuard
    ) throws(VaultError) -> NewVault {
        // A vault that comes from a backup moves no sealed file: it has to open all of them.
        let found = try birthGuard.orphans(knowing: plan.backup?.liveKeyIDs ?? [])
        guard plan.backup == nil || found.isEmpty else { throw birthGuard.refusal(found) }
        return try VaultError.onTheWay { () throws(VaultError) in
            try newVault(in: directory, makers, firstEpoch: birthGuard.firstEpoch(after: found))
        }
    }

    private func requireFreePlace(in directory: Directory, _ birthGuard: KeyBirthGuard) throws(VaultError) {
        let isThere = try VaultError.onFiles(Self.making) { () throws(FileError) in
            try directory.exists(VaultPlace.leaf)
        }
        guard !isThere else { throw alreadyThere }
        try birthGuard.check(knowing: plan.backup?.keyIDs ?? [])
    }

    var alreadyThere: VaultError {
        VaultError(.alreadyExists, Self.making, place.path, "There is one already.")
    }
}
