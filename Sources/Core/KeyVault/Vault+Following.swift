package import CryptoPrimitives
internal import Glibc
package import Sealing
internal import SharedFiles
internal import Synchronization

/// Follows changes of the files by other programs.
extension Vault {
    /// Returns the present contents. Without changes it costs one look at the front of each file.
    ///
    /// - Throws: `VaultError` `.missing`, `.replaced`, `.forked`, `.rolledBack`, `.locked` if a rekey has removed the
    ///   slot that opened the vault, `.corrupt`, `.unsupported`, `.unsafeFile`, `.file`.
    func current() throws(VaultError) -> VaultContents {
        let known = heldContents
        if try isUnchanged(since: known) { return known }
        return try reload()
    }

    /// Looks at the files unless the last look was within the last second, for readers on a hot path, which may learn
    /// of a rotation that much later.
    ///
    /// - Returns: The keyring of the last successful look; unreadable files remove no key.
    package func recentKeyring() -> Keyring {
        if refreshThrottle.isDue() { _ = try? current() }
        return keyring
    }

    /// Returns the keyring after a look at the files.
    ///
    /// - Throws: As `current()`.
    package func currentKeyring() throws(VaultError) -> Keyring { try current().keyring }

    /// Returns the key with which the programs of the group prove to each other that they hold the group's keys. A
    /// rotation keeps it; a rekey changes it.
    ///
    /// - Throws: As `current()`; `.missing` or `.replaced` if the directory that was opened is not the one in place.
    package func channelKey() throws(VaultError) -> ChannelKey {
        try requireInPlace()
        _ = try current()
        return ChannelKey(keys.service)
    }

    /// Returns the root of the present channel key; looks at the files at most once a second.
    ///
    /// - Throws: As `channelKey()`, until a look succeeds: the root in force is then unknown.
    package func channelRoot() throws(VaultError) -> Bytes32 {
        let failure = channelLook.withLock { look in
            guard look.throttle.isDue() else { return look.failure }
            do throws(VaultError) {
                try requireInPlace()
                _ = try current()
                look.failure = nil
            } catch {
                look.failure = error
            }
            return look.failure
        }
        if let failure { throw failure }
        return keys.service.commitment
    }

    /// A vault that was moved away does not show a rekey of the one in its place.
    private func requireInPlace() throws(VaultError) {
        let advice = "Open the vault again."
        guard let present = try place.openDirectory() else {
            throw VaultError(.missing, "use the vault", path, "Its directory was moved or removed.", advice: advice)
        }
        let isTheSame = try VaultError.onFiles("use the vault") { () throws(FileError) in
            try present.attributes(".").isSameFile(as: directory.attributes("."))
        }
        guard isTheSame else {
            throw VaultError(.replaced, "use the vault", path, "Another directory is in its place.", advice: advice)
        }
    }

    /// Reads the files again.
    @discardableResult
    func reload() throws(VaultError) -> VaultContents {
        let contents = try freshContents()
        publish(contents)
        return contents
    }

    /// The number of times that files or values are read again after they were replaced during the reading.
    static var maximumRereads: Int { 16 }
    /// The same for files that are refused together, before anything is opened.
    private static var maximumUnjudged: Int { 4 }

    /// Returns the present contents of the files, checked as at opening.
    ///
    /// A change by another program between reading a file and judging it may look like an older copy, or like two files
    /// that do not match. Reading again resolves the race; only unchanged files are refused.
    /// - Parameter passing: The faults that a person tolerates.
    func freshContents(passing: ToleratedFaults = []) throws(VaultError) -> VaultContents {
        var previous: [[UInt8]]?
        var attempts = 0
        var isQuiet = false
        while true {
            var seen: [[UInt8]] = []
            do throws(VaultError) {
                let contents = try readContents(&seen, passing: passing)
                let verdicts = contents.accept(watermarks, accessGroup: accessGroup)
                if options.acceptsRollback || verdicts.isGood { return contents }
                throw contents.refusal(of: verdicts, at: place)
            } catch {
                let mayBeRace: Set<VaultError.Code> = [.rolledBack, .replaced, .corrupt, .missing, .locked, .forked]
                let limit = seen.isEmpty ? Self.maximumUnjudged : Self.maximumRereads
                guard mayBeRace.contains(error.code), attempts < limit,
                    seen != previous || (seen.isEmpty && !isQuiet)
                else {
                    // A fault of only the other file, or only for a program without a person, does not affect a person.
                    if let contents = try? personContents(passing: passing) { return contents }
                    throw error
                }
                // A writer may be between its two files, unless no writer held the lock before the next reading.
                isQuiet = !place.lockFile(in: directory).mayBeHeld(.whole)
                if seen == previous && !isQuiet { RacePause.wait() }
                previous = seen
                attempts += 1
            }
        }
    }

