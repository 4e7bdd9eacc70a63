public import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

extension Vault {
    /// Opens the vault of an access group. Nothing is created; the access log and this user's memory of the vault are
    /// updated.
    ///
    /// - Throws: `VaultError`: `.absent`, `.missing`, `.locked`, `.denied`, `.corrupt`, `.wrongPassphrase`,
    ///   `.wrongKeyFile`, `.rolledBack`, `.replaced`, `.forked`, `.notAccepted`, … are different results; the files are
    ///   unchanged after each. `.notEntitled` and `.entitlements` are thrown before any file is read.
    public static func open(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home, teamKey: options.teamKey)
        guard let vault = try openIfPresent(place, with: credential, options) else {
            throw VaultError(.absent, "open the vault", place.path, "\(accessGroup) has no vault.")
        }
        return vault
    }

    /// Opens the vault; returns `nil` only if there are no files and this user has no memory of any.
    ///
    /// - Parameter lasting: The options of the open vault, if they differ from those of the opening.
    static func openIfPresent(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions, lasting: VaultOptions? = nil
    ) throws(VaultError) -> Vault? {
        let memory = options.acceptsRollback ? nil : try place.memory.load()
        if memory?.others.isEmpty == false, !options.isTentative { place.memory.keep() }
        guard let directory = try place.openDirectory() else {
            guard memory == nil else {
                throw .missing(place.path, "This user's programs have opened a vault there, and it is missing now.")
            }
            return nil
        }
        place.followRoster(memory?.team)
        do throws(VaultError) {
            guard
                let opened = try VaultOpening(place: place, directory: directory, memory: memory, options: options)
                    .open(with: credential)
            else { return nil }
            return try Vault(opened, place, directory, options, lasting: lasting ?? options)
        } catch {
            if options.accessLog != .off, error.code != .missing {
                try? AccessLog.noteFailedOpening(in: directory, mode: directory.fileMode, generation: 0)
            }
            throw error
        }
    }

    private convenience init(
        _ opened: consuming OpenedVault, _ place: VaultPlace, _ directory: Directory, _ options: VaultOptions,
        lasting: VaultOptions
    ) throws(VaultError) {
        let contents = opened.contents
        let watermarks = place.watermarks(vaultID: contents.vaultIDText, key: contents.watermarkKey)
        let log = AccessLog(
            directory: directory, mode: directory.fileMode, keys: contents.logKeys ?? AccessLogKeys.none)
        self.init(
            place: place, directory: directory, keys: opened.keys, options: lasting, watermarks: watermarks, log: log,
            contents: contents)
        if options.isTentative { return }
        let verdicts = contents.accept(watermarks, accessGroup: place.accessGroup)
        // Another program may have written meanwhile; the present files decide.
        if !verdicts.isGood { publish(try freshContents(), isForced: true) }
        let accepted = heldContents
        remember(accepted, after: opened.memory, keys.service, memoryCode: personsCode(accepted, opened.memory))
        note(.opened)
        if options.settles { try settle() }
    }
}

extension Vault {
    /// Returns the memory code of the person whose slot opened the vault; it identifies the vault in a slot that others
    /// recreate for that person. `nil` for a service, for unlocked keys, and for a slot other than a recipient's if a
    /// code is known: in a restored vault, others create the recipients' slots.
    private func personsCode(_ contents: VaultContents, _ known: PlaceMemory?) -> Bytes32? {
        guard let opened = keys.slot, opened.slot.reach == .whenUnlocked, let key = contents.register?.trustedKey,
            opened.slot.kind == .recipient || known?.memoryCode ?? .zero == .zero
        else { return nil }
        return opened.holder.memoryCode(vaultID: contents.vaultID, trusted: key)
    }
}

/// The result of opening.
struct OpenedVault: Sendable {
    let contents: VaultContents
    let keys: VaultKeys
    let memory: PlaceMemory?
}

