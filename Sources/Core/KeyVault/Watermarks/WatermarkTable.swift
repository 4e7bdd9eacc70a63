internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// The states that this process has accepted, shared by all its stores of one group: in memory first, then in the log.
/// The states of many records are looked up when they are needed.
package final class WatermarkTable: Sendable {
    private struct Memory {
        /// The number of states from which those are forgotten that can be looked up again.
        static let capacity = 16_384

        var states: [NameTag: AcceptedState] = [:]
        /// The names that were looked up in the table as it is now.
        var found: Set<NameTag> = []
        /// The names whose states may be in a log only, with the number of that log.
        var recent: [NameTag: Int] = [:]
        var version = WatermarkLog.Version()
        var condition = WatermarkCondition.firstContact
        var isForeign = false
        /// States that could not be written yet; the next entry includes them.
        var unwritten: [NameTag: AcceptedState] = [:]
        var failure: String?

        /// Adds states of a log: until that log is replaced, they cannot be looked up.
        mutating func merge(_ news: [NameTag: AcceptedState], ofLog number: Int) {
            for (name, state) in news {
                states[name, default: state].merge(state)
                keep(name, number)
            }
        }

        mutating func keep(_ name: NameTag, _ number: Int) { recent[name] = max(recent[name] ?? 0, number) }

        /// Follows the files, never back to an earlier version.
        mutating func follow(_ version: WatermarkLog.Version) {
            guard version != self.version, version.log >= self.version.log else { return }
            found = []
            self.version = version
        }

        /// Adds what a look-up in a version of the files found, and forgets what can be looked up again: everything that
        /// a replaced log had is in the table or in the new log, which was read then.
        mutating func add(_ state: AcceptedState?, of name: NameTag, in version: WatermarkLog.Version) {
            if let state { states[name, default: state].merge(state) }
            guard version == self.version else { return }
            found.insert(name)
            // Without a boot id the files have only what holds after a restart.
            guard found.count > Self.capacity, BootID.current.isSame(as: .current) else { return }
            recent = recent.filter { $0.value >= version.log }
            states = states.filter { recent[$0.key] != nil || unwritten[$0.key] != nil || $0.key == name }
            found = [name]
        }

        mutating func take(_ contents: WatermarkLog.Contents) {
            merge(contents.floors, ofLog: version.log)
            condition = contents.condition
            isForeign = contents.isForeign
        }

        var isUnread: Bool {
            if case .unreadable = condition { return true }
            return false
        }
    }

    private let memory = Mutex(Memory())
    private let log: WatermarkLog
    private let refreshThrottle = RefreshThrottle()

    init(log: WatermarkLog) {
        self.log = log
        load()
    }

    private func load() {
        let contents = log.load()
        let version = log.version
        memory.withLock { memory in
            memory.follow(version)
            memory.take(contents)
        }
        // An unreadable file is loaded again at each refresh.
        if case .unreadable = contents.condition { return }
        keep(
            contents.elsewhere.filter { name, state in
                (try? log.storedHere(name)).flatMap { $0 }?.isMissing(state) ?? true
            })
    }

    /// Stores what only the other directory has: other users may be able to rename that one.
    private func keep(_ states: [NameTag: AcceptedState]) {
        if !states.isEmpty { persist(states) }
    }

    package var condition: WatermarkCondition {
        memory.withLock { memory in
            switch memory.condition {
            // A loss takes precedence over a failed append.
            case .unreadable, .lost, .damaged: return memory.condition
            default:
                if let fault = log.tableFault { return fault }
                return memory.failure.map(WatermarkCondition.notPersisted) ?? memory.condition
            }
        }
    }

    /// Returns whether the accepted states were recorded under another key than this vault's: all notes are damaged, or
    /// the vault is another one with the same id.
    ///
    /// Reads the file again while it is so: a person may have accepted the vault meanwhile, in another process.
    func isForeign() -> Bool {
        guard memory.withLock({ $0.isForeign }) else { return false }
        load()
        return memory.withLock { $0.isForeign }
    }

    /// Ends the report of a lost or damaged file after a person has accepted it, and writes the known states again.
    func acceptLosses() throws(FileError) {
        if memory.withLock({ $0.isUnread }) {
            load()
            if memory.withLock({ $0.isUnread }) { try log.setAside(as: "unreadable") }
        }
        try log.acceptLosses()
        let states = memory.withLock { $0.states }
        if !states.isEmpty { try log.append(states.map { WatermarkEntry(name: $0.key, state: $0.value) }) }
        load()
    }

    /// Runs a closure with the memory, which has the state of a name if any directory has it.
    private func withMemory<Result>(of name: NameTag, _ body: (inout Memory) -> Result) -> Result {
        // The files may change during a look-up.
        for _ in 0..<8 where !look(for: name) {}
        return memory.withLock { body(&$0) }
    }

    /// - Returns: Whether the memory has the state of the name in the present version of the files.
    private func look(for name: NameTag) -> Bool {
        let version = log.version
        guard version.hasTable else { return true }
        let isFound = memory.withLock { memory in
            memory.follow(version)
            return memory.found.contains(name)
        }
        if isFound { return true }
        do throws(FileError) {
            let state = try log.stored(name)
            return memory.withLock { memory in
                memory.add(state, of: name, in: version)
                return version == log.version
            }
        } catch {
            memory.withLock { $0.condition = .unreadable("\(error.sentence) \(error.advice)") }
            return true
        }
    }

    /// Returns the highest accepted state of a record.
    package func mark(of name: NameTag) -> Watermark? { withMemory(of: name) { $0.states[name]?.mark } }

    /// Passes the accepted states of all records, and of the vault's files, to a closure until that returns `false`. A
    /// name may come twice.
    ///
    /// - Returns: `false` if a table could not be read.
    @discardableResult
    func forEachMark(_ body: (NameTag, Watermark) -> Bool) -> Bool {
        let known = memory.withLock { $0.states }
        for (name, state) in known where state.mark.sequence > 0 {
            guard body(name, state.mark) else { return true }
        }
        do throws(FileError) {
            try log.forEachStored { name, state in known[name] != nil || body(name, state.mark) }
            return true
        } catch {
            return false
        }
    }

    /// Merges the states that other processes have accepted meanwhile: a writer has to exceed all of them. A file that
    /// could not be read before is tried again.
    package func refresh() {
        if memory.withLock({ $0.isUnread }) { return load() }
        let elsewhere = log.newsElsewhere()
        let (news, version) = log.news()
        // States that this table knows are not stored again, or two programs would copy it to each other for ever.
        let unknown = elsewhere.filter { name, state in
            withMemory(of: name) { $0.states[name]?.isMissing(state) ?? true }
        }
        memory.withLock { memory in
            memory.follow(version)
            memory.merge(news, ofLog: version.log)
            memory.merge(elsewhere, ofLog: version.log)
        }
        keep(unknown)
    }
}

