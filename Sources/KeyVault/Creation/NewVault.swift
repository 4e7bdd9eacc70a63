internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A vault that is ready to be written.
struct NewVault {
    let file: [UInt8]
    /// The file, taken apart again.
    let image: VaultImage
    let keys: ClassKeys
    /// Of its active key.
    let epoch: UInt32
}

/// What a new vault holds.
extension VaultCreation {
    /// - Parameter firstEpoch: Of its first key, unless the backup that it is made of has an active one.
    /// - Throws: `VaultError`, those of the slots and of the backup; nothing was made but key files.
    func newVault(
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
        try body.addTokenKey(vaultID: vaultID, createdAt: now, keys: keys)
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
