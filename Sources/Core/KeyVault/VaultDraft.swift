internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// A vault that is being changed: what will be written if the change goes well.
struct VaultDraft {
    let place: VaultPlace
    let vaultID: [UInt8]
    /// Milliseconds since 1970.
    let now: UInt64
    var tagger: NameTagger
    var service: CompartmentDraft
    /// Nil where the change does not need it, and without persons.
    var person: CompartmentDraft?
    var register: Register
    var names: NameList
    private let oldRegister: Register
    private let oldNames: Set<Bytes16>
    /// The slot that opened the vault; 0 where that is unknown.
    let slotID: UInt32
    /// The team key at hand, which certifies a new person key.
    var certifier: TeamKey?
    /// Why `vault` does not open. Then `service` stands for nothing, and the draft changes the person compartment alone.
    private(set) var serviceFailure: VaultError?
    /// Whether `vault` opens, and only an older write of it is there than this user's programs have seen.
    let isServiceOlder: Bool
    /// Whether the vault is being made, so that no memory of another one decides about it.
    let isNew: Bool
    /// Whether `service` takes the place of a compartment that is given up, or only of its index of items.
    var isRebuilt: Bool { service.losses.isItemIndexLost || service.losses.isCompartmentLost }

    /// - Parameter person: The person root and what it opens, for changes that need it.
    init(
        _ contents: VaultContents, root: RootKey, person: (root: RootKey, contents: CompartmentContents)?,
        slotID: UInt32?, place: VaultPlace
    ) throws(VaultError) {
        if let failure = contents.personFailure { throw failure }
        guard let register = contents.register else {
            throw .missing(place.path(of: .person), "The compartment of persons is gone; nothing is changed meanwhile.")
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
            // Persons change what is theirs while the other file is damaged.
            guard let person else { throw error }
            service = CompartmentDraft(
                new: .service, root: try person.contents.serviceRoot(0, root: person.root), period: register.period)
            // What the holders have made to recognise the vault by is theirs, whatever the rest is.
            service.slots = contents.serviceSlots.filter { slot in register.slot(slot.id)?.isListing(slot) ?? false }
            serviceFailure = error
        }
    }

    /// A vault that is being made: secrets and a first token key, no slots and no sealing keys.
    ///
    /// - Parameters:
    ///   - vaultID: Random, or of the backup that it is restored from.
    ///   - period: The first, or the one that a restored vault goes on with.
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
            throw VaultError(.invalidArgument, "make the vault", place.path, "Its person key could not be made.")
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

    /// The files that have to be written.
    var changedFiles: Set<CompartmentRole> {
        var files: Set<CompartmentRole> = []
        if serviceFailure == nil, service.isChanged { files.insert(.service) }
        let isRegisterChanged = register != oldRegister || names.tags != oldNames
        if let person, person.isChanged { files.insert(.person) }
        if isRegisterChanged { files.insert(hasPersons ? .person : .service) }
        return files
    }

    /// A number for a new slot; none is given twice in a vault's life. After the last one the next is 0, and a register
    /// with that is not signed.
    mutating func takeSlotID() -> UInt32 {
        defer { register.nextSlotID &+= 1 }
        return register.nextSlotID
    }

    /// The draft of a class's compartment.
    ///
    /// - Throws: `VaultError` `.locked` for *when unlocked* in a vault without persons, or without a person at hand.
    func compartment(_ protection: ProtectionClass) throws(VaultError) -> CompartmentDraft {
        guard protection == .whenUnlocked else {
            if let serviceFailure { throw serviceFailure }
            return service
        }
        guard let person else { throw lacksPerson }
        return person
    }

    /// The refusal of *when unlocked* to a draft without a person.
    private var lacksPerson: VaultError { hasPersons ? .needsUnlock(place.path) : .noPersons(place.path) }

    mutating func set(_ draft: CompartmentDraft) {
        if draft.role == .person { person = draft } else { service = draft }
    }

