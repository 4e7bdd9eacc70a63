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
}

/// Rekey: new roots, so that former members lose access to everything written afterwards (`docs/vault.md`, section 11).
extension Vault {
    /// Begins a new period: replaces the roots, reseals every slot that stays to its holder's public key, wraps all keys
    /// again, and begins a rotation.
    ///
    /// Removing a service renews the service root only; removing a person renews both. A former member who can still write
    /// the container can plant blobs of the old epochs until the rotation is completed (`SealedStore.rotate`): only then
    /// is the member removed for good.
    /// - Parameter team: The team key, where one is known and persons get a new person key. A rekey that keeps theirs does
    ///   not need it.
    /// - Returns: The slots that were removed and that stay. The call is complete: all files are written.
    /// - Throws: `VaultError` `.teamKeyNeeded` or `.wrongTeamKey` before anything is changed; `.slotNotFound`; `.lastSlot`; `.unvouchedSlots` where slots that no person vouched for would
    ///   stay and are not named; `.locked` in a vault with persons that is locked; those of every change.
    @discardableResult
    public func rekey(
        _ rekeying: RekeyOptions = RekeyOptions(), certifiedBy team: TeamKey? = nil
    ) throws(VaultError) -> RekeyReport {
        // Once: a look at the files shows a rekey that another program left.
        try reload()
        try completeRekey()
        let lock = try lockForChange()
        let contents = try freshContents()
        publish(contents)
        guard contents.register?.nextRoot == nil else {
            throw VaultError(
                .lockTimeout, "rekey", path, "Another rekey was begun and is not completed.",
                advice: "Unlock the vault and try again.")
        }
        var draft = try rekeyDraft(of: contents)
        draft.certifier = team
        for id in rekeying.removing { try requireSlot(id, in: draft.register) }
        let summaries = contents.slotSummaries
        guard rekeying.confirmed?.isSuperset(of: summaries.map(\.id)) ?? true else {
            throw VaultError(
                .lockTimeout, "rekey", path, "A slot was added since its slots were confirmed.", advice: "Try again.")
        }
        let plan = try RekeyPlan(draft, rekeying, summaries)
        try plan.begin(&draft)
        do throws(VaultError) {
            if draft.hasPersons {
                try write(
                    &draft, after: contents, under: lock, [.person], .rekeyed, nil, isForced: true, publishing: false)
                try? keys.shareAgain(person: draft.person?.root)
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
            kept: heldContents.slotSummaries)
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
        guard let person = draft.person,
            let entry = person.secrets[.serviceRoot, 1]
        else { throw .corrupt(place.path(of: .person), "It has no next root.") }
        let root = RootKey(
            try entry.secret(vaultID: draft.vaultID, root: person.root, path: place.path(of: .person)))
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

/// The steps of a rekey on a draft.
struct RekeyPlan {
    private let removing: Set<UInt32>
    private let renewsPersons: Bool

    init(_ draft: VaultDraft, _ options: RekeyOptions, _ summaries: [SlotSummary]) throws(VaultError) {
        removing = options.removing
        let removed = draft.register.slots.filter { options.removing.contains($0.id) }
        renewsPersons = options.renewsPersons || removed.contains { $0.reach == .whenUnlocked }
        guard !draft.hasPersons else {
            let unvouched = draft.register.slots.filter {
                !$0.isVouchedFor && !options.removing.contains($0.id) && !options.keeping.contains($0.id)
            }
            guard unvouched.isEmpty else {
                throw VaultError(
                    .unvouchedSlots, "rekey", draft.place.path,
                    "No person vouched for \(unvouched.map { "slot \($0.id)" }.joined(separator: ", ")).",
                    advice: "Remove them too, or keep them by name: sealctl vault rekey --keep ID.")
            }
            return
        }
    }

    /// For a rekey whose first file is written.
    init(completing draft: VaultDraft) {
        removing = []
        renewsPersons = false
    }

    /// Changes the draft to the state of the first write; without persons that is the only one.
    func begin(_ draft: inout VaultDraft) throws(VaultError) {
        let removed = draft.register.slots.filter { removing.contains($0.id) }
        for slot in removed { try draft.remove(slot) }
        if let slot = removed.first { try draft.requireSlots(after: slot) }
        // Whoever names a slot for keeping vouches for it.
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
                advice: "Make a new vault and move the records and items into it.")
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

    /// The second and the third write.
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

    /// New service root: keys are wrapped again, slots are resealed, and sealing goes on in the next epoch.
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
        // What a service has planted there must not keep persons from removing it.
        var secrets = SecretTable()
        if let entry = service.secrets.last(.watermarkKey) {
            secrets.set(try entry.rewrapped(vaultID: draft.vaultID, from: old, to: root, path: path))
        }
        for entry in service.secrets.all(.logKey) where entry.number <= former.period {
            let carried = try? entry.rewrapped(vaultID: draft.vaultID, from: old, to: root, path: path)
            if let carried { secrets.set(carried) }
        }
        service.secrets = secrets
        service.makeRoomForKey()
        ScratchMemory.withSecret(count: 32) { key in
            SecureRandom.fill(key)
            service.secrets.set(
                SecretEntry(
                    .logKey, number: service.period, UnsafeRawBufferPointer(key), vaultID: draft.vaultID, root: root))
        }
        try rewrap(&service, from: old, draft)
        try service.renewTokenKeys(from: old, vaultID: draft.vaultID, at: draft.now, path: path)
        try service.beginEpoch(.afterFirstUnlock, vaultID: draft.vaultID, at: draft.now, path: path)
        service.state.rotation.stage = .resealing
        service.state.rotation.began = draft.now
        if !draft.hasPersons { try draft.addPersonKey(to: &service, signedBy: former, knownToServices: true) }
        draft.service = service
    }

    /// New person root and person key.
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
        try person.beginEpoch(.whenUnlocked, vaultID: draft.vaultID, at: draft.now, path: path)
        draft.register.person?.rotation.stage = .resealing
        draft.register.person?.rotation.began = draft.now
    }

    /// Keys, item keys and slots under a new root.
    private func rewrap(
        _ compartment: inout CompartmentDraft, from old: RootKey, _ draft: VaultDraft
    ) throws(VaultError) {
        let (vaultID, root, path) = (draft.vaultID, compartment.root, draft.place.path(of: compartment.role))
        var keyring: [KeyringEntry] = []
        for entry in compartment.keyring {
            do throws(VaultError) {
                keyring.append(try entry.rewrapped(from: (vaultID, old, path), to: (vaultID, root)))
            } catch {
                // The same; what a service planted there opens nothing, before and after.
                guard compartment.role == .service else { throw error }
            }
        }
        compartment.keyring = keyring
        if let items = compartment.items {
            let values = ItemValues(vaultID: vaultID, path: path)
            // An item that does not open stays as it is, damaged: it must not keep persons from a rekey.
            compartment.items = try items.mapEntries { entry throws(VaultError) in
                (try? values.rewrapped(entry, from: old, to: root, in: vaultID)) ?? entry
            }
        }
        var slots: [KeySlot] = []
        // From the register: a slot that was changed in its file must not lock its holder out.
        for listed in draft.register.slots where listed.reach.role == compartment.role {
            var slot = compartment.slots.first { listed.isListing($0) } ?? KeySlot(listed)
            do throws(CryptoError) { try slot.reseal(root, as: .resealed, vaultID: vaultID) } catch {
                throw .corrupt(path, "Slot \(slot.id) has a public key that cannot be sealed to.")
            }
            slots.append(slot)
        }
        compartment.slots = slots
    }
}

extension CompartmentDraft {
    /// Goes on to the next epoch: a fresh active key, and the one before opens only.
    ///
    /// - Throws: `VaultError` `.tooLarge`.
    @discardableResult
    mutating func beginEpoch(
        _ protection: ProtectionClass, vaultID: [UInt8], at now: UInt64, path: String
    ) throws(VaultError) -> UInt32 {
        let highest = keyring.map(\.epoch).max() ?? 0
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

    /// Forgets keys that open nothing any more where the keyring is full: a service could fill it against its removal.
    fileprivate mutating func makeRoomForKey() {
        let minimum = state.rotation.minimumEpoch
        while keyring.count >= KeyringEntry.maximumCount,
            let index = keyring.firstIndex(where: { $0.state == .destroyed || $0.epoch < minimum })
        {
            keyring.remove(at: index)
        }
    }

    /// Wraps token keys under the new root. New digests get a new key.
    fileprivate mutating func renewTokenKeys(
        from old: RootKey, vaultID: [UInt8], at now: UInt64, path: String
    ) throws(VaultError) {
        var entries: [TokenKeyEntry] = []
        for entry in tokenKeys {
            var carried = try entry.rewrapped(from: (vaultID, old, path), to: (vaultID, root))
            carried.state = .checksOnly
            entries.append(carried)
        }
        tokenKeys = entries.suffix(TokenKeyEntry.maximumCount - 1)
        tokenKeys.append(.random(vaultID: vaultID, createdAt: now, root: root))
    }
}