    /// Returns the contents for a person if the service compartment is damaged or older than one that was seen: *when
    /// unlocked* is not affected.
    private func personContents(passing: ToleratedFaults) throws(VaultError) -> VaultContents {
        var seen: [[UInt8]] = []
        var contents = try readContents(&seen, passingDamage: true, passing: passing)
        var verdicts = contents.accept(watermarks, accessGroup: accessGroup)
        // Without persons `vault` also contains the register, with the list of slots.
        if passing.contains(.older), contents.register?.person != nil, verdicts.isPersonGood { return contents }
        if !verdicts.isGood, !options.acceptsRollback {
            let older = contents.refusal(of: verdicts, at: place)
            contents = try readContents(&seen, passingDamage: true, passing: passing, older: older)
            verdicts = contents.accept(watermarks, accessGroup: accessGroup)
        }
        guard options.acceptsRollback || verdicts.isGood else { throw contents.refusal(of: verdicts, at: place) }
        return contents
    }

    /// - Parameters:
    ///   - passingDamage: Whether a service compartment that does not open is recorded instead of thrown, if the person
    ///     root is available.
    ///   - passing: The faults that a person tolerates.
    ///   - older: The reason why `vault` is not used although it opens.
    private func readContents(
        _ seen: inout [[UInt8]], passingDamage: Bool = false, passing: ToleratedFaults, older: VaultError? = nil
    ) throws(VaultError) -> VaultContents {
        let held = heldContents
        // Read before the files: a memory newer than the files would make them look like older ones.
        let stored = try options.acceptsRollback ? (try? place.memory.load()) : place.memory.load()
        var memory = held.register.map { PlaceMemory($0, root: keys.service) } ?? stored
        memory?.minimum = options.acceptsRollback ? .none : minimum(held, stored)
        let known = options.acceptsRollback ? nil : memory
        place.followRoster(known?.team)
        let team = KnownTeam(place: place, memory: known, options)
        guard
            let files = try VaultFiles.read(
                place, in: directory, memory: known, team: team, passingMode: passing.contains(.mode))
        else { throw .missing(path, "Its files were removed while it was open.") }
        seen = files.marks()
        if let register = files.register, register.hash != held.register?.hash {
            try register.verify(path: path)
            // Another program of this user may have seen more than this one, which slept or did not look.
            if let stored, !options.acceptsRollback, stored.vaultID == register.vaultID {
                try register.check(against: stored, path: path)
            }
        }
        // Before anything is remembered: a person accepts only the vault that was shown.
        let expected = options.expectedFingerprint ?? (options.isTentative ? held.register?.fingerprint : nil)
        if let expected { try files.requireFingerprint(expected, place) }
        let needsPerson = files.serviceFailure != nil || passingDamage
        let person = needsPerson ? try? keys.withPerson { root throws(VaultError) in root } : nil
        let root = try followedRoot(of: files, person: person)
        let contents = try VaultContents(
            files, root: root, person: person, place: place, memory: memory, older: older)
        if unstoredMinimum != nil || contents.hasNews(for: held) { remember(contents, after: stored, root) }
        return contents
    }

    /// Returns the minimum epoch of *after first unlock* that `vault` must have. Within one period the stored one
    /// decides: a person may have accepted a lower one since this program opened the vault. One that this program could
    /// not store counts as well, while the stored one is what it was then.
    private func minimum(_ held: VaultContents, _ stored: PlaceMemory?) -> SeenMinimum {
        guard let stored, stored.vaultID == held.vaultID else { return held.seenMinimum }
        if let unstored = unstoredMinimum, unstored.stored == stored.minimum {
            return stored.minimum.merged(with: held.seenMinimum).merged(with: unstored.seen)
        }
        if stored.minimum.period == held.seenMinimum.period { return stored.minimum }
        return stored.minimum.merged(with: held.seenMinimum)
    }

