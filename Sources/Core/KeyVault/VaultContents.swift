internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Both files of a vault as they were read, with all checks that need no key.
///
/// Damage to one file never affects the other class: each file has its own failure.
struct VaultFiles: Sendable {
    /// `nil` if `serviceFailure` is set.
    let service: CompartmentFile?
    /// `nil` without persons, and if `personFailure` is set.
    let person: CompartmentFile?
    /// `nil` only if the person compartment is missing or damaged: then a service continues with its own knowledge.
    let register: Register?
    let vaultID: [UInt8]
    let serviceFailure: VaultError?
    let personFailure: VaultError?
    /// The slots of `vault`, even if its other contents are refused.
    let serviceSlots: [KeySlot]

    /// Returns the slots of both files that the register lists: no others open the vault.
    func slots() -> [KeySlot] {
        let all = (person?.head.slots ?? []) + (service?.head.slots ?? [])
        guard let register else { return all }
        return all.filter { slot in register.slot(slot.id)?.isListing(slot) ?? false }
    }

    /// The period of the register, else of the service compartment.
    private var period: UInt32 { register?.period ?? service?.head.period ?? 0 }

    /// Returns the first bytes of both files, for comparing looks.
    func marks() -> [[UInt8]] { [service?.head.bytes ?? [], person?.head.bytes ?? []] }

    /// - Throws: `VaultError` `.replaced` for another fingerprint than the one that a person compared.
    func requireFingerprint(_ expected: String, _ place: VaultPlace) throws(VaultError) {
        guard let register else {
            throw personFailure ?? .missing(place.path(of: .person), "The compartment of persons is missing.")
        }
        guard register.fingerprint == expected else {
            throw .replaced(place.path, "Its fingerprint is \(register.fingerprint), not the one that was given.")
        }
    }

    /// Reads the files; returns `nil` if the vault has no files.
    ///
    /// - Parameters:
    ///   - memory: The knowledge of this user's programs about the place.
    ///   - team: The known team keys; `nil` checks no certificate, as for files that this process has just written.
    ///   - passingMode: Whether a `vault` that others may write or read is opened nevertheless.
    /// - Throws: `VaultError` `.replaced`, `.rolledBack`, `.forked`, `.missing`, `.corrupt`, `.unsupported`,
    ///   `.unsafeFile`, `.denied`, `.isAnExport`, `.file`; those of `team`.
    static func read(
        _ place: VaultPlace, in directory: Directory, memory: PlaceMemory?, team: KnownTeam?, passingMode: Bool = false
    ) throws(VaultError) -> VaultFiles? {
        // The person compartment first: a writer of both writes it first, and its register decides.
        let (person, personDamage) = try open(.person, in: directory)
        let (service, serviceDamage) = try open(.service, in: directory, passingMode: passingMode)
        guard person != nil || service != nil else {
            if let damage = personDamage ?? serviceDamage { throw damage }
            guard memory != nil else { return nil }
            throw .missing(place.path, "This user's programs have opened a vault there, and it is missing now.")
        }
        guard let person, let register = person.head.register else {
            let files = try withoutPersons(place, service, serviceDamage, personDamage, memory)
            if let register = files.register {
                try team?.check(register)
            } else {
                try team?.check(VaultFloor(period: files.period, keyPeriod: .max))
            }
            return files
        }
        try requireKnown(person.head, memory, place)
        try register.requireIdentity(of: person.head, path: place.path(of: .person))
        guard register.person != nil else {
            throw .corrupt(place.path(of: .person), "Its register belongs to another file.")
        }
        try register.check(against: memory, path: place.path)
        try team?.check(register)
        let failure = serviceDamage ?? mismatch(service, register, memory, place)
        return VaultFiles(
            service: failure == nil ? service : nil, person: person, register: register, vaultID: person.head.vaultID,
            serviceFailure: failure, personFailure: nil, serviceSlots: service?.head.slots ?? [])
    }

