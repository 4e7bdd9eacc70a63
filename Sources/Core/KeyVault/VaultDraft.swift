internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A vault under change, with the contents to write.
struct VaultDraft {
    let place: VaultPlace
    let vaultID: [UInt8]
    /// Milliseconds since 1970.
    let now: UInt64
    var tagger: NameTagger
    var service: CompartmentDraft
    /// `nil` if the change does not need it, and without persons.
    var person: CompartmentDraft?
    var register: Register
    var names: NameList
    private let oldRegister: Register
    private let oldNames: Set<Bytes16>
    /// The slot that opened the vault; 0 if unknown.
    let slotID: UInt32
    /// The available team key, which certifies a new person key.
    var certifier: TeamKey?
    /// The reason why `vault` does not open. Then `service` is a placeholder, and the draft changes only the person
    /// compartment.
    private(set) var serviceFailure: VaultError?
    /// `true` if `vault` opens but is an older write than this user's programs have seen.
    let isServiceOlder: Bool
    /// `true` for a new vault, so that no memory of another one decides about it.
    let isNew: Bool
    /// `true` if `service` replaces a compartment that is given up, or only its index of items.
    var isRebuilt: Bool { service.losses.isItemIndexLost || service.losses.isCompartmentLost }

    /// - Parameter person: The person root and the contents that it opens, for changes that need it.
    init(
        _ contents: VaultContents, root: RootKey, person: (root: RootKey, contents: CompartmentContents)?,
        slotID: UInt32?, place: VaultPlace
    ) throws(VaultError) {
        if let failure = contents.personFailure { throw failure }
        guard let register = contents.register else {
            throw .missing(place.path(of: .person), "The compartment of persons is missing, so nothing was changed.")
        }
        self.place = place
        self.register = register
        oldRegister = register
        vaultID = contents.vaultID
        now = WallClock.milliseconds()
        tagger = contents.tagger
        names = contents.names
        oldNames = contents.names.tags
        self.slotID = slotID ?? 0
        isServiceOlder = contents.isServiceOlder
        isNew = false
        self.person = person.map { CompartmentDraft($0.contents, root: $0.root, register: register) }
        do throws(VaultError) {
            service = CompartmentDraft(try contents.service, root: root, register: register)
        } catch {
            // Persons can change their own contents while the other file is damaged.
            guard let person else { throw error }
            service = CompartmentDraft(
                new: .service, root: try person.contents.serviceRoot(0, root: person.root), period: register.period)
            // The holders' memory codes remain theirs, even if the rest is damaged.
            service.slots = contents.serviceSlots.filter { slot in register.slot(slot.id)?.isListing(slot) ?? false }
            serviceFailure = error
        }
    }

    /// Creates the draft of a new vault: secrets and a first token key, no slots and no sealing keys.
    ///
    /// - Parameters:
    ///   - vaultID: Random, or that of the backup that is restored.
    ///   - period: The first period, or the one in which a restored vault continues.
    init(making vaultID: [UInt8], period: UInt32 = 1, place: VaultPlace) throws(VaultError) {
        let root = RootKey.random()
        self.place = place
        self.vaultID = vaultID
        now = WallClock.milliseconds()
        slotID = 0
        isServiceOlder = false
        isNew = true
        var service = CompartmentDraft(new: .service, root: root, period: period)
        let watermark = SecretBytes.random(count: 32)
        let seed = SecretBytes.random(count: Ed25519.seedSize)
        guard let key = try? Ed25519.SigningKey(seed: seed) else {
            throw VaultError(.invalidArgument, "make the vault", place.path, "Its person key could not be created.")
        }
        for (kind, number) in [(SecretEntry.Kind.watermarkKey, 0), (.logKey, period), (.personSeed, period)] {
            let secret =
                kind == .watermarkKey ? watermark.copied() : kind == .personSeed ? seed.copied() : .random(count: 32)
            secret.withUnsafeBytes {
                service.secrets.set(SecretEntry(kind, number: number, $0, vaultID: vaultID, root: root))
            }
        }
        service.tokenKeys = [.random(vaultID: vaultID, createdAt: now, root: root)]
        self.service = service
        register = Register(
            vaultID: vaultID, period: period,
            chain: [
                PersonKeyEntry(
                    period: period, isKnownToServices: true, key: key.publicKey, link: PersonKeyEntry.noSignature,
                    certificate: PersonKeyEntry.noSignature)
            ], root: root.commitment, watermarkCommitment: WatermarkCommitment.of(watermark))
        tagger = NameTagger(watermarkKey: watermark)
        names = NameList()
        oldRegister = register
        oldNames = []
    }