/// Opens a vault's files with a credential, in the order of `docs/spec/vault.md`, section 10.
struct VaultOpening {
    let place: VaultPlace
    let directory: Directory
    let memory: PlaceMemory?
    let options: VaultOptions

    /// The number of tries. Two files are two writes: a refused combination is read again.
    private static let attempts = 4

    func open(with credential: VaultCredential) throws(VaultError) -> OpenedVault? {
        var marks: [[UInt8]]?
        var attempt = 1
        var isQuiet = false
        while true {
            var seen: [[UInt8]] = []
            do throws(VaultError) { return try openOnce(with: credential, &seen) } catch {
                let mayBeRace: Set<VaultError.Code> = [.replaced, .corrupt, .missing]
                guard mayBeRace.contains(error.code), attempt < Self.attempts,
                    seen != marks || (seen.isEmpty && !isQuiet)
                else { throw error }
                // A writer may be between its two files, unless no writer held the lock before the next reading.
                isQuiet = !place.lockFile(in: directory).mayBeHeld(.whole)
                if seen == marks && !isQuiet { RacePause.wait() }
                marks = seen
                attempt += 1
            }
        }
    }

    private func openOnce(
        with credential: VaultCredential, _ seen: inout [[UInt8]]
    ) throws(VaultError) -> OpenedVault? {
        let team = KnownTeam(place: place, memory: memory, options)
        guard let files = try VaultFiles.read(place, in: directory, memory: memory, team: team) else { return nil }
        seen = files.marks()
        if let expected = options.expectedFingerprint {
            try verify(files.register)
            try files.requireFingerprint(expected, place)
        }
        // A person's credential is tried only on files that the persons of the vault have signed.
        if credential.isPersons { try verify(files.register) }
        // Read before the credential is tried, so that a lock that comes meanwhile counts.
        let stamp = LockStamp.ifReadable(in: directory.path)
        let opening = CredentialOpening(
            slots: files.slots(), vaultID: files.vaultID, register: files.register, place)
        let roots: OpenedRoots
        do throws(VaultError) { roots = try opening.open(with: credential) } catch {
            throw Self.explained(error, files, credential)
        }
        if let slot = roots.slot { try requireRecognised(slot, files.register, files.vaultID, team) }
        return try opened(files, roots, stamp, isVerified: credential.isPersons)
    }

    /// Returns the error for a credential without a slot, if the file with its slots is missing or damaged.
    private static func explained(
        _ error: VaultError, _ files: VaultFiles, _ credential: VaultCredential
    ) -> VaultError {
        let mismatches: Set<VaultError.Code> = [
            .locked, .wrongPassphrase, .wrongKeyFile, .wrongCredential, .wrongIdentity,
        ]
        guard mismatches.contains(error.code) else { return error }
        let failure =
            credential.isPersons
            ? files.personFailure ?? files.serviceFailure : files.serviceFailure ?? files.personFailure
        return failure ?? error
    }

    private func opened(
        _ files: VaultFiles, _ roots: OpenedRoots, _ stamp: LockStamp, isVerified: Bool
    ) throws(VaultError) -> OpenedVault {
        let vaultID = files.vaultID
        let root = try serviceRoot(of: files, roots)
        if let register = files.register, !isVerified, memory?.registerCode != register.verifiedCode(root) {
            try verify(register)
        }
        let keys = VaultKeys(
            service: root, person: roots.person, slot: roots.slot, vaultID: vaultID, directory: directory,
            openedAt: stamp)
        let contents: VaultContents
        do throws(VaultError) {
            contents = try VaultContents(files, root: root, person: roots.person, place: place, memory: memory)
        } catch {
            guard roots.slot == nil, let person = unlockedPerson(keys, files.register) else { throw error }
            contents = try VaultContents(files, root: root, person: person, place: place, memory: memory)
        }
        if let person = roots.person { _ = try contents.person(person, place: place) }
        return OpenedVault(contents: contents, keys: keys, memory: memory)
    }