    /// Returns the present service root of `vault`: the known one or, after a rekey, the one from this program's slot.
    ///
    /// - Parameter person: The person root, if `vault` is damaged: the person compartment contains the service root as
    ///   well.
    private func followedRoot(of files: VaultFiles, person: RootKey?) throws(VaultError) -> RootKey {
        let known = keys.service
        guard let register = files.register, let head = files.service?.head else {
            return try presentRoot(of: files, person: person) ?? known
        }
        // A rekey of persons renews their root one write before the service root.
        let isPersonRenewed =
            keys.slot.map { $0.slot.reach == .whenUnlocked && $0.root.commitment != register.personRoot } ?? false
        let isKnown = register.isServiceRoot(known, of: head)
        if isKnown, !isPersonRenewed { return known }
        if let followed = try followedThroughSlot(files, register, head) { return followed }
        if isKnown { return known }
        let cached = try UnlockCaches.current.serviceRoot(vaultID: files.vaultID)
        if let root = cached, register.isServiceRoot(root, of: head) {
            keys.follow(service: root, person: nil, slot: nil)
            return root
        }
        // A `vault` that no root opens must not block persons from their own contents.
        if let root = try presentRoot(of: files, person: person) { return root }
        if known.commitment == register.serviceRoot(in: head.period) {
            throw .corrupt(path, "Its header was changed without its key.")
        }
        if head.isAuthentic(known) { throw .replaced(path, "Its period is not the one of its root.") }
        throw VaultError(
            .locked, "use the vault", path,
            "Its keys were changed, and the slot that opened it was removed or can no longer be used.",
            advice: "Open it again with a credential of a present slot: sealctl vault slot list.")
    }

    /// Returns the present service root, which a person has without `vault`; `nil` without a person.
    private func presentRoot(of files: VaultFiles, person: RootKey?) throws(VaultError) -> RootKey? {
        guard let person, let file = files.person, person.commitment == files.register?.personRoot else { return nil }
        return try CompartmentContents(file, root: person, place: place).serviceRoot(0, root: person)
    }

    private func followedThroughSlot(
        _ files: VaultFiles, _ register: Register, _ head: CompartmentHead
    ) throws(VaultError) -> RootKey? {
        guard let opened = keys.slot, let slot = files.slots().first(where: { $0.id == opened.slot.id }),
            let root = try? slot.root(opened.holder, vaultID: files.vaultID)
        else { return nil }
        let followed = OpenedSlot(slot: slot, holder: opened.holder, root: root)
        guard slot.reach == .whenUnlocked else {
            guard register.isServiceRoot(root, of: head) else { return nil }
            keys.follow(service: root, person: nil, slot: followed)
            return root
        }
        guard root.commitment == register.personRoot, let file = files.person else { return nil }
        let person = try CompartmentContents(file, root: root, place: place)
        for entry in person.secrets.all(.serviceRoot) {
            let service = RootKey(try entry.secret(vaultID: files.vaultID, root: root, path: path))
            guard register.isServiceRoot(service, of: head) else { continue }
            keys.follow(service: service, person: root, slot: followed)
            return service
        }
        return nil
    }

    private func isUnchanged(since known: VaultContents) throws(VaultError) -> Bool {
        for (leaf, mark) in zip(VaultPlace.leaves, known.marks) where !mark.isEmpty {
            do throws(FileError) {
                let front = try directory.readPrefix(leaf, count: mark.count).bytes
                let isSame = front.count == mark.count && memcmp(front, mark, mark.count) == 0
                if !isSame { return false }
            } catch {
                // Another entry has the name now: reading it reports the kind.
                if [.notFound, .notRegularFile, .unsafePath].contains(error.code) { return false }
                throw VaultError(error, "read the vault")
            }
        }
        // A person compartment may have been added, or a missing file restored.
        for (leaf, mark) in zip(VaultPlace.leaves, known.marks) where mark.isEmpty {
            do throws(FileError) { if try directory.exists(leaf) { return false } } catch {
                throw VaultError(error, "read the vault")
            }
        }
        return true
    }
}