    var hasPersons: Bool { register.person != nil }

    /// The files to write.
    var changedFiles: Set<CompartmentRole> {
        var files: Set<CompartmentRole> = []
        if serviceFailure == nil, service.isChanged { files.insert(.service) }
        let isRegisterChanged = register != oldRegister || names.tags != oldNames
        if let person, person.isChanged { files.insert(.person) }
        if isRegisterChanged { files.insert(hasPersons ? .person : .service) }
        return files
    }

    /// Returns a number for a new slot, which no other slot of the vault ever gets. After the last number the next is
    /// 0, and a register with 0 is not signed.
    mutating func takeSlotID() -> UInt32 {
        defer { register.nextSlotID &+= 1 }
        return register.nextSlotID
    }

    /// Returns the draft of a class's compartment.
    ///
    /// - Throws: `VaultError` `.locked` for *when unlocked* in a vault without persons, or without an available person.
    func compartment(_ protection: ProtectionClass) throws(VaultError) -> CompartmentDraft {
        guard protection == .whenUnlocked else {
            if let serviceFailure { throw serviceFailure }
            return service
        }
        guard let person else { throw lacksPerson }
        return person
    }

    /// The error of a draft without a person for *when unlocked*.
    private var lacksPerson: VaultError { hasPersons ? .needsUnlock(place.path) : .noPersons(place.path) }

    mutating func set(_ draft: CompartmentDraft) {
        if draft.role == .person { person = draft } else { service = draft }
    }

    /// Updates the register from the person compartment, and signs it.
    ///
    /// - Parameter generation: The generation of the file with the register.
    /// - Throws: `VaultError` `.tooLarge` if the slot numbers are exhausted; `.corrupt`.
    mutating func signRegister(generation: UInt64) throws(VaultError) {
        guard register.nextSlotID != 0 else {
            throw VaultError(
                .tooLarge, "add a key slot to", place.path, "All numbers of key slots are used.",
                advice: "Move its contents to a new vault: sealctl vault export, then sealctl vault import.")
        }
        register.generation = generation
        let signer = person ?? service
        register.period = signer.period
        if let person {
            register.personRoot = person.root.commitment
            register.person?.keys = person.keyring.map {
                RegisteredKey(keyID: $0.keyID, epoch: $0.epoch, state: $0.state, createdAt: $0.createdAt)
            }
            register.person?.nameCount = UInt32(names.tags.count)
            register.person?.namesDigest = Register.digest(ofNames: names.encoded)
        }
        guard let seed = register.chain.last.flatMap({ signer.secrets[.personSeed, $0.period] }) else {
            throw .corrupt(place.path(of: signer.role), "It has no person key.")
        }
        let secret = try seed.secret(vaultID: vaultID, root: signer.root, path: place.path(of: signer.role))
        guard let key = try? Ed25519.SigningKey(seed: secret), key.publicKey == register.personKey else {
            throw .corrupt(place.path(of: signer.role), "Its person key is not the one in its register.")
        }
        register.sign(with: key)
    }

    /// Returns the bytes of a compartment to write, after reading them as their reader will: a file that a reader
    /// refuses never gets a name.
    ///
    /// - Throws: `VaultError` `.tooLarge`; `.corrupt` for contents that break a rule of the format.
    mutating func file(_ role: CompartmentRole) throws(VaultError) -> [UInt8] {
        guard role == .person else {
            if let serviceFailure { throw serviceFailure }
            service.generation += 1
            if !hasPersons { try signRegister(generation: service.generation) }
            let bytes = try service.file(
                place, vaultID: vaultID, register: hasPersons ? [] : register.signedBytes, names: [], at: now)
            try requireReadable(bytes, service)
            return bytes
        }
        guard person != nil else { throw lacksPerson }
        person?.generation += 1
        try signRegister(generation: person?.generation ?? 1)
        guard let person else { throw lacksPerson }
        let bytes = try person.file(
            place, vaultID: vaultID, register: register.signedBytes, names: try namesParts(), at: now)
        try requireReadable(bytes, person)
        return bytes
    }

    /// Opens every newly sealed part. The others keep the bytes that were read.
    private func requireReadable(_ bytes: [UInt8], _ draft: CompartmentDraft) throws(VaultError) {
        let path = place.path(of: draft.role)
        let file = try CompartmentFile(bytes, path: path)
        let contents = try CompartmentContents(file, root: draft.root, place: place)
        if draft.items != nil || draft.old?.head.period != draft.period {
            _ = try contents.items(root: draft.root, place: place)
        }
        guard draft.role == .person, let register = file.head.register else { return }
        try contents.check(draft.root, register, place)
        for (number, _, root) in try namesParts() {
            let sealing = try PartSealing(place, .person, period: draft.period, root: root)
            _ = try NameList(parsing: try contents.opened(number, sealing), register: register.person, path: path)
        }
    }

