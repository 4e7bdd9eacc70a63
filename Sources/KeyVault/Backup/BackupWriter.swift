internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Makes a backup's bytes: a vault file of its own, with fresh keys and another vault's contents.
///
/// Root, class keys and vault id are made for this one file. Whoever opens a backup learns what was in it, and nothing
/// that opens the vault itself.
struct BackupWriter {
    let source: WrappingSide
    let body: VaultBody
    let contents: BackupContents
    /// What a person or identity will open it with.
    private let makers: [any SlotMaker]

    /// - Throws: `VaultError` `.invalidArgument` for slots that a backup cannot have.
    init(
        of body: VaultBody, in source: WrappingSide, _ contents: BackupContents, for slots: [NewSlot]
    ) throws(VaultError) {
        self.source = source
        self.body = body
        self.contents = contents
        makers = try Self.makers(slots, source.place)
    }

    /// The items that may leave the machine, if any are asked for.
    var items: [ItemEntry] { candidates.filter { !$0.accessibility.isThisDeviceOnly } }
    /// The others.
    var leftOut: [ItemEntry] { candidates.filter(\.accessibility.isThisDeviceOnly) }
    var keyring: [KeyringEntry] { contents.includesKeys ? body.keyring : [] }

    private var candidates: [ItemEntry] { contents.includesItems ? body.items.entries : [] }

    /// Asked before anything slow is done; the wrapping itself would find out as well.
    ///
    /// - Throws: `VaultError` `.locked` where a part of what is asked for is locked: no backup is silently partial.
    func requireReach() throws(VaultError) {
        let needsPerson =
            items.contains { $0.accessibility.protection == .whenUnlocked }
            || keyring.contains { $0.state != .destroyed && $0.protection == .whenUnlocked }
        guard needsPerson else { return }
        guard try source.keys.reaches(.whenUnlocked) else {
            throw VaultError(
                .locked, "back up", source.place.path,
                "It holds items or keys that need a person; without them the backup would not be whole.",
                advice: "Unlock it (sealctl vault unlock), or open it with a passphrase or identity.")
        }
    }

    /// The whole file.
    ///
    /// - Throws: `VaultError` `.locked`, `.corrupt`, `.outOfMemory`, `.tooCostly`, `.tooLarge`.
    func file() throws(VaultError) -> [UInt8] {
        let vaultID = SecureRandom.bytes(count: 16)
        let secrets = VaultSecrets.random()
        let now = WallClock.milliseconds()
        let slots = try slots(for: secrets, vaultID, now)
        // The vault's own directory: a lock that comes meanwhile ends the backup as well.
        let whenUnlockedID = secrets.whenUnlockedID
        let keys = ClassKeys(
            consume secrets, vaultID: vaultID, directory: source.directory,
            openedAt: .ifReadable(in: source.directory.path))
        let target = WrappingSide(vaultID: vaultID, keys: keys, directory: source.directory, place: source.place)
        let header = VaultHeader(purpose: .export, vaultID: vaultID, generation: 1, slots: slots)
        var carried = try carried(to: target, slotCount: slots.count)
        carried.state.whenUnlockedID = whenUnlockedID
        return try VaultSealing.file(header, carried, source.place, root: keys.root, at: now)
    }

    private func carried(to target: WrappingSide, slotCount: Int) throws(VaultError) -> VaultBody {
        let rewrapping = Rewrapping(source: source, target: target)
        var carried = VaultBody(keyring: [])
        if contents.includesKeys { carried.state = body.state.withoutHistory }
        carried.state.nextSlotID = UInt32(slotCount) + 1
        for entry in keyring { carried.keyring.append(try rewrapping.key(entry)) }
        for entry in items { try carried.items.insert(try rewrapping.item(entry), path: source.place.path) }
        for entry in contents.includesKeys ? body.tokenKeys : [] {
            carried.tokenKeys.append(try entry.carried(from: source, to: target))
        }
        return carried
    }
}

extension BackupWriter {
    /// Only what a person keeps elsewhere: a key file or a credential of this machine would be lost with it.
    private static func makers(_ slots: [NewSlot], _ place: VaultPlace) throws(VaultError) -> [any SlotMaker] {
        guard (1...VaultHeader.maximumSlots).contains(slots.count) else {
            throw VaultError(
                .invalidArgument, "back up", place.path, "A backup has 1 to 32 passphrases and recipients.")
        }
        var makers: [any SlotMaker] = []
        for slot in slots {
            switch slot {
            case .passphrase, .recipient(_, unattended: false): makers.append(try slot.maker(for: place))
            default:
                throw VaultError(
                    .invalidArgument, "back up", place.path,
                    "A backup is opened by a passphrase or a recipient's identity, and each opens all of it.")
            }
        }
        return makers
    }

    private func slots(
        for secrets: borrowing VaultSecrets, _ vaultID: [UInt8], _ now: UInt64
    ) throws(VaultError) -> [KeySlot] {
        var slots: [KeySlot] = []
        for (index, maker) in makers.enumerated() {
            slots.append(
                try maker.slot(
                    for: secrets, vaultID: vaultID, id: UInt32(index) + 1, createdAt: now, place: source.place))
        }
        guard SlotSearch(slots: slots, vaultID: vaultID, path: source.place.path).totalWork <= .maximum else {
            throw VaultError(
                .tooCostly, "back up", source.place.path,
                "Its passphrases together would cost more to try than one slot may.",
                advice: "Choose fewer passphrases, or lower costs.")
        }
        return slots
    }
}

extension VaultState {
    /// What a copy takes over: where rotations stand. Slot numbers, class keys and the access log are each vault's own.
    var withoutHistory: VaultState {
        var state = VaultState()
        state.minimumEpoch = minimumEpoch
        state.rotation = rotation
        state.rotationBegan = rotationBegan
        state.rotationCompleted = rotationCompleted
        return state
    }
}