    /// Returns the files of a vault without persons, or without an intact person compartment.
    private static func withoutPersons(
        _ place: VaultPlace, _ service: CompartmentFile?, _ serviceDamage: VaultError?, _ personDamage: VaultError?,
        _ memory: PlaceMemory?
    ) throws(VaultError) -> VaultFiles {
        guard let service else { throw serviceDamage ?? .missing(place.path, "It is missing.") }
        try requireKnown(service.head, memory, place)
        if personDamage == nil, memory?.hasPersons != true, let register = service.head.register {
            try register.requireIdentity(of: service.head, path: place.path)
            guard register.person == nil else { throw .corrupt(place.path, "Its register belongs to another file.") }
            try register.check(against: memory, path: place.path)
            return VaultFiles(
                service: service, person: nil, register: register, vaultID: service.head.vaultID, serviceFailure: nil,
                personFailure: nil, serviceSlots: service.head.slots)
        }
        let failure =
            personDamage ?? .missing(place.path(of: .person), "The compartment of persons is missing.")
        guard let memory, memory.hasPersons, service.head.register == nil else { throw failure }
        guard service.head.period == memory.period else {
            throw .replaced(place.path, "Its period is not the one that this user's programs have seen.")
        }
        return VaultFiles(
            service: service, person: nil, register: nil, vaultID: service.head.vaultID, serviceFailure: nil,
            personFailure: failure, serviceSlots: service.head.slots)
    }

    private static func open(
        _ role: CompartmentRole, in directory: Directory, passingMode: Bool = false
    ) throws(VaultError) -> (CompartmentFile?, VaultError?) {
        do throws(VaultError) {
            return (try CompartmentFile.open(role, in: directory, passingMode: passingMode), nil)
        } catch {
            guard error.code != .file else { throw error }
            return (nil, error)
        }
    }

    private static func requireKnown(
        _ head: CompartmentHead, _ memory: PlaceMemory?, _ place: VaultPlace
    ) throws(VaultError) {
        guard memory.map({ $0.vaultID == head.vaultID }) ?? true else {
            throw .replaced(place.path, "It is not the vault that this user's programs have seen there.")
        }
    }

    /// Returns the reason why `vault` does not match the register; `nil` if it does.
    private static func mismatch(
        _ service: CompartmentFile?, _ register: Register, _ memory: PlaceMemory?, _ place: VaultPlace
    ) -> VaultError? {
        guard let head = service?.head else { return .missing(place.path, "The compartment of services is missing.") }
        guard head.vaultID == register.vaultID else { return .replaced(place.path, "It belongs to another vault.") }
        if head.period == register.period { return nil }
        guard let next = register.nextRoot, head.period &+ 1 == register.period else {
            return .replaced(place.path, "Its compartments belong to different periods.")
        }
        guard memory?.all.contains(where: { $0.root == next }) != true else {
            return VaultError(
                .rolledBack, "open the vault", place.path,
                "It belongs to a period that has ended for this user's programs.")
        }
        return nil
    }
}

extension Register {
    /// - Throws: `VaultError` `.corrupt` if the register was not written with the file.
    fileprivate func requireIdentity(of head: CompartmentHead, path: String) throws(VaultError) {
        guard vaultID == head.vaultID, period == head.period, generation == head.generation else {
            throw .corrupt(path, "Its register belongs to another write.")
        }
    }
}

extension Register {
    /// Compares the register with the knowledge of this user's programs about the place.
    ///
    /// - Throws: `VaultError` `.rolledBack`, `.forked`, `.replaced`.
    func check(against memory: PlaceMemory?, path: String) throws(VaultError) {
        guard let memory else { return }
        for other in memory.others { try check(against: other, path: path) }
        guard period >= memory.period else {
            throw VaultError(
                .rolledBack, "open the vault", path,
                "It is of period \(period); this user's programs have seen period \(memory.period).")
        }
        if let known = chain.first(where: { $0.key.bytes == memory.personKey }) {
            // A former team key certifies each of its periods.
            guard known.period != memory.keyPeriod else { return }
            throw VaultError(
                .replaced, "open the vault", path,
                "It has the person key that this user's programs know from period \(known.period) on; they have seen "
                    + "period \(memory.keyPeriod).",
                advice: "Ask the person who shares it with you; to continue with this vault: sealctl vault accept.")
        }
        let isFork = chain.contains { $0.key.bytes == memory.formerPersonKey }
        throw VaultError(
            isFork ? .forked : .replaced, "open the vault", path,
            isFork
                ? "Its keys of persons follow the one that this user's programs knew before, and not the one that they know."
                : "The persons who vouch for it are not those that this user's programs know.",
            advice: "Ask the person who shares it with you; to continue with this vault: sealctl vault accept.")
    }
}

