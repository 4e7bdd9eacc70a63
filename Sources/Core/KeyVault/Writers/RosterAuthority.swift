package import AppGroups
internal import CryptoPrimitives
package import Sealing
package import SharedFiles
internal import Synchronization

/// The condition of the roster's file in the container, for tools and messages.
package enum RosterCondition: Sendable, Equatable {
    /// The file is the roster in force.
    case current
    /// The file is missing; the last accepted roster stays in force.
    case missing
    /// The file is older than the last accepted roster, which stays in force.
    case older(version: UInt64)
    /// The file has the version of the last accepted roster but other bytes; the accepted one stays in force.
    case forked
    /// The file is not the group's: not signed by the team key, of another roster id, damaged, or of an unknown format.
    case refused(VaultError)

    /// The stable name for machine-readable output.
    package var code: String {
        switch self {
        case .current: "current"
        case .missing: "missing"
        case .older: "older"
        case .forked: "forked"
        case .refused(let error): error.code.rawValue
        }
    }
}

/// Decides which roster is in force for a store, and judges records by it.
///
/// An authority requires a known team key: from the program, the system's settings or this user's memory. It notices a
/// new roster within a second, as a changed vault, and at once if a record would be refused.
package final class RosterAuthority: Sendable {
    /// The roster in force and its file's condition.
    package struct RosterState: Sendable {
        /// The roster in force; `nil` if a team key is known and no roster of it was ever accepted.
        package var roster: SignedRoster?
        /// The condition of the file in the container.
        package var condition: RosterCondition
        /// The reason why the acceptance could not be remembered. The regular look once a second tries again.
        package var notRemembered: VaultError?

        /// The contents of a memory of the roster in force.
        fileprivate var contents: RosterMemory.Contents? {
            roster.map { RosterMemory.Contents(teamKey: $0.roster.team, roster: $0) }
        }
    }

    private struct State {
        var current: RosterState
        var file: RosterFileStamp?
        var memory: [RosterFileStamp]
        /// The memory's stamps when it was last read without an error.
        var readMemory: [RosterFileStamp]
    }

    private let group: AppGroup
    private let container: Directory
    private let memory: RosterMemory
    private let home: GroupsHome
    /// The keys in the program and the system's settings.
    private let stated: [TeamPublicKey]
    private let state: Mutex<State>
    private let verified: VerifiedSignatures
    private let timer = RefreshThrottle()

    /// Returns the authority of a group's container; `nil` if no team key is known.
    ///
    /// - Parameters:
    ///   - teamKey: The key that the program states.
    ///   - vaultTeamKey: The key that the group's vault names.
    /// - Throws: `VaultError` for settings or a memory that cannot be read, because the known key is then undetermined.
    package static func find(
        _ group: AppGroup, in container: Directory, home: GroupsHome, teamKey: TeamPublicKey?,
        vaultTeamKey: TeamPublicKey? = nil
    ) throws(VaultError) -> RosterAuthority? {
        let memory = RosterMemory(of: group, in: home)
        var stated: [TeamPublicKey] = []
        let settings = try TeamKeySettings.current.teamKey(of: AccessGroup(group))
        for key in [teamKey, vaultTeamKey, settings].compactMap({ $0 }) where !stated.contains(key) {
            stated.append(key)
        }
        // Read before the stamp: what is stored in between is read again. Only a missing file counts as no memory.
        let remembered = try memory.load()
        if stated.isEmpty && remembered == nil { return nil }
        let notKept = remembered.flatMap { memory.keep($0) }
        return RosterAuthority(group, container, home, memory, stated, remembered, [], notKept: notKept)
    }

    private init(
        _ group: AppGroup, _ container: Directory, _ home: GroupsHome, _ memory: RosterMemory,
        _ stated: [TeamPublicKey],
        _ remembered: RosterMemory.Contents?, _ stamps: [RosterFileStamp],
        _ verified: VerifiedSignatures = VerifiedSignatures(), previous: RosterState? = nil,
        notKept: VaultError? = nil, readMemory: [RosterFileStamp]? = nil
    ) {
        self.group = group
        self.container = container
        self.home = home
        self.memory = memory
        self.stated = stated
        self.verified = verified
        let file = Self.stamp(in: container)
        var current = Self.decide(
            group, container, memory, stated, remembered, previous: previous?.roster, hasFile: file != nil)
        if let previous, previous.roster == current.roster { current.notRemembered = previous.notRemembered }
        current.notRemembered = current.notRemembered ?? notKept
        state = Mutex(State(current: current, file: file, memory: stamps, readMemory: readMemory ?? stamps))
    }

    /// Returns the same authority for the container that now has the group's place.
    package func moved(to container: Directory) -> RosterAuthority {
        let (note, known) = (memory.stamps, state.withLock { $0 })
        let loaded = Result { () throws(VaultError) in try memory.load() }
        // A memory that cannot be read now has not been removed.
        let readMemory = if case .success = loaded { note } else { known.readMemory }
        return RosterAuthority(
            group, container, home, memory, stated, (try? loaded.get()) ?? known.current.contents, note, verified,
            previous: known.current, readMemory: readMemory)
    }

    // MARK: Which roster counts

    /// Returns the present state; reads the files at most once a second.
    package func current() -> RosterState {
        if timer.isDue() { look() }
        return state.withLock { $0.current }
    }

    /// Reads the files now, and tries again to store what could not be remembered.
    ///
    /// - Returns: Whether the roster in force changed.
    @discardableResult
    package func look() -> Bool { look(retrying: true) }

    /// - Parameter isRetrying: Whether to store what could not be remembered. The regular look once a second does it;
    ///   the one before a refusal does not, because members can put any number of refused records in place.
    private func look(retrying isRetrying: Bool) -> Bool {
        let (file, note) = (Self.stamp(in: container), memory.stamps)
        let known = state.withLock { $0 }
        let isRetry = isRetrying && known.current.notRemembered != nil
        // A file without a stamp could not be judged conclusively, so it is read again each time.
        guard known.file != file || known.memory != note || file == nil || isRetry else { return false }
        let before = known.current.roster
        let loaded = Result { () throws(VaultError) in try memory.load() }
        let remembered = (try? loaded.get()) ?? known.current.contents
        var current = Self.decide(
            group, container, memory, stated, remembered, previous: before, hasFile: file != nil)
        if current.roster == before {
            current.notRemembered = retried(known, loaded, note, isRetry: isRetry)
        } else if let contents = try? loaded.get(), known.memory != note {
            current.notRemembered = current.notRemembered ?? memory.keep(contents)
        }
        let readMemory: [RosterFileStamp]
        switch loaded {
        case .success: readMemory = note
        case .failure: readMemory = known.readMemory
        }
        state.withLock { state in
            // This process never returns to an older roster than the one it accepted.
            guard !(state.current.roster?.isNewer(than: current.roster) ?? false) else { return }
            // The stamps are from before the reading: what another program stores meanwhile is read at the next look.
            state = State(current: current, file: file, memory: note, readMemory: readMemory)
        }
        return current.roster != before
    }

    /// Returns the reason why the unchanged roster in force is not remembered, after another try if it is due.
    private func retried(
        _ known: State, _ loaded: Result<RosterMemory.Contents?, VaultError>, _ note: [RosterFileStamp], isRetry: Bool
    ) -> VaultError? {
        // A memory that cannot be read now may be there again later.
        guard case .success(let found) = loaded else { return known.current.notRemembered }
        // A state that a person removed from the memory is not restored.
        if found == nil, known.readMemory != note { return nil }
        if !isRetry, let reason = known.current.notRemembered { return reason }
        if isRetry, let contents = known.current.contents { return Self.remember(contents, in: memory) }
        guard let contents = found, known.memory != note || isRetry else { return nil }
        return memory.keep(contents)
    }

    private static func stamp(in container: Directory) -> RosterFileStamp? {
        (try? container.attributes(ContainerLayout.roster)).map(RosterFileStamp.init)
    }

    private static func decide(
        _ group: AppGroup, _ container: Directory, _ memory: RosterMemory, _ stated: [TeamPublicKey],
        _ remembered: RosterMemory.Contents?, previous: SignedRoster?, hasFile: Bool
    ) -> RosterState {
        let keys = stated + (remembered.map { [$0.teamKey] } ?? [])
        var accepted = remembered?.roster.flatMap { roster in keys.allSatisfy(roster.isOfTeam) ? roster : nil }
        // A roster accepted only in this process, because the memory is not writable.
        if let previous, previous.isNewer(than: accepted), keys.allSatisfy(previous.isOfTeam) { accepted = previous }
        guard hasFile else { return RosterState(roster: accepted, condition: .missing) }
        do throws(VaultError) {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try container.read(ContainerLayout.roster, limit: Roster.maximumSize)
            } catch {
                if error.code == .notFound { return RosterState(roster: accepted, condition: .missing) }
                throw VaultError(error, "read the roster")
            }
            // The signature of these bytes was verified before.
            if let accepted, accepted.bytes == bytes { return RosterState(roster: accepted, condition: .current) }
            let found = try SignedRoster(verifying: bytes, group: group.identifier)
            return take(found, after: accepted, keys, memory)
        } catch {
            return RosterState(roster: accepted, condition: .refused(error))
        }
    }

    /// Accepts the found roster, or returns why its predecessor stays in force.
    private static func take(
        _ found: SignedRoster, after accepted: SignedRoster?, _ keys: [TeamPublicKey], _ memory: RosterMemory
    ) -> RosterState {
        guard keys.allSatisfy(found.isOfTeam) else {
            let reason = VaultError(
                .wrongTeamKey, "accept", "the roster",
                "It is signed by \(found.roster.team), which is not the team key.",
                advice: "Put the newest signed roster in its place, and find out who replaced it.")
            return RosterState(roster: accepted, condition: .refused(reason))
        }
        if let accepted {
            guard accepted.roster.id == found.roster.id else {
                let reason = VaultError(
                    .replaced, "accept", "the roster", "It is not the roster that was accepted.",
                    advice: "Put the newest signed roster in its place, and find out who replaced it.")
                return RosterState(roster: accepted, condition: .refused(reason))
            }
            if found.roster.version < accepted.roster.version {
                return RosterState(roster: accepted, condition: .older(version: found.roster.version))
            }
            guard found.roster.version > accepted.roster.version else {
                return RosterState(roster: accepted, condition: .forked)
            }
        }
        let contents = RosterMemory.Contents(teamKey: found.roster.team, roster: found)
        return RosterState(roster: found, condition: .current, notRemembered: remember(contents, in: memory))
    }

    /// Returns the reason why the contents could not be remembered.
    private static func remember(_ contents: RosterMemory.Contents, in memory: RosterMemory) -> VaultError? {
        do throws(VaultError) { try memory.store(contents) } catch { return error }
        return nil
    }

    // MARK: Judging records

    /// Returns whether records of a name are judged: governed by the roster, or possibly so while there is no roster.
    package func governs(_ name: String) -> Bool {
        guard let roster = current().roster else { return true }
        return roster.rule(for: name) != nil
    }

    /// Judges an opened record. Before refusing it, reads the roster's file once more.
    package func authorise(_ record: RecordEvidence) -> Authorisation {
        let first = judge(record, current().roster)
        switch first {
        case .notGoverned, .authorised: return first
        case .refused, .rosterBehind:
            return look(retrying: false) ? judge(record, state.withLock { $0.current.roster }) : first
        }
    }

    private func judge(_ record: RecordEvidence, _ roster: SignedRoster?) -> Authorisation {
        guard let roster else { return .refused(Self.noRoster) }
        return roster.authorise(record) { [verified] key, trailer, digest in
            verified.verify(key, trailer, digest, of: record.header.nameTag)
        }
    }

    /// Signs the hash of a record before it is written (`SignedRecord.digest`).
    ///
    /// The signature counts as verified in this process, as if it had been read: the next write of the record opens
    /// this one, and would verify it.
    package func sign(
        _ digest: [UInt8], rosterVersion: UInt64, of name: NameTag, with writer: WriterKey
    ) -> RecordTrailer {
        let trailer = RecordTrailer(rosterVersion: rosterVersion, signature: writer.sign(digest))
        verified.remember(writer.publicKey, trailer, digest, of: name)
        return trailer
    }

    /// Returns the reason why a writer must not write or delete a name now, after reading the file; `nil` if it may.
    package func refusal(of writer: WriterID?, deleting: Bool, _ name: String) -> String? {
        func reason() -> String? {
            guard let roster = state.withLock({ $0.current.roster }) else { return Self.noRoster }
            return roster.refusal(of: writer, deleting: deleting, name)
        }
        if timer.isDue() { look() }
        guard let first = reason() else { return nil }
        return look(retrying: false) ? reason() : first
    }

    private static let noRoster = "A team key is known, and no roster signed by it was ever accepted."
}

