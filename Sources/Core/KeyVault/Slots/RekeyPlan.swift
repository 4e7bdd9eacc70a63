internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// The steps of a rekey on a draft.
struct RekeyPlan {
    private let removing: Set<UInt32>
    private let renewsPersons: Bool

    init(_ draft: VaultDraft, _ options: RekeyOptions) throws(VaultError) {
        removing = options.removing
        let removed = draft.register.slots.filter { options.removing.contains($0.id) }
        renewsPersons = options.renewsPersons || removed.contains { $0.reach == .whenUnlocked }
        guard draft.hasPersons else { return }
        // A slot number does not confirm a reach that no person has stated.
        let unvouched = draft.register.slots.filter { slot in
            let isKept = options.keeping.contains(slot.id) && slot.reach == .afterFirstUnlock
            return !slot.isVouchedFor && !options.removing.contains(slot.id) && !isKept
        }
        guard unvouched.isEmpty else {
            let remedy =
                unvouched.contains { $0.reach == .whenUnlocked }
                ? "Remove them too (--remove-slot ID); a slot that reaches the class \"when unlocked\" cannot be kept"
                : "Remove them too, or name each of them with --keep ID"
            throw VaultError(
                .unvouchedSlots, "rekey", draft.place.path,
                "No person vouched for \(unvouched.map { "slot \($0.id)" }.joined(separator: ", ")).",
                advice: "\(remedy); see sealctl vault slot list.")
        }
    }

    /// Creates the plan of a rekey whose first file is written.
    init(completing draft: VaultDraft) {
        removing = []
        renewsPersons = false
    }

    /// Changes the draft to the state of the first write, the only one in a vault without persons.
    func begin(_ draft: inout VaultDraft) throws(VaultError) {
        let removed = draft.register.slots.filter { removing.contains($0.id) }
        for slot in removed { try draft.remove(slot) }
        if let slot = removed.first { try draft.requireSlots(after: slot) }
        // A person who names a slot to keep vouches for it.
        if draft.hasPersons {
            draft.register.slots = draft.register.slots.map { slot in
                RegisteredSlot(
                    id: slot.id, kind: slot.kind, reach: slot.reach, isVouchedFor: true, createdAt: slot.createdAt,
                    addedBy: slot.addedBy, publicKey: slot.publicKey, parameters: slot.parameters, label: slot.label)
            }
        }
        let next = RootKey.random()
        let period = draft.register.period + 1
        guard period <= CompartmentHead.maximumPeriod else {
            throw VaultError(
                .tooLarge, "rekey", draft.place.path, "Its periods are used up.",
                advice: "Create a new vault and move the records and items into it.")
        }
        if var person = draft.person {
            if renewsPersons { try renewPersons(&person, &draft, period: period) }
            person.period = period
            person.generation = 0
            next.withUnsafeBytes { secret in
                person.secrets.set(
                    SecretEntry(.serviceRoot, number: 1, secret, vaultID: draft.vaultID, root: person.root))
            }
            draft.person = person
            draft.register.nextRoot = next.commitment
        }
        try renewService(&draft, root: next)
        if !draft.hasPersons { draft.register.root = next.commitment }
    }

    /// Runs the second and the third write.
    func finish(
        _ draft: inout VaultDraft, isSecondWritten: Bool = false,
        write: (inout VaultDraft, CompartmentRole) throws(VaultError) -> Void
    ) throws(VaultError) {
        if !isSecondWritten { try write(&draft, .service) }
        draft.register.root = draft.service.root.commitment
        draft.register.nextRoot = nil
        draft.service.oldRoot = nil
        if var person = draft.person {
            draft.service.root.withUnsafeBytes { secret in
                person.secrets.set(
                    SecretEntry(.serviceRoot, number: 0, secret, vaultID: draft.vaultID, root: person.root))
            }
            person.secrets.remove(.serviceRoot, 1)
            draft.person = person
        }
        try write(&draft, .person)
    }