/// The opened contents of a vault at one look: an immutable snapshot.
final class VaultContents: Sendable {
    /// The service compartment, or the reason why it is unavailable: then only *when unlocked* is available, to
    /// persons.
    private let opened: Result<CompartmentContents, VaultError>
    /// `nil` without persons, and if `personFailure` is set.
    let personFile: CompartmentFile?
    let personFailure: VaultError?
    /// The slots of `vault`, even if it does not open.
    let serviceSlots: [KeySlot]
    /// `nil` if the person compartment is missing.
    let register: Register?
    /// The names of all items and records of *when unlocked*.
    let names: NameList
    let tagger: NameTagger
    let keyring: Keyring
    /// `nil` if the service compartment cannot be opened.
    let logKeys: AccessLogKeys?
    /// The watermark key.
    let watermarkKey: SecretBytesBox
    private let person = Mutex<CompartmentContents?>(nil)
    /// The excess rights that `vault` gives to others, if its opener tolerates them.
    let modeFault: FileError?
    /// `true` if `vault` opens but is not used, because this user's programs have seen a later write.
    let isServiceOlder: Bool
    /// The highest minimum epoch of *after first unlock* that was seen, including that of `vault`.
    let seenMinimum: SeenMinimum
    /// `true` if `vault` opens with a lower minimum epoch than this user's programs have seen in its period.
    let isMinimumLowered: Bool

    /// The files' first bytes: while they are unchanged, so is everything else. Empty for a file that was refused.
    let marks: [[UInt8]]
    let vaultID: [UInt8]
    var vaultIDText: String { vaultID.withUnsafeBytes { $0.hexadecimal } }

    /// The service compartment.
    ///
    /// - Throws: `VaultError`, the reason why it could not be opened.
    var service: CompartmentContents { get throws(VaultError) { try opened.get() } }

    /// The head of the service compartment; `nil` if it could not be opened.
    var serviceHead: CompartmentHead? { (try? opened.get())?.head }

    /// - Parameters:
    ///   - root: The service root.
    ///   - person: The person root, if a person opens the vault: then a service compartment that cannot be opened is
    ///     recorded, not thrown.
    ///   - older: The reason why `vault` is not used although it opens.
    /// - Throws: `VaultError` `.replaced`, `.corrupt`, `.unsupported`, `.wrongGroup`, `.missing`.
    init(
        _ files: VaultFiles, root: RootKey, person: RootKey? = nil, place: VaultPlace, memory: PlaceMemory?,
        older: VaultError? = nil
    ) throws(VaultError) {
        modeFault = files.service?.modeFault
        isServiceOlder = older != nil
        register = files.register
        vaultID = files.vaultID
        serviceSlots = files.serviceSlots
        let service: CompartmentContents?
        var key: SecretBytesBox?
        do throws(VaultError) {
            if let older { throw older }
            let found = try Self.service(files, root, place, memory)
            opened = .success(found.contents)
            service = found.contents
            key = found.watermarkKey
        } catch {
            guard person != nil else { throw error }
            opened = .failure(error)
            service = nil
        }
        let (known, minimum) = (memory?.minimum ?? .none, service?.minimum ?? .none)
        seenMinimum = known.merged(with: minimum)
        isMinimumLowered = known.refuses(minimum)
        marks = [service == nil ? [] : files.marks()[0], files.marks()[1]]
        if service == nil, let file = files.person, let person {
            let persons = try CompartmentContents(file, root: person, place: place)
            key = try Self.watermarkKey(of: persons, person, files.vaultID, place)
        }
        guard let key else { throw .corrupt(place.path, "It has no watermark key.") }
        tagger = NameTagger(watermarkKey: key.secret)
        watermarkKey = key
        // Keys that do not open, which a service may have planted, block nothing for a person.
        let isPerson = person != nil
        logKeys = try service.flatMap { service throws(VaultError) in
            try AccessLogKeys(
                service.secrets, period: service.head.period, vaultID: files.vaultID, root: root, path: place.path,
                passingDamage: isPerson)
        }
        (names, personFailure) = try Self.namesOrFailure(files, root, isPersons: person != nil, memory, place)
        personFile = files.person
        keyring = try Keyring(
            service, files.register?.person, vaultID: files.vaultID, root: root, listed: names.tags,
            isPersonMissing: personFailure != nil, path: place.path,
            passingDamage: isPerson)
    }

    private static func service(
        _ files: VaultFiles, _ root: RootKey, _ place: VaultPlace, _ memory: PlaceMemory?
    ) throws(VaultError) -> (contents: CompartmentContents, watermarkKey: SecretBytesBox) {
        guard let file = files.service else { throw files.serviceFailure ?? .missing(place.path, "It is missing.") }
        let isKnown =
            files.register.map { root.commitment == $0.serviceRoot(in: file.head.period) }
            ?? (root.commitment == memory?.root)
        guard isKnown else {
            throw .replaced(place.path, "Its root is not the one that the persons of the vault vouch for.")
        }
        let service = try CompartmentContents(file, root: root, place: place)
        let key = try watermarkKey(of: service, root, files.vaultID, place)
        guard files.register.map({ WatermarkCommitment.of(key.secret) == $0.watermarkCommitment }) ?? true else {
            throw .replaced(place.path, "Its watermark key is not the one that the persons of the vault vouch for.")
        }
        if let register = files.register, register.person == nil {
            try service.checkSeed(root, register, path: place.path)
        }
        return (service, key)
    }