extension SignedRoster {
    /// Returns whether this is a later version of the same roster, or the other one is `nil`.
    fileprivate func isNewer(than other: SignedRoster?) -> Bool {
        guard let other else { return true }
        return roster.id == other.roster.id && roster.version > other.roster.version
    }
}

/// Signatures that were verified or created here, by the signed hash: reading a record again then costs only its hash.
///
/// They are never stored by the blob's commitment, because a holder of the group's keys can seal other contents under
/// the same header.
private final class VerifiedSignatures: Sendable {
    private struct Entry: Hashable {
        let key: WriterPublicKey
        let digest: [UInt8]
        let signature: [UInt8]
    }

    private static let capacity = 1024
    private let entries = Mutex<[NameTag: Entry]>([:])

    func verify(_ key: WriterPublicKey, _ trailer: RecordTrailer, _ digest: [UInt8], of name: NameTag) -> Bool {
        let entry = Entry(key: key, digest: digest, signature: trailer.signature)
        if entries.withLock({ $0[name] == entry }) { return true }
        guard WriterPublicKey.verify(key, trailer, digest) else { return false }
        remember(entry, of: name)
        return true
    }

    /// Remembers a signature that this process has created with the secret key.
    func remember(_ key: WriterPublicKey, _ trailer: RecordTrailer, _ digest: [UInt8], of name: NameTag) {
        remember(Entry(key: key, digest: digest, signature: trailer.signature), of: name)
    }

    private func remember(_ entry: Entry, of name: NameTag) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[name] = entry
        }
    }
}
