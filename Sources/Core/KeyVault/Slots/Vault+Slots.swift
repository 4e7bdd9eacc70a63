internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Adds, replaces and removes the slots that open the vault.
extension Vault {
    /// Returns the current key slots, without secrets.
    ///
    /// - Throws: `VaultError` as `current()`.
    public func slots() throws(VaultError) -> [SlotSummary] { try current().slotSummaries }

    /// Returns whether a slot has, or had, that number.
    package func hasGiven(slot id: UInt32) -> Bool {
        heldContents.register.map { id > 0 && id < $0.nextSlotID } ?? false
    }

    /// Returns the number of the slot that a credential opens; `nil` for unlocked keys. A change of passphrase begins
    /// with it: the old passphrase decides which slot is replaced.
    ///
    /// - Throws: `VaultError` as opening with the credential.
    public func slotID(openedBy credential: VaultCredential) throws(VaultError) -> UInt32? {
        let contents = try current()
        let opening = CredentialOpening(
            slots: contents.slots, vaultID: contents.vaultID, register: contents.register, place)
        return try opening.open(with: credential).slot?.slot.id
    }

    /// Adds a slot that opens the vault. The first slot of a person creates the compartment of *when unlocked*.
    ///
    /// - Parameters:
    ///   - slot: The credential of the new slot.
    ///   - label: A name for users, at most 255 bytes; the register shows it.
    ///   - team: The team key, if one is known and this is the first slot of a person.
    /// - Returns: The new slot.
    /// - Throws: `VaultError`: `.teamKeyNeeded` or `.wrongTeamKey` before anything is changed; `.locked` if the vault
    ///   has persons and is locked, because only persons may add slots; `.tooLarge` if the vault has the maximum number
    ///   of slots; `.tooCostly` for a passphrase that would make the search for the right slot cost more than one slot
    ///   may; the refusals of its credential's file; those of every change.
    @discardableResult
    public func addSlot(
        _ slot: NewSlot, label: String = "", certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> SlotSummary {
        let prepared = try prepare(slot)
        try requireLabel(label)
        return try change(.slotAdded, needsPerson: true) { draft throws(VaultError) in
            draft.certifier = team
            return try draft.add(prepared, label: label)
        }
    }

    /// Replaces a slot in one step, as for a change of passphrase. If the process is killed, the old slot or the new
    /// one remains, never both. If that leaves a service without a slot, the next change by a person adds its new one.
    ///
    /// The old credential no longer opens the file from this write on. If others open the vault too, or may know the
    /// old credential, run `rekey` afterwards.
    /// - Parameters:
    ///   - id: The old slot's number; the new slot gets another.
    ///   - slot: The credential of the new slot.
    ///   - team: The team key, if one is known and the new slot is the first one of a person.
    /// - Returns: The new slot, and whether the access log has an entry for the change.
    /// - Throws: `VaultError` `.slotNotFound` if another program has removed or replaced it first; `.lastSlot` if the
    ///   slots would no longer reach as far; otherwise as `addSlot(_:label:)`.
    @discardableResult
    public func replaceSlot(
        id: UInt32, with slot: NewSlot, certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> SlotReplacement {
        try requireSlot(id, in: try current().register)
        let prepared = try prepare(slot)
        let (slot, isLogged) = try changeReportingLog(
            .slotReplaced, subject: Self.subject(id), needsPerson: true
        ) { draft throws(VaultError) in
            draft.certifier = team
            let old = try requireSlot(id, in: draft.register)
            try draft.remove(old)
            let added = try draft.add(prepared, label: old.label)
            try draft.requireSlots(after: old)
            return added
        }
        return SlotReplacement(slot: slot, isLogged: isLogged)
    }

    /// Does all slow work before the lock is taken, so that no process waits for another's key derivation.
    func prepare(_ slot: NewSlot) throws(VaultError) -> PreparedSlot {
        // The vault is not touched yet: if a power loss removes a new key file, the vault is unchanged.
        try VaultError.beforeCompletion { () throws(VaultError) in
            try slot.maker(for: place).prepare(vaultID: heldContents.vaultID)
        }
    }

    private func requireLabel(_ label: String) throws(VaultError) {
        guard label.utf8.count <= 255, !label.hasControlCharacter else {
            throw VaultError(
                .invalidArgument, "add a key slot to", path, "A label has at most 255 bytes and no control characters.")
        }
    }

    @discardableResult
    func requireSlot(_ id: UInt32, in register: Register?) throws(VaultError) -> RegisteredSlot {
        guard let slot = register?.slot(id) else {
            throw VaultError(.slotNotFound, "change a key slot of", path, "It has no slot \(id).")
        }
        return slot
    }

    static func subject(_ id: UInt32) -> [UInt8] { Array("slot \(id)".utf8) }
}

/// The result of replacing a slot.
public struct SlotReplacement: Sendable, Hashable {
    /// The new slot.
    public let slot: SlotSummary
    /// `true` if the access log has an entry for the change. If `vault`, which has the log's key, is damaged, the entry
    /// is missing.
    public let isLogged: Bool
}

extension VaultContents {
    /// The slots of both files that the register lists, ascending by id.
    var slots: [KeySlot] {
        let all = (serviceHead?.slots ?? []) + (personFile?.head.slots ?? [])
        guard let register else { return all }
        return all.filter { register.slot($0.id)?.isListing($0) ?? false }.sorted { $0.id < $1.id }
    }

    /// The slots that open the vault, ascending by id. A slot that the register lists counts even if its file does not
    /// contain it yet: the next change by a person, or a rekey, writes it.
    var slotSummaries: [SlotSummary] {
        let found = slots
        guard let register else { return found.map { SlotSummary($0, in: nil) } }
        return register.slots.map { listed in
            SlotSummary(found.first { listed.isListing($0) } ?? KeySlot(listed), in: register)
        }.sorted { $0.id < $1.id }
    }
}

extension VaultDraft {
    /// Completes an addition that was interrupted between the two files, so that the holder of a listed slot can open
    /// the vault.
    mutating func completeSlots() {
        guard serviceFailure == nil else { return }
        for listed in register.slots where listed.reach.role == .service {
            guard !service.slots.contains(where: { listed.isListing($0) }) else { continue }
            var slot = KeySlot(listed)
            guard (try? slot.reseal(service.root, as: .resealed, vaultID: vaultID)) != nil else { continue }
            service.slots.removeAll { $0.id == listed.id }
            service.slots.append(slot)
        }
    }

    /// Adds a slot to its compartment and to the register.
    ///
    /// - Throws: `VaultError` `.locked`, `.tooLarge`, `.tooCostly`, `.invalidArgument`.
    @discardableResult
    mutating func add(_ prepared: PreparedSlot, label: String = "") throws(VaultError) -> SlotSummary {
        if hasPersons, person == nil { throw .needsPerson(place.path) }
        if prepared.reach == .whenUnlocked, person == nil { try addPersons() }
        var compartment = try self.compartment(prepared.reach == .whenUnlocked ? .whenUnlocked : .afterFirstUnlock)
        let trusted = hasPersons ? register.trustedKey : nil
        let slot = try prepared.slot(
            wrapping: compartment.root, id: takeSlotID(), createdAt: now, trusted: trusted)
        compartment.slots.append(slot)
        try compartment.slots.requireRoom(place.path, vaultID)
        set(compartment)
        register.slots.append(
            RegisteredSlot(
                id: slot.id, kind: slot.kind, reach: slot.reach, isVouchedFor: hasPersons, createdAt: slot.createdAt,
                addedBy: slotID, publicKey: slot.publicKey, parameters: slot.parameters, label: label))
        return SlotSummary(slot, in: register)
    }

    /// Creates the compartment of persons: its own root, and a person key that no service has known.
    private mutating func addPersons() throws(VaultError) {
        let root = RootKey.random()
        var person = CompartmentDraft(new: .person, root: root, period: service.period)
        guard let watermark = service.secrets.last(.watermarkKey) else {
            throw .corrupt(place.path, "It has no watermark key.")
        }
        person.secrets.set(
            try watermark.rewrapped(vaultID: vaultID, from: service.root, to: root, path: place.path))
        service.root.withUnsafeBytes { secret in
            person.secrets.set(SecretEntry(.serviceRoot, number: 0, secret, vaultID: vaultID, root: root))
        }
        register.person = Register.Person()
        try addPersonKey(to: &person, signedBy: service)
        service.secrets.remove(.personSeed)
        self.person = person
    }

    /// Adds a successor to the chain of person keys. The team key, if known or available, certifies a key that services
    /// do not know.
    ///
    /// - Parameter former: The compartment that contains the seed of the present person key.
    /// - Throws: `VaultError` `.teamKeyNeeded`, `.wrongTeamKey`, `.corrupt`.
    mutating func addPersonKey(
        to draft: inout CompartmentDraft, signedBy former: CompartmentDraft, knownToServices: Bool = false
    ) throws(VaultError) {
        let path = place.path(of: former.role)
        guard let last = register.chain.last, let entry = former.secrets[.personSeed, last.period] else {
            throw .corrupt(path, "It has no person key.")
        }
        let oldSeed = try entry.secret(vaultID: vaultID, root: former.root, path: path)
        let seed = SecretBytes.random(count: Ed25519.seedSize)
        guard let old = try? Ed25519.SigningKey(seed: oldSeed), let new = try? Ed25519.SigningKey(seed: seed),
            old.publicKey == last.key
        else { throw .corrupt(path, "Its person key is not the one in its register.") }
        let certificate =
            knownToServices
            ? PersonKeyEntry.noSignature : try certificate(of: new.publicKey, period: draft.period)
        let message = PersonKeyEntry.linkMessage(
            vaultID: vaultID, period: draft.period, from: old.publicKey, to: new.publicKey)
        register.chain.append(
            PersonKeyEntry(
                period: draft.period, isKnownToServices: knownToServices, key: new.publicKey, link: old.sign(message),
                certificate: certificate))
        register.chain = register.chain.suffix(PersonKeyEntry.maximumCount)
        draft.secrets.remove(.personSeed)
        seed.withUnsafeBytes { secret in
            draft.secrets.set(
                SecretEntry(.personSeed, number: draft.period, secret, vaultID: vaultID, root: draft.root))
        }
    }

    /// Removes a slot from its compartment and from the register. Its holder still knows the root until a rekey.
    mutating func remove(_ slot: RegisteredSlot) throws(VaultError) {
        if hasPersons, person == nil { throw .needsPerson(place.path) }
        var compartment = try self.compartment(slot.reach == .whenUnlocked ? .whenUnlocked : .afterFirstUnlock)
        compartment.slots.removeAll { $0.id == slot.id }
        set(compartment)
        register.slots.removeAll { $0.id == slot.id }
    }

    /// Refuses to remove the last slot of a vault or of its persons.
    ///
    /// - Throws: `VaultError` `.lastSlot`.
    func requireSlots(after removed: RegisteredSlot) throws(VaultError) {
        guard !register.slots.isEmpty else { throw lastSlot("It is the last slot; nothing would open the vault.") }
        guard !hasPersons || register.slots.contains(where: { $0.reach == .whenUnlocked }) else {
            throw lastSlot("It is the last slot of a person; without one, the slots could not be changed any more.")
        }
    }

    private func lastSlot(_ reason: String) -> VaultError {
        VaultError(
            .lastSlot, "remove a key slot from", place.path, reason,
            advice: "Add a passphrase or recipient first (sealctl vault slot add), or replace this one.")
    }
}

extension VaultError {
    /// Returns the error for a change to slots that needs a person.
    static func needsPerson(_ path: String) -> VaultError {
        VaultError(
            .locked, "change the key slots of", path, "Only a person may change its slots, and it is locked.",
            advice: "Unlock it with a passphrase or identity: sealctl vault unlock.")
    }
}

extension [KeySlot] {
    /// The slots reduced to fit into their area. A service can fill the area with unknown fields, which must not
    /// prevent adding, resealing or completing a slot.
    var withinArea: [KeySlot] {
        let size = reduce(0) { $0 + $1.encoded.count }
        return size > CompartmentHead.maximumSlotAreaSize ? map(\.withoutFields) : self
    }

    /// Checks the slots' total size and cost: a program that opens a vault with a passphrase tries the slots one after
    /// the other.
    ///
    /// - Throws: `VaultError` `.tooLarge`, `.tooCostly`.
    func requireRoom(_ path: String, _ vaultID: [UInt8]) throws(VaultError) {
        let passphrases = count { $0.kind == .passphrase }
        guard count <= CompartmentHead.maximumSlots, passphrases <= SlotSearch.maximumPassphraseSlots else {
            throw VaultError(
                .tooLarge, "add a key slot to", path,
                "A vault holds 32 slots of persons, 8 of them passphrases, and 32 slots of services.",
                advice: "Remove one that is not needed: sealctl vault slot list.")
        }
        guard SlotSearch(slots: self, vaultID: vaultID, path: path).totalWork <= .maximum else {
            throw VaultError(
                .tooCostly, "add a key slot to", path,
                "Its passphrase slots together would cost more to try than one slot may.",
                advice: "Choose a shorter unlock time, or remove another passphrase slot.")
        }
    }
}
