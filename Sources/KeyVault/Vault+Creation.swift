public import AppGroups
internal import CryptoPrimitives
internal import Sealing
public import SharedFiles

extension Vault {
    /// Opens the vault, or makes it together with its first key where there is none.
    ///
    /// A key is born once: under the vault's lock, never while a vault exists that cannot be opened, and never while the
    /// group's container holds blobs of this group that a new key could not open.
    /// - Throws: `VaultError`; as for `open`, and `.orphanedBlobs` or `.lockTimeout`.
    public static func openOrCreate(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        sharing: Sharing = .ownerOnly, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
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
        try VaultCreation(
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
            let new = try newVault(in: directory, makers)
            // What does not open it is told before it is there.
            let stamp = LockStamp.ifReadable(in: directory.path)
            let secrets = try Vault.unlock(new.image.head, place, with: credential)
            let keys = ClassKeys(
                secrets, vaultID: new.image.head.header.vaultID, directory: directory, openedAt: stamp)
            try write(new, to: directory, under: lock)
            let (contents, header) = try VaultReader(place: place).contents(of: new.image, root: keys.root, keys: keys)
            let vault = try Vault.open(contents, header, place, directory, keys, options)
            vault.note(.created)
            return vault
        }
    }

    /// Makes the vault without opening it: a person who makes it for others need not have what opens it.
    ///
    /// - Parameters:
    ///   - event: What the new access log says besides that it was made.
    ///   - makeRoom: Run under the lock before anything is looked at; takes what is there out of the way.
    /// - Returns: The epoch of its active key.
    func run(
        noting event: AccessEvent, makingRoom makeRoom: (Directory) throws(VaultError) -> Void
    ) throws(VaultError) -> UInt32 {
        try underLock { directory, lock, makers throws(VaultError) in
            try makeRoom(directory)
            let new = try newVault(in: directory, makers)
            try write(new, to: directory, under: lock)
            if options.accessLog != .off {
                let log = AccessLog(
                    directory: directory, mode: directory.fileMode, key: new.keys.root.derived(.accessLogKey))
                for event in [.created, event] { _ = try? log.append(event, generation: 1) }
            }
            return new.epoch
        }
    }

    private func underLock<Result>(
        _ body: (Directory, borrowing HeldLock, [any SlotMaker]) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        // Whatever a person has to mend about a slot shows before anything is made.
        let makers = try makers()
        let directory = try VaultError.onFiles(Self.making) { () throws(FileError) in
            try place.makeDirectory(sharing: plan.sharing)
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

    /// A vault that is ready to be written.
    private struct NewVault {
        let file: [UInt8]
        /// The file, taken apart again.
        let image: VaultImage
        let keys: ClassKeys
        /// Of its active key.
        let epoch: UInt32
    }

    /// Gives the new vault its name. One that came there meanwhile stays.
    private func write(_ new: NewVault, to directory: Directory, under lock: borrowing HeldLock) throws(VaultError) {
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, Self.making, place.path, "Its lock file was replaced meanwhile.", advice: "Try again.")
        }
        // The access log of a vault that is gone: only that one's key could continue its chain.
        var room = MakingRoom(in: place)
        try room.setAsideLog(in: directory)
        try VaultError.onFiles(Self.making) { () throws(FileError) in
            try new.file.withRawBytes { bytes throws(FileError) in
                try directory.createExclusively(VaultPlace.leaf, with: bytes, mode: directory.fileMode)
            }
        }
    }

    private func newVault(in directory: Directory, _ makers: [any SlotMaker]) throws(VaultError) -> NewVault {
        let isThere = try VaultError.onFiles(Self.making) { () throws(FileError) in
            try directory.exists(VaultPlace.leaf)
        }
        guard !isThere else { throw VaultError(.alreadyExists, Self.making, place.path, "There is one already.") }
        // A directory that was there before may be shared otherwise.
        try VaultError.onFiles(Self.making) { () throws(FileError) in try directory.requireSharing(plan.sharing) }
        let birthGuard = try KeyBirthGuard(place.accessGroup, in: home)
        try birthGuard.check(knowing: plan.backup?.keyIDs ?? [])
        return try newVault(in: directory, makers, firstEpoch: birthGuard.firstEpoch())
    }

    private func newVault(
        in directory: Directory, _ makers: [any SlotMaker], firstEpoch: UInt32
    ) throws(VaultError) -> NewVault {
        let secrets = VaultSecrets.random()
        let vaultID = SecureRandom.bytes(count: 16)
        let now = WallClock.milliseconds()
        var body = VaultBody(keyring: [])
        var slots: [KeySlot] = []
        for maker in makers {
            slots.append(
                try maker.slot(
                    for: secrets, vaultID: vaultID, id: body.state.nextSlotID, createdAt: now, place: place))
            body.state.nextSlotID += 1
        }
        try slots.requireBearableSearch(vaultID: vaultID, place.path)
        let isReached = slots.contains { $0.reach == .whenUnlocked }
        let whenUnlockedID = isReached ? secrets.whenUnlockedID : WhenUnlockedKeyID.none
        let keys = ClassKeys(
            consume secrets, vaultID: vaultID, directory: directory, openedAt: .ifReadable(in: directory.path))
        let side = WrappingSide(vaultID: vaultID, keys: keys, directory: directory, place: place)
        try plan.backup?.fill(&body, of: side)
        body.state.whenUnlockedID = whenUnlockedID
        let epoch = try addFirstKey(to: &body, side, firstEpoch, now)
        let header = VaultHeader(purpose: .vault, vaultID: vaultID, generation: 1, slots: slots)
        let file = try VaultSealing.file(header, body, place, root: keys.root, at: now)
        return NewVault(file: file, image: try VaultImage(parsing: file, path: place.path), keys: keys, epoch: epoch)
    }

    /// Unless there is an active key already. The active key's epoch is returned.
    private func addFirstKey(
        to body: inout VaultBody, _ side: WrappingSide, _ epoch: UInt32, _ now: UInt64
    ) throws(VaultError) -> UInt32 {
        if let active = body.keyring.first(where: { $0.state == .active && $0.protection == .afterFirstUnlock }) {
            return active.epoch
        }
        let highest = body.keyring.map(\.epoch).max() ?? 0
        guard highest < UInt32.max else {
            throw VaultError(.tooLarge, Self.making, place.path, "Its epochs are used up.")
        }
        let first = max(epoch, highest + 1)
        let secret = SecretBytes.random(count: SealingKey.size)
        body.keyring.append(
            try KeyringReader(place: place, vaultID: side.vaultID).entry(
                for: secret, epoch: first, state: .active, protection: .afterFirstUnlock, createdAt: now,
                keys: side.keys))
        return first
    }
}
