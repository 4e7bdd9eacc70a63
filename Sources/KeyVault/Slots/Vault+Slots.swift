internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles

/// Adding, replacing and removing what opens the vault.
///
/// The *when unlocked* key is born with the first slot that reaches it and ends with the last one, which only goes while
/// nothing is kept under that key.
extension Vault {
    /// The key slots as they are now, without anything secret.
    ///
    /// - Throws: `VaultError` as `current()`.
    public func slots() throws(VaultError) -> [SlotSummary] {
        try current().head.header.slots.map(SlotSummary.init)
    }

    /// The number of the slot that a credential opens; nil for keys that a person unlocked. A change of passphrase begins
    /// with it: the old passphrase tells which slot is replaced.
    ///
    /// - Throws: `VaultError` as opening with it.
    public func slotID(openedBy credential: VaultCredential) throws(VaultError) -> UInt32? {
        let opened = try CredentialOpening(try current().head, place).open(with: credential)
        return opened.id
    }

    /// Adds a way to open the vault.
    ///
    /// - Returns: The new slot.
    /// - Throws: `VaultError`: `.locked` for a slot that reaches what is locked now; `.tooLarge` where the vault has as
    ///   many slots as it can hold; `.tooCostly` for a passphrase that would make the search for the right slot cost more
    ///   than one slot may; what its credential's file is refused for; those of every change.
    @discardableResult
    public func addSlot(_ slot: NewSlot) throws(VaultError) -> SlotSummary {
        let prepared = try prepare(slot)
        return try change(.slotAdded) { draft throws(VaultError) in
            try draft.requireRoom(path)
            let slot = try draft.finish(prepared)
            draft.slots.append(slot)
            try draft.slots.requireBearableSearch(vaultID: draft.vaultID, path)
            return SlotSummary(slot)
        }
    }

    /// Puts a slot in another's place in one step: a change of passphrase. Whoever is killed on the way leaves the old one
    /// or the new one, never none and never both.
    ///
    /// - Parameter id: The old slot's; the new one gets a number of its own.
    /// - Returns: The new slot.
    /// - Throws: `VaultError` `.slotNotFound` when somebody else has removed or replaced it first; `.lastSlot` when what
    ///   needs a person could no longer be reached; otherwise as `addSlot(_:)`.
    @discardableResult
    public func replaceSlot(id: UInt32, with slot: NewSlot) throws(VaultError) -> SlotSummary {
        try requireSlot(id, in: try current().head.header.slots)
        let prepared = try prepare(slot)
        return try change(.slotReplaced, subject: Self.subject(id)) { draft throws(VaultError) in
            let index = try requireSlot(id, in: draft.slots)
            let slot = try draft.finish(prepared)
            let before = draft
            draft.slots[index] = slot
            try requireReach(of: draft, after: before)
            draft.endUnreachedKey()
            try draft.slots.requireBearableSearch(vaultID: draft.vaultID, path)
            return SlotSummary(slot)
        }
    }

    /// Takes a way to open the vault away.
    ///
    /// It ends what the slot's holder can do with the file as it will be, not what they know: the vault's root and class
    /// keys stay the same, so whoever kept an older copy of the file and what opened it can open later ones as well. To
    /// shut somebody out for good, export the vault, abandon it, and import into a new one.
    ///
    /// - Throws: `VaultError` `.slotNotFound`; `.lastSlot` for the last one, and for the last one that reaches what needs a
    ///   person while the vault holds any such thing or others share it; those of every change.
    public func removeSlot(id: UInt32) throws(VaultError) {
        try change(.slotRemoved, subject: Self.subject(id)) { draft throws(VaultError) in
            let before = draft
            draft.slots.remove(at: try requireSlot(id, in: draft.slots))
            try requireReach(of: draft, after: before)
            draft.endUnreachedKey()
        }
    }

    /// Everything that is slow, done before the lock is taken: nobody waits for another's key derivation.
    private func prepare(_ slot: NewSlot) throws(VaultError) -> PreparedSlot {
        // The vault is not touched yet: a key file that may not outlive a power loss leaves it as it was.
        try VaultError.onTheWay { () throws(VaultError) in
            try PreparedSlot(try slot.maker(for: place), vaultID: heldContents.head.header.vaultID)
        }
    }

    @discardableResult
    private func requireSlot(_ id: UInt32, in slots: [KeySlot]) throws(VaultError) -> Int {
        guard let index = slots.firstIndex(where: { $0.id == id }) else {
            throw VaultError(.slotNotFound, "change a key slot of", path, "It has no slot \(id), or no longer.")
        }
        return index
    }