    /// Returns the list of names under the service root, and during a rekey also under the next one.
    private func namesParts() throws(VaultError) -> [(PartNumber, [UInt8], RootKey)] {
        let bytes = names.encoded
        guard let next = nextServiceRoot else { return [(.names, bytes, service.root)] }
        return [(.names, bytes, service.oldRoot ?? service.root), (.nextNames, bytes, next)]
    }

    /// Returns the write of a compartment's next file.
    func nextWrite(_ role: CompartmentRole) -> VaultWrite {
        let compartment = role == .person ? person : service
        return VaultWrite(
            role, period: compartment?.period ?? service.period, generation: (compartment?.generation ?? 0) + 1)
    }

    /// Replaces a service compartment beyond repair by an empty one, for a rekey: without items, sealing keys, token
    /// keys and log keys, with the memory codes of the damaged file. If only the index of items is damaged, the rest is
    /// kept.
    ///
    /// - Parameter obstacle: The reason why a pending rekey could not be completed.
    /// - Throws: `VaultError` `.invalidArgument`, or the obstacle, if the compartment opens; `.tooLarge` if no epoch is
    ///   later than those of the period; `.corrupt`.
    mutating func rebuildServices(after obstacle: VaultError?) throws(VaultError) {
        guard serviceFailure != nil else {
            // While a rekey is pending, its completion gives up the items: nothing else is lost.
            if let obstacle { throw obstacle }
            giveUpDamagedItems()
            guard service.losses.isEmpty else { return }
            throw VaultError(
                .invalidArgument, "abandon the service compartment of", place.path, "It opens.",
                advice:
                    "If it was abandoned before, import a backup first (sealctl vault import), then run sealctl vault "
                    + "rotate. Otherwise rekey without abandoning it: sealctl vault rekey.")
        }
        guard let person, let opened = person.old, let watermark = person.secrets.last(.watermarkKey) else {
            throw lacksPerson
        }
        var fresh = CompartmentDraft(
            new: .service, root: try opened.serviceRoot(0, root: person.root), period: register.period)
        fresh.secrets.set(
            try watermark.rewrapped(
                vaultID: vaultID, from: person.root, to: fresh.root, path: place.path(of: .person)))
        // No key of the period has a later epoch, so a backup imported later has no key of the new one's epoch.
        fresh.epochFloor = KeyringEntry.maximumEpoch(period: register.period)
        guard fresh.epochFloor < .max else {
            throw VaultError(
                .tooLarge, "abandon the service compartment of", place.path,
                "In period \(register.period) every remaining epoch may have been used by the damaged file.",
                advice: "Restore the file from a copy, or start again: sealctl init --abandon.")
        }
        // The file is not authenticated: a holder rejects a wrong code, but a wrong field would go unnoticed.
        fresh.slots = service.slots.map { $0.withoutFields }
        fresh.losses.isCompartmentLost = true
        service = fresh
        serviceFailure = nil
    }

    /// Continues with a compartment that is older than one that was seen. Its next key has an epoch that no key of a
    /// later write had.
    ///
    /// - Parameter count: The number of lost writes, as `RekeyLosses.lostWriteCount`; `nil` if nothing is lost.
    mutating func takeOlderService(_ count: UInt64?, _ minimum: SeenMinimum) {
        guard let count else { return }
        // Blobs of retired epochs stay refused.
        if minimum.period == service.period {
            service.state.rotation.minimumEpoch = max(service.state.rotation.minimumEpoch, minimum.epoch)
        }
        service.losses.isCompartmentOlder = true
        service.losses.lostWriteCount = count
        service.epochFloor = KeyringEntry.maximumEpoch(period: service.period)
    }

    /// Leaves out the items of *after first unlock* if their index does not open.
    mutating func giveUpDamagedItems() {
        guard (try? service.loadItems(place)) == nil else { return }
        service.items = .empty
        service.losses.isItemIndexLost = true
    }

    /// The next root of `vault` during a rekey.
    var nextServiceRoot: RootKey? { register.nextRoot == nil ? nil : service.root }
}

extension VaultError {
    static func noPersons(_ path: String) -> VaultError {
        VaultError(
            .locked, "use the vault", path, "None of its key slots reaches the class \"when unlocked\".",
            advice: "Add a passphrase or recipient slot first: sealctl vault slot add.")
    }
}