// MARK: Accepting

extension WatermarkTable {
    /// The verdict on a blob, and the clock anchor of its acceptance.
    package struct Acceptance: Sendable {
        package let verdict: Watermark.Verdict
        package let anchor: ClockAnchor
    }

    /// Judges a verified header that was read, and records it if it advances the state.
    ///
    /// - Parameter wallClock: Returns seconds since 1970; called once for each blob.
    package func accept(_ header: VerifiedHeader, at wallClock: () -> Double) -> Acceptance {
        if let known = known(header) { return known }
        // A state that is new to this process may be old to another process of the same user.
        if verdict(on: header) == .advances { refresh() }
        let now = wallClock()
        return take(
            AcceptedBlobFacts(
                header: header.header, isAcknowledged: false, anchor: ClockAnchor(atMost: now), now: now))
    }

    /// Judges a write of a vault's compartment, and records it if it advances the state.
    ///
    /// - Parameter isAcknowledged: Whether this process wrote it and got the confirmation that it is on the disk.
    package func accept(
        compartment name: NameTag, _ mark: Watermark, isAcknowledged: Bool = false
    ) -> Watermark.Verdict {
        if verdict(on: mark, of: name) == .advances { refresh() }
        // A jump is accepted: otherwise a member who plants the highest generation would prevent the others from a
        // rekey, which begins at 1 again.
        if verdict(on: mark, of: name) == .jumps { return .advances }
        let now = Double(WallClock.milliseconds()) / 1000
        return take(AcceptedBlobFacts(name: name, mark: mark, isAcknowledged: isAcknowledged, now: now)).verdict
    }

    /// Records states that another program has accepted, in one write.
    package func record(_ marks: [(NameTag, Watermark)]) {
        persist(
            Dictionary(
                uniqueKeysWithValues: marks.map { name, mark in
                    (name, AcceptedState(mark: mark, isDurable: true, settled: mark.sequence))
                }))
    }

    private func verdict(on candidate: Watermark, of name: NameTag) -> Watermark.Verdict {
        Watermark.verdict(on: candidate, after: mark(of: name))
    }

    /// Records a write of this process once it is known to be written: a crash does not undo a durable write.
    package func acknowledge(_ header: VerifiedHeader, at wallClock: Double) -> Watermark.Verdict {
        acknowledge(header, anchor: ClockAnchor(atMost: wallClock), now: wallClock)
    }

    private func acknowledge(_ header: VerifiedHeader, anchor: ClockAnchor, now: Double) -> Watermark.Verdict {
        if verdict(on: header) == .advances { refresh() }
        return take(
            AcceptedBlobFacts(header: header.header, isAcknowledged: true, anchor: anchor, now: now)
        ).verdict
    }

    /// Returns the result for a blob that is fully known, and for one that is refused: neither changes the state.
    private func known(_ header: VerifiedHeader) -> Acceptance? {
        let candidate = Watermark(header.header)
        return withMemory(of: header.header.nameTag) { memory in
            guard let state = memory.states[header.header.nameTag] else { return nil }
            let verdict = state.mark.verdict(on: candidate)
            switch verdict {
            case .advances: return nil
            case .same where state.mark.commitment == nil || !state.anchor.isKnown: return nil
            default: return Acceptance(verdict: verdict, anchor: state.anchor)
            }
        }
    }