    /// Renews the service root: wraps the keys again, reseals the slots, and continues sealing in the next epoch.
    func renewService(_ draft: inout VaultDraft, root: RootKey) throws(VaultError) {
        let former = draft.service
        var service = former
        let old = service.root
        let path = draft.place.path
        service.items = try service.loadItems(draft.place)
        service.oldRoot = old
        service.root = root
        service.period = draft.person?.period ?? service.period + 1
        service.generation = 0
        // Entries that a service planted must not prevent its removal.
        var secrets = SecretTable()
        if let entry = service.secrets.last(.watermarkKey) {
            secrets.set(try entry.rewrapped(vaultID: draft.vaultID, from: old, to: root, path: path))
        }
        for entry in service.secrets.all(.logKey) where entry.number <= former.period {
            let carried = try? entry.rewrapped(vaultID: draft.vaultID, from: old, to: root, path: path)
            if let carried { secrets.set(carried) }
        }
        service.secrets = secrets
        // No omitted key may share its epoch with a new one.
        service.epochFloor = max(service.epochFloor, service.keyring.map(\.epoch).max() ?? 0)
        service.makeRoomForKey(after: service.state.rotation.minimumEpoch, draft.place)
        ScratchMemory.withSecret(count: 32) { key in
            SecureRandom.fill(key)
            service.secrets.set(
                SecretEntry(
                    .logKey, number: service.period, UnsafeRawBufferPointer(key), vaultID: draft.vaultID, root: root))
        }
        try rewrap(&service, from: old, draft)
        service.renewTokenKeys(from: old, vaultID: draft.vaultID, at: draft.now, path: path)
        let epoch = try service.beginEpoch(.afterFirstUnlock, vaultID: draft.vaultID, at: draft.now, path: path)
        // Without an active key a service can state any minimum.
        service.state.rotation.minimumEpoch = min(service.state.rotation.minimumEpoch, epoch)
        service.state.rotation.stage = .resealing
        service.state.rotation.began = draft.now
        if !draft.hasPersons { try draft.addPersonKey(to: &service, signedBy: former, knownToServices: true) }
        draft.service = service
    }

    /// Renews the person root and the person key.
    private func renewPersons(
        _ person: inout CompartmentDraft, _ draft: inout VaultDraft, period: UInt32
    ) throws(VaultError) {
        let old = person.root
        let path = draft.place.path(of: .person)
        let former = person
        person.items = try person.loadItems(draft.place)
        person.oldRoot = old
        person.root = RootKey.random()
        person.period = period
        var secrets = SecretTable()
        for entry in person.secrets.entries where entry.kind != .personSeed {
            secrets.set(try entry.rewrapped(vaultID: draft.vaultID, from: old, to: person.root, path: path))
        }
        person.secrets = secrets
        try rewrap(&person, from: old, draft)
        try draft.addPersonKey(to: &person, signedBy: former)
        guard !person.keyring.isEmpty else { return }
        person.makeRoomForKey(after: draft.register.person?.rotation.minimumEpoch ?? 1, draft.place)
        try person.beginEpoch(.whenUnlocked, vaultID: draft.vaultID, at: draft.now, path: path)
        draft.register.person?.rotation.stage = .resealing
        draft.register.person?.rotation.began = draft.now
    }

    /// Wraps keys, item keys and slots under a new root.
    private func rewrap(
        _ compartment: inout CompartmentDraft, from old: RootKey, _ draft: VaultDraft
    ) throws(VaultError) {
        let (vaultID, root, path) = (draft.vaultID, compartment.root, draft.place.path(of: compartment.role))
        var keyring: [KeyringEntry] = []
        for entry in compartment.keyring {
            do throws(VaultError) {
                keyring.append(try entry.rewrapped(from: (vaultID, old, path), to: (vaultID, root)))
            } catch {
                // The entries stay the same; one that a service planted opens nothing, before and after.
                guard compartment.role == .service else { throw error }
                compartment.losses.keys.append(RekeyLosses.Key(entry))
            }
        }
        compartment.keyring = keyring
        if let items = compartment.items {
            let values = ItemValues(vaultID: vaultID, path: path)
            // A damaged item stays as it is: it must not prevent a rekey.
            compartment.items = try items.mapEntries { entry throws(VaultError) in
                (try? values.rewrapped(entry, from: old, to: root, in: vaultID)) ?? entry
            }
        }
        var slots: [KeySlot] = []
        // Read from the register: a slot that was changed in its file must not lock its holder out.
        for listed in draft.register.slots where listed.reach.role == compartment.role {
            let found = compartment.slots.first { listed.isListing($0) }
            // The code of a slot in a file that does not open cannot be verified.
            if found == nil || compartment.losses.isCompartmentLost {
                compartment.losses.rebuiltSlots.append(listed.id)
            }
            var slot = found ?? KeySlot(listed)
            do throws(CryptoError) { try slot.reseal(root, as: .resealed, vaultID: vaultID) } catch {
                throw .corrupt(path, "Slot \(slot.id) has a public key to which nothing can be sealed.")
            }
            slots.append(slot)
        }
        compartment.slots = slots
    }
}