    private static func subject(_ id: UInt32) -> [UInt8] { Array("slot \(id)".utf8) }
}

extension VaultDraft {
    /// - Throws: `VaultError` `.locked`.
    fileprivate mutating func finish(_ prepared: borrowing PreparedSlot) throws(VaultError) -> KeySlot {
        let isFirst = prepared.reach == .whenUnlocked && !isWhenUnlockedReached && !body.holdsWhenUnlocked
        let secrets = isFirst ? try secretsWithFreshKey() : try keys.joined(reach: prepared.reach)
        return prepared.slot(wrapping: secrets, id: takeSlotID(), createdAt: now)
    }

    /// Root, after-first-unlock key and a new when-unlocked key.
    private mutating func secretsWithFreshKey() throws(VaultError) -> SecretBytes {
        let known = try keys.joined(reach: .afterFirstUnlock)
        let joined = SecretBytes(count: VaultSecrets.size(reach: .whenUnlocked)) { joined in
            known.withUnsafeBytes { joined.copyMemory(from: $0) }
            SecureRandom.fill(UnsafeMutableRawBufferPointer(rebasing: joined[known.count...]))
        }
        body.state.whenUnlockedID = joined.withUnsafeBytes {
            WhenUnlockedKeyID.of(UnsafeRawBufferPointer(rebasing: $0[known.count...]))
        }
        return joined
    }

    /// The when-unlocked key ends with the last slot that gives it.
    fileprivate mutating func endUnreachedKey() {
        if !isWhenUnlockedReached { body.state.whenUnlockedID = WhenUnlockedKeyID.none }
    }

    fileprivate var isWhenUnlockedReached: Bool { slots.contains { $0.reach == .whenUnlocked } }

    fileprivate func requireRoom(_ path: String) throws(VaultError) {
        guard slots.count < VaultHeader.maximumSlots else {
            throw VaultError(
                .tooLarge, "add a key slot to", path, "It has \(slots.count) slots, the most that a vault holds.",
                advice: "Remove one that nobody needs: sealctl vault slot list.")
        }
    }
}

extension [KeySlot] {
    /// Whoever opens a vault with a passphrase tries its slots one after the other.
    ///
    /// - Throws: `VaultError` `.tooCostly`.
    func requireBearableSearch(vaultID: [UInt8], _ path: String) throws(VaultError) {
        guard SlotSearch(slots: self, vaultID: vaultID, path: path).totalWork <= .maximum else {
            throw VaultError(
                .tooCostly, "add a key slot to", path,
                "Its passphrase slots together would cost more to try than one slot may.",
                advice: "Choose a shorter unlock time, or remove another passphrase slot.")
        }
    }
}

/// What stays reachable when a slot goes.
extension Vault {
    /// - Throws: `VaultError` `.lastSlot`.
    private func requireReach(of draft: VaultDraft, after before: VaultDraft) throws(VaultError) {
        guard !draft.slots.isEmpty else { throw lastSlot("It is the last one; nothing would open the vault.") }
        guard before.isWhenUnlockedReached, !draft.isWhenUnlockedReached else { return }
        guard !draft.body.holdsWhenUnlocked else {
            throw lastSlot(
                "It is the last one that reaches what needs a person, and the vault holds such items or keys.")
        }
        try forgetWhenUnlockedKey()
    }

    /// Makes every program forget the key that no slot will give any more, before the slot goes: what somebody sealed under
    /// it later could never be opened.
    ///
    /// - Throws: `VaultError` `.lastSlot` where programs of other users may hold that key, for they cannot be told.
    private func forgetWhenUnlockedKey() throws(VaultError) {
        let facts = try VaultError.onFiles("change the vault") { () throws(FileError) in try directory.attributes(".") }
        guard facts.sharing == .ownerOnly, facts.uid == geteuid() else {
            throw lastSlot("It is the last one that reaches what needs a person, and other users may be using it.")
        }
        try LockStamp.replace(in: directory)
        try UnlockCaches.current.remove(UnlockName(vaultID: heldContents.head.header.vaultID, .whenUnlocked))
    }

    private func lastSlot(_ reason: String) -> VaultError {
        VaultError(
            .lastSlot, "remove a key slot from", path, reason,
            advice: "Add a passphrase or recipient first (sealctl vault slot add), or replace this one.")
    }
}