    private func take(_ blob: AcceptedBlobFacts) -> Acceptance {
        let name = blob.name
        let (acceptance, news) = withMemory(of: name) { memory in
            let known = memory.states[name]
            let verdict = Watermark.verdict(on: blob.mark, after: known?.mark)
            guard verdict == .advances || verdict == .same else {
                return (Acceptance(verdict: verdict, anchor: .unknown), AcceptedState?.none)
            }
            let state = blob.state(after: known)
            memory.states[name] = state
            memory.keep(name, memory.version.log)
            // An unchanged state is news only if it is now settled; the file's readers learn its clock and its blob
            // when they read it.
            let isNews =
                verdict == .advances || (blob.isAcknowledged && state.settled > known?.settled ?? 0)
                || state.isRefilled != known?.isRefilled
            return (Acceptance(verdict: verdict, anchor: state.anchor), isNews ? state : nil)
        }
        if let news { persist([name: news]) }
        return acceptance
    }

    /// Judges without recording, for tools that only inspect.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        Watermark.verdict(on: Watermark(header.header), after: mark(of: header.header.nameTag))
    }

    /// Stores states on disk, with those of earlier calls that could not be stored. If that fails, they still hold in
    /// memory, and no read fails.
    private func persist(_ added: [NameTag: AcceptedState]) {
        let states = memory.withLock { memory in
            for (name, state) in added { memory.unwritten[name, default: state].merge(state) }
            defer { memory.unwritten = [:] }
            return memory.unwritten
        }
        do throws(FileError) {
            let number = try log.append(states.map { WatermarkEntry(name: $0.key, state: $0.value) })
            memory.withLock { memory in
                // The log may have been replaced meanwhile, and they may have been forgotten.
                memory.merge(states, ofLog: number)
                if memory.unwritten.isEmpty { memory.failure = nil }
            }
        } catch {
            memory.withLock { memory in
                memory.failure = "\(error.sentence) \(error.advice)"
                for (name, state) in states { memory.unwritten[name, default: state].merge(state) }
            }
        }
    }
}

// MARK: Time

extension WatermarkTable {
    /// Returns the latest anchor that this user's programs are known to have for a blob: another program may have found
    /// it stale.
    ///
    /// Reads the file at most once a second. A blob below the mark has the latest anchor of those below it.
    /// - Parameter known: The anchor from its acceptance.
    package func anchor(of header: BlobHeader, asOf known: ClockAnchor) -> ClockAnchor {
        let isDue = refreshThrottle.isDue()
        if known.isKnown && !isDue { return known }
        if isDue { refresh() }
        return max(known, anchor(of: header.nameTag, sequence: header.sequence))
    }

    /// Returns the anchor that this process knows of a record's state.
    package func anchor(of name: NameTag, sequence: UInt64) -> ClockAnchor {
        withMemory(of: name) { memory in
            // A blob beyond the mark was never accepted, so it has no anchor.
            guard let state = memory.states[name], sequence <= state.mark.sequence else { return .unknown }
            return state.mark.sequence == sequence ? state.anchor : state.formerAnchor
        }
    }

    /// Records a later anchor for a blob that was found stale at it, so that setting the clock back does not revive it.
    package func raise(_ anchor: ClockAnchor, of header: BlobHeader) {
        let name = header.nameTag
        let news = withMemory(of: name) { memory -> AcceptedState? in
            guard var state = memory.states[name] else { return nil }
            guard state.mark.sequence == header.sequence else {
                if header.sequence < state.mark.sequence {
                    memory.states[name]?.formerAnchor = max(state.formerAnchor, anchor)
                }
                return nil
            }
            guard state.anchor < anchor else { return nil }
            state.anchor = anchor
            memory.states[name] = state
            memory.keep(name, memory.version.log)
            return state
        }
        if let news { persist([name: news]) }
    }
}

// MARK: Purges

extension WatermarkTable {
    /// Records that a deleted record's file was removed deliberately and durably. Its mark stays, so that no older blob
    /// can be restored; the next write ends it.
    ///
    /// - Parameter sequence: The sequence of the deletion, which was accepted before; a purge of another one does not
    ///   affect the mark.
    package func notePurge(of name: NameTag, at sequence: UInt64) {
        let news = withMemory(of: name) { memory -> AcceptedState? in
            guard var state = memory.states[name], state.mark.sequence == sequence, !state.isPurged else { return nil }
            state.isPurged = true
            state.settled = state.mark.sequence
            state.settledFile = RemovedFile()
            memory.states[name] = state
            memory.keep(name, memory.version.log)
            return state
        }
        if let news { persist([name: news]) }
    }

    /// Returns whether a record's file was deliberately removed.
    package func isPurged(_ name: NameTag) -> Bool { withMemory(of: name) { $0.states[name]?.isGone ?? false } }
}