    /// Returns the person root that a person has unlocked for all programs: for its holders a `vault` that does not
    /// open closes only *after first unlock*.
    private func unlockedPerson(_ keys: VaultKeys, _ register: Register?) -> RootKey? {
        guard let expected = register?.personRoot else { return nil }
        keys.expect(personRoot: expected)
        return try? keys.withPerson { root throws(VaultError) in root }
    }

    /// Verifies the register's signatures. If they fail, the vault of a known place was replaced.
    private func verify(_ register: Register?) throws(VaultError) {
        do throws(VaultError) { try register?.verify(path: place.path) } catch {
            throw memory == nil ? error : .replaced(place.path, error.reason)
        }
    }

    /// Returns the service root. A person's slot leads to it through the person compartment, which contains two of them
    /// during a rekey.
    private func serviceRoot(
        of files: VaultFiles, _ roots: OpenedRoots
    ) throws(VaultError) -> RootKey {
        if let root = roots.service { return root }
        guard let person = roots.person, let register = files.register, let file = files.person else {
            throw .missing(place.path(of: .person), "The compartment of persons is missing.")
        }
        guard person.commitment == register.personRoot else {
            throw .replaced(place.path(of: .person), "Its root is not the one that the persons of the vault vouch for.")
        }
        let opened = try CompartmentContents(file, root: person, place: place)
        var first: RootKey?
        for entry in opened.secrets.all(.serviceRoot) {
            let root = RootKey(try entry.secret(vaultID: files.vaultID, root: person, path: place.path(of: .person)))
            if let head = files.service?.head, register.isServiceRoot(root, of: head) { return root }
            first = first ?? root
        }
        // A foreign service compartment does not block persons from their own.
        guard let first else { throw .corrupt(place.path(of: .person), "It has no service root.") }
        return first
    }

    /// Requires that the holder recognises the vault. Public keys prove nothing: anyone can seal a forged vault to a
    /// recipient.
    ///
    /// - Throws: `VaultError` `.notAccepted`.
    private func requireRecognised(
        _ opened: OpenedSlot, _ register: Register?, _ vaultID: [UInt8], _ team: KnownTeam
    ) throws(VaultError) {
        let slot = opened.slot
        let needsMemory = slot.form == .resealed || (slot.kind == .recipient && slot.reach != .afterFirstUnlock)
        guard needsMemory, !options.acceptsRollback, let register else { return }
        // A holder may have computed the code before the team key named its successor.
        let keys = register.trustworthyKeys + team.formerKeys(of: register) + team.certifyingKeys
        if slot.isRecognised(by: opened.holder, keys, vaultID: vaultID) { return }
        if let memory {
            if slot.reach == .afterFirstUnlock { return }
            // Each directory may have the code of another of this user's credentials.
            let codes = Set(memory.all.map(\.memoryCode))
            if keys.contains(where: { codes.contains(opened.holder.memoryCode(vaultID: vaultID, trusted: $0)) }) {
                return
            }
        }
        let fingerprint = register.fingerprint
        guard slot.reach == .afterFirstUnlock else {
            throw VaultError(
                .notAccepted, "open the vault", place.path,
                "Slot \(slot.id) opens with a public key, so any user could create the vault, and this user has not "
                    + "accepted this one. Its fingerprint is \(fingerprint).",
                advice: "Compare the fingerprint with a person who shares the vault, then run sealctl vault accept "
                    + "--fingerprint \(fingerprint)")
        }
        // A rekey created it from the register alone, or its holder has not opened it since it was added.
        throw VaultError(
            .notAccepted, "open the vault", place.path,
            "A rekey sealed slot \(slot.id) to a public key, so any user could create the vault. The slot lacks "
                + "its holder's code for this vault, and this user's programs have no memory of it. Its fingerprint is "
                + "\(fingerprint).",
            advice: "Compare the fingerprint with a person who shares the vault, then accept it once with this slot's "
                + "credential; the slot remembers it: sealctl vault accept --fingerprint \(fingerprint)")
    }
}