    private static func watermarkKey(
        of contents: CompartmentContents, _ root: RootKey, _ vaultID: [UInt8], _ place: VaultPlace
    ) throws(VaultError) -> SecretBytesBox {
        guard let entry = contents.secrets.last(.watermarkKey) else {
            throw .corrupt(place.path, "It has no watermark key.")
        }
        return SecretBytesBox(try entry.secret(vaultID: vaultID, root: root, path: place.path(of: contents.role)))
    }

    /// Returns the names, or their failure. A damaged list of names closes only *when unlocked* for a service, if this
    /// user knows the vault.
    private static func namesOrFailure(
        _ files: VaultFiles, _ root: RootKey, isPersons: Bool, _ memory: PlaceMemory?, _ place: VaultPlace
    ) throws(VaultError) -> (NameList, VaultError?) {
        guard let file = files.person, let person = files.register?.person else {
            return (NameList(), files.personFailure)
        }
        do throws(VaultError) { return (try names(file, person, root, place), nil) } catch {
            guard !isPersons, memory?.root == root.commitment else { throw error }
            return (NameList(), error)
        }
    }

    private static func names(
        _ file: CompartmentFile, _ person: Register.Person, _ root: RootKey, _ place: VaultPlace
    ) throws(VaultError) -> NameList {
        let sealing = try PartSealing(place, .person, period: file.head.period, root: root)
        for number in [PartNumber.names, .nextNames] {
            guard let entry = file.head.entry(number), let sealed = try file.sealedPart(number),
                let opened = try? sealing.open(sealed, entry)
            else { continue }
            guard opened.header.header.sequence <= file.head.generation else {
                throw .corrupt(file.path, "Its list of names belongs to a later write.")
            }
            return try NameList(parsing: opened.bytes, register: person, path: file.path)
        }
        throw .corrupt(file.path, "Its list of names cannot be decrypted.")
    }

    /// Returns the person compartment, opened with its root and kept: it contains names and wrapped keys, no secrets.
    ///
    /// - Throws: `VaultError` `.locked` for a root of another period, `.missing`, `.corrupt`.
    func person(_ root: RootKey, place: VaultPlace) throws(VaultError) -> CompartmentContents {
        guard let register, let personFile else { throw personFailure ?? .noPersons(place.path) }
        guard root.commitment == register.personRoot else {
            throw VaultError(
                .locked, "use the vault", place.path(of: .person),
                "Its keys have changed since it was unlocked.", advice: "Unlock it again: sealctl vault unlock.")
        }
        if let known = person.withLock({ $0 }) { return known }
        let opened = try CompartmentContents(personFile, root: root, place: place)
        try opened.check(root, register, place)
        person.withLock { $0 = opened }
        return opened
    }
}

/// The public name of a watermark key.
enum WatermarkCommitment {
    static func of(_ key: borrowing SecretBytes) -> Bytes32 {
        key.withUnsafeBytes { key in
            Bytes32(filling: { BLAKE2b.hash(.none, key: key, personalization: .watermarkCommitment, into: $0) })
        }
    }
}

extension VaultError {
    static func missing(_ path: String, _ reason: String) -> VaultError {
        VaultError(.missing, "open the vault", path, reason)
    }

    static func replaced(_ path: String, _ reason: String) -> VaultError {
        VaultError(
            .replaced, "open the vault", path, reason,
            advice: "Ask the person who shares it with you; to continue with this vault: sealctl vault accept.")
    }
}

extension VaultError.Code {
    /// This user's programs have opened a vault there, and it, or one of its files, is missing.
    public static let missing = VaultError.Code(rawValue: "missing")
    /// Two successors of one person key or team key, or two rosters of one version: there were two independent changes.
    public static let forked = VaultError.Code(rawValue: "forked")
    /// The vault is not trusted yet: a person has to compare its fingerprint and accept it.
    public static let notAccepted = VaultError.Code(rawValue: "notAccepted")
    /// A name of *when unlocked* would get, or has, a value of the lower class.
    public static let downgraded = VaultError.Code(rawValue: "downgraded")
}