    /// Brings the register in line with the person compartment, and signs it.
    ///
    /// - Parameter generation: Of the file that the register is in.
    /// - Throws: `VaultError` `.tooLarge` where the numbers of slots are used up; `.corrupt`.
    mutating func signRegister(generation: UInt64) throws(VaultError) {
        guard register.nextSlotID != 0 else {
            throw VaultError(
                .tooLarge, "add a key slot to", place.path, "All numbers of key slots were given out.",
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
            throw .corrupt(place.path(of: signer.role), "Its person key is not that of its register.")
        }
        register.sign(with: key)
    }

    /// The bytes of a compartment as it will be written, read as its reader will read them: nothing that a reader refuses
    /// gets a name.
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

    /// Opens every part that is sealed anew. The others keep the bytes that were read.
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

    /// The list of names under the service root; during a rekey under the next one as well.
    private func namesParts() throws(VaultError) -> [(PartNumber, [UInt8], RootKey)] {
        let bytes = names.encoded
        guard let next = nextServiceRoot else { return [(.names, bytes, service.root)] }
        return [(.names, bytes, service.oldRoot ?? service.root), (.nextNames, bytes, next)]
    }

    /// The write that a compartment's next file will be.
    func nextWrite(_ role: CompartmentRole) -> VaultWrite {
        let compartment = role == .person ? person : service
        return VaultWrite(
            role, period: compartment?.period ?? service.period, generation: (compartment?.generation ?? 0) + 1)
    }

    /// Puts a fresh service compartment in the place of one that is beyond repair, for a rekey: without items, sealing keys,
    /// token keys and log keys, with the memory codes that the damaged file shows. Where only the index of items is damaged,
    /// the rest stays.
    ///
    /// - Parameter obstacle: Why a rekey that was begun could not be completed.
    /// - Throws: `VaultError` `.invalidArgument`, or the obstacle, where the compartment opens; `.tooLarge` where no epoch is
    ///   later than those of the period; `.corrupt`.
    mutating func rebuildServices(after obstacle: VaultError?) throws(VaultError) {
        guard serviceFailure != nil else {
            // While a rekey is pending its completion gives up the items: nothing else is lost.
            if let obstacle { throw obstacle }
            giveUpDamagedItems()
            guard service.losses.isEmpty else { return }
            throw VaultError(
                .invalidArgument, "give up the service compartment of", place.path, "It opens.",
                advice: "If it was given up before, bring a backup in first: sealctl vault import, then sealctl vault "
                    + "rotate. Else rekey without giving it up: sealctl vault rekey.")
        }
        guard let person, let opened = person.old, let watermark = person.secrets.last(.watermarkKey) else {
            throw lacksPerson
        }
        var fresh = CompartmentDraft(
            new: .service, root: try opened.serviceRoot(0, root: person.root), period: register.period)
        fresh.secrets.set(
            try watermark.rewrapped(
                vaultID: vaultID, from: person.root, to: fresh.root, path: place.path(of: .person)))
        // No key of a period has a later epoch: a backup that comes in later brings no key of the new one's.
        fresh.epochFloor = KeyringEntry.maximumEpoch(period: register.period)
        guard fresh.epochFloor < .max else {
            throw VaultError(
                .tooLarge, "give up the service compartment of", place.path,
                "In period \(register.period) no epoch is left that the damaged file cannot have had.",
                advice: "Restore the file from a copy, or start anew: sealctl init --abandon.")
        }
        // Nothing vouches for the file: a holder refuses a wrong code, and nobody a field.
        fresh.slots = service.slots.map { $0.withoutFields }
        fresh.losses.isCompartmentLost = true
        service = fresh
        serviceFailure = nil
    }

    /// Goes on with a compartment that is older than one that was seen. Its next key has an epoch that no key of a later
    /// write had.
    ///
    /// - Parameter count: The number of writes that are lost, as `RekeyLosses.lostWriteCount`; nil for none.
    mutating func takeOlderService(_ count: UInt64?, _ minimum: SeenMinimum) {
        guard let count else { return }
        // Blobs of the epochs that were retired stay refused.
        if minimum.period == service.period {
            service.state.rotation.minimumEpoch = max(service.state.rotation.minimumEpoch, minimum.epoch)
        }
        service.losses.isCompartmentOlder = true
        service.losses.lostWriteCount = count
        service.epochFloor = KeyringEntry.maximumEpoch(period: service.period)
    }

    /// Leaves out the items of *after first unlock* where their index does not open.
    mutating func giveUpDamagedItems() {
        guard (try? service.loadItems(place)) == nil else { return }
        service.items = .empty
        service.losses.isItemIndexLost = true
    }

    /// During a rekey the root that `vault` will have.
    var nextServiceRoot: RootKey? { register.nextRoot == nil ? nil : service.root }
}

extension VaultError {
    static func noPersons(_ path: String) -> VaultError {
        VaultError(
            .locked, "use the vault", path, "None of its key slots reaches what is protected \"when unlocked\".",
            advice: "Add a passphrase or recipient slot first: sealctl vault slot add.")
    }
}