extension VaultCredential {
    /// `true` if it is a person's credential, which an attacker has reason to guess.
    var isPersons: Bool {
        switch self {
        case .passphrase, .identity: true
        default: false
        }
    }
}

extension VaultContents {
    /// The verdicts of this user's memory on both files.
    struct Verdicts: Sendable {
        let service: Watermark.Verdict
        let person: Watermark.Verdict
        /// `true` if the minimum epoch of `vault` is lower than the remembered one.
        let isMinimumLowered: Bool

        var isGood: Bool { isServiceGood && isPersonGood }
        var isServiceGood: Bool { !isMinimumLowered && (service == .advances || service == .same) }
        var isPersonGood: Bool { person == .advances || person == .same }
    }

    /// Judges both files' writes and records those that advance.
    ///
    /// - Parameter isAcknowledged: The compartments that this process wrote durably.
    func accept(
        _ watermarks: WatermarkTable, accessGroup: AccessGroup, acknowledged: Set<CompartmentRole> = []
    ) -> Verdicts {
        verdicts(in: accessGroup) { role, name, mark in
            watermarks.accept(compartment: name, mark, isAcknowledged: acknowledged.contains(role))
        }
    }

    /// Judges both files' writes by the states that were accepted, and remembers nothing.
    func judge(accessGroup: AccessGroup, by accepted: (NameTag) -> AcceptedState?) -> Verdicts {
        verdicts(in: accessGroup) { _, name, mark in
            let verdict = Watermark.verdict(on: mark, after: accepted(name)?.mark)
            // A jump counts as an advance, as it does for acceptance.
            return verdict == .jumps ? .advances : verdict
        }
    }

    private func verdicts(
        in accessGroup: AccessGroup, _ judge: (CompartmentRole, NameTag, Watermark) -> Watermark.Verdict
    ) -> Verdicts {
        let group = accessGroup.identifier
        var own = Watermark.Verdict.same
        // A refused write must not raise the floor: the write that it replaced is still the newest.
        if let head = serviceHead, !isMinimumLowered {
            let commitment = head.entry(.state)?.commitment ?? .zero
            own = judge(
                .service, PartSealing.context(group, .service, period: head.period, .state).nameTag,
                Watermark(epoch: head.period, sequence: head.generation, commitment: Commitment(bytes: commitment)))
        }
        guard let register, personFile != nil else {
            return Verdicts(service: own, person: .same, isMinimumLowered: isMinimumLowered)
        }
        let persons = judge(
            .person, PartSealing.context(group, .person, period: register.period, .state).nameTag,
            Watermark(
                epoch: register.period, sequence: register.generation, commitment: Commitment(bytes: register.hash)))
        return Verdicts(service: own, person: persons, isMinimumLowered: isMinimumLowered)
    }

    /// Stores new facts about the place.
    ///
    /// - Parameters:
    ///   - minimum: The minimum epoch; `nil` for that of the contents.
    ///   - isAccepted: Whether a person accepted this vault, or has just created it: then it replaces a memory of
    ///     another vault or of a later period.
    /// - Returns: `false` if they could not be stored.
    @discardableResult
    func remember(
        _ known: PlaceMemory?, in place: VaultPlace, _ root: RootKey, minimum: SeenMinimum? = nil,
        memoryCode: Bytes32? = nil, isAccepted: Bool = false
    ) -> Bool {
        guard let register else { return true }
        var memory = PlaceMemory(register, root: root)
        memory.memoryCode = memoryCode ?? known?.memoryCode ?? .zero
        memory.minimum = minimum ?? seenMinimum
        guard memory != known else { return true }
        return place.memory.store(memory, chain: register.chain.map(\.key.bytes), isAccepted: isAccepted)
    }
}