extension VaultContents {
    /// Returns whether the memory of the place changes after other contents were held.
    fileprivate func hasNews(for held: VaultContents) -> Bool {
        register?.period != held.register?.period || register?.personKey != held.register?.personKey
            || register?.teamKey != held.register?.teamKey || seenMinimum != held.seenMinimum
    }

    /// Returns the refusal of verdicts that are not good: an older write than this user's programs have seen, another
    /// one of the same number, one too far ahead, or one with a lower minimum epoch.
    func refusal(of verdicts: Verdicts, at place: VaultPlace) -> VaultError {
        if verdicts.isMinimumLowered {
            return VaultError(
                .rolledBack, "open the vault", place.path(of: .service),
                "Its minimum epoch is lower than \(seenMinimum.epoch), which this user's programs have seen.")
        }
        let isPerson = verdicts.isServiceGood
        let verdict = isPerson ? verdicts.person : verdicts.service
        let generation = isPerson ? register?.generation ?? 0 : serviceHead?.generation ?? 0
        let reason =
            switch verdict {
            case .forked: "It is another write \(generation) than this user's programs have seen."
            case .jumps:
                "It is write \(generation), too far ahead of the last write that this user's programs have seen."
            default: "It is write \(generation); a later one was seen by this user's programs."
            }
        return VaultError(.rolledBack, "open the vault", place.path(of: isPerson ? .person : .service), reason)
    }
}

/// The faults of `vault` that a person tolerates in order to repair it.
struct ToleratedFaults: OptionSet {
    let rawValue: Int

    /// Others may write or read the file; the next write corrects its mode.
    static let mode = ToleratedFaults(rawValue: 1)
    /// The file is an older write than this user's programs have seen, or another one of the same number.
    static let older = ToleratedFaults(rawValue: 2)
}

extension Vault {
    /// The records with an accepted state. The vault's own writes were accepted too, each with its period as the epoch
    /// (`docs/spec/vault.md`, section 12). Only the names of the epochs that occur have to be left out, however many
    /// periods the vault has had.
    package var acceptedRecords: [NameTag] {
        var names: [NameTag] = []
        forEachAcceptedRecord { name in
            names.append(name)
            return true
        }
        return names
    }

    /// - Returns: `false` if not all states could be read.
    @discardableResult
    private func forEachAcceptedRecord(_ body: (NameTag) -> Bool) -> Bool {
        var own: [UInt32: Set<NameTag>] = [:]
        return watermarks.forEachMark { name, mark in
            let names = own[mark.epoch] ?? ownNames(inPeriod: mark.epoch)
            own[mark.epoch] = names
            return names.contains(name) || body(name)
        }
    }

    private func ownNames(inPeriod period: UInt32) -> Set<NameTag> {
        Set(
            [CompartmentRole.service, .person].map {
                PartSealing.context(accessGroup.identifier, $0, period: period, .state).nameTag
            })
    }

    /// `true` if this user's programs have accepted any record of the group: then it has, or had, a container.
    package var hasSeenRecords: Bool {
        var hasSeen = false
        let isComplete = forEachAcceptedRecord { _ in
            hasSeen = true
            return false
        }
        return hasSeen || !isComplete
    }
}

extension WatermarkTable {
    // One table for each file and key, so that two stores of a process share one memory, which is never that of a vault
    // with another root.
    private static let tables = Mutex<[String: WatermarkTable]>([:])

    /// Returns the process's table of that name.
    static func shared(_ name: String, makingLog makeLog: () -> WatermarkLog) -> WatermarkTable {
        tables.withLock { tables in
            if let table = tables[name] { return table }
            let table = WatermarkTable(log: makeLog())
            tables[name] = table
            return table
        }
    }
}

/// The key of a group's channels: 32 bytes, derived from the service root.
package final class ChannelKey: Sendable {
    package let secret: SecretBytes
    /// The commitment of the root from which it is derived.
    package let root: Bytes32

    init(_ root: RootKey) {
        secret = root.withKey(.channelKey) { SecretBytes(copying: $0) }
        self.root = root.commitment
    }
}

/// The last look at the files for the root of channels.
struct ChannelLook: Sendable {
    let throttle = RefreshThrottle()
    var failure: VaultError?
}