extension CompartmentDraft {
    /// Begins the next epoch: creates an active key and makes the previous one opening-only.
    ///
    /// - Throws: `VaultError` `.tooLarge`.
    @discardableResult
    mutating func beginEpoch(
        _ protection: ProtectionClass, vaultID: [UInt8], at now: UInt64, path: String
    ) throws(VaultError) -> UInt32 {
        let highest = max(keyring.map(\.epoch).max() ?? 0, epochFloor)
        guard highest < KeyringEntry.maximumEpoch(period: period), keyring.count < KeyringEntry.maximumCount else {
            throw VaultError(
                .tooLarge, "rotate the keys of", path, "Its epochs are used up in this period.",
                advice: "Begin another: sealctl vault rekey.")
        }
        for index in keyring.indices where keyring[index].state == .active { keyring[index].state = .decryptOnly }
        keyring.append(
            .random(epoch: highest + 1, protection: protection, createdAt: now, vaultID: vaultID, root: root))
        return highest + 1
    }

    /// The number of keys that a rekey keeps of a full keyring.
    private static var keptKeyCount: Int { KeyringEntry.maximumCount / 2 }

    /// Removes keys from a full keyring, because a service could fill it to prevent its removal. Keys that no longer
    /// open anything go first. Then the active key, those with the most blobs in the container, and the newest are
    /// kept.
    fileprivate mutating func makeRoomForKey(after minimum: UInt32, _ place: VaultPlace) {
        guard keyring.count >= KeyringEntry.maximumCount else { return }
        var left = keyring.filter { $0.state == .destroyed || $0.epoch < minimum }
        var kept = keyring.filter { $0.state != .destroyed && $0.epoch >= minimum }
        if kept.count > Self.keptKeyCount {
            // Directories that cannot be searched count for no key.
            let uses = (try? OrphanCheck(place.accessGroup, in: place.home).keyUses()) ?? [:]
            func rank(_ entry: KeyringEntry) -> (Int, Int, UInt32) {
                (entry.state == .active ? 1 : 0, uses[KeySummary(entry).id] ?? 0, entry.epoch)
            }
            let ranked = kept.map { (rank: rank($0), entry: $0) }.sorted { $0.rank > $1.rank }.map(\.entry)
            left += ranked.dropFirst(Self.keptKeyCount)
            kept = ranked.prefix(Self.keptKeyCount).sorted { $0.epoch < $1.epoch }
        }
        losses.keys += left.filter { $0.state != .destroyed }.map(RekeyLosses.Key.init)
        losses.keys.sort { $0.epoch < $1.epoch }
        keyring = kept
    }

    /// Wraps token keys under the new root, and creates a key for new digests.
    fileprivate mutating func renewTokenKeys(
        from old: RootKey, vaultID: [UInt8], at now: UInt64, path: String
    ) {
        let former = tokenKeys
        let carried = former.compactMap { entry -> TokenKeyEntry? in
            // An entry that does not open is planted or damaged: it must not prevent a rekey.
            var carried = try? entry.rewrapped(from: (vaultID, old, path), to: (vaultID, root))
            carried?.state = .checksOnly
            return carried
        }
        tokenKeys = carried.suffix(TokenKeyEntry.maximumCount - 1)
        losses.tokenKeyCount += former.count - tokenKeys.count
        tokenKeys.append(.random(vaultID: vaultID, createdAt: now, root: root))
    }
}

extension RekeyLosses.Key {
    fileprivate init(_ entry: KeyringEntry) {
        let summary = KeySummary(entry)
        self.init(id: "\(summary.id)", epoch: summary.epoch)
    }
}
