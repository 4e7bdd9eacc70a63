internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// The states that this process has accepted, shared by all its stores of one group: in memory first, then in the log.
/// The states of many records are looked up when they are needed.
package final class WatermarkTable: Sendable {
    private struct Memory {
        /// The number of states from which those that the table has are forgotten.
        static let capacity = 16_384

        /// The states of the logs, and those that this process has accepted.
        var states: [NameTag: AcceptedState] = [:]
        /// The results of look-ups in the tables, to be forgotten at any time.
        var looked: [NameTag: AcceptedState?] = [:]
        /// The version of the tables in which these were looked up.
        var version = WatermarkLog.TableVersion()
        /// Changes when states were forgotten: a look-up that was begun before may lack them.
        var generation = 0
        /// The number of states at which the next forgetting is due.
        var limit = Self.capacity
        var condition = WatermarkCondition.firstContact
        var isForeign = false
        /// States that are not in the file yet.
        var unwritten: [NameTag: AcceptedState] = [:]
        var failure: String?

        var isFull: Bool { states.count >= limit }

        func state(of name: NameTag) -> AcceptedState? {
            guard let known = looked[name], let known else { return states[name] }
            return states[name].map { $0.merged(with: known) } ?? known
        }

        mutating func merge(_ news: [NameTag: AcceptedState]) {
            for (name, state) in news { states[name, default: state].merge(state) }
        }

        /// Sets a state, to be written if it is news.
        mutating func set(_ state: AcceptedState, of name: NameTag, isNews: Bool) {
            states[name] = state
            if isNews { unwritten[name, default: state].merge(state) }
        }

        mutating func noteWritten(_ written: [NameTag: AcceptedState]) {
            for (name, state) in written where unwritten[name] == state { unwritten[name] = nil }
            if unwritten.isEmpty { failure = nil }
        }

        /// Adds the result of a look-up that was begun in a version of the tables.
        mutating func add(_ state: AcceptedState?, of name: NameTag, in version: WatermarkLog.TableVersion) {
            if version != self.version || looked.count >= Self.capacity { looked.removeAll(keepingCapacity: true) }
            self.version = version
            looked[name] = .some(state)
        }

        /// Forgets states that the table has, unless they have advanced since.
        mutating func forget(_ stored: [NameTag: AcceptedState]) {
            for (name, state) in stored where states[name] == state && unwritten[name] == nil { states[name] = nil }
            looked = [:]
            generation += 1
            limit = max(Self.capacity, 2 * states.count)
        }

        var isUnread: Bool {
            if case .unreadable = condition { return true }
            return false
        }
    }

    private let memory = Mutex(Memory())
    /// Held from the reading of news until they are merged: meanwhile no other thread judges by their absence.
    private let reading = Mutex(())
    /// Held while states are written: the next writer takes along what others have added meanwhile.
    private let writing = Mutex(())
    private let log: WatermarkLog
    private let refreshThrottle = RefreshThrottle()

    init(log: WatermarkLog) {
        self.log = log
        load()
    }

    private func load() {
        reading.withLock { _ in
            let contents = log.load()
            memory.withLock { memory in
                memory.merge(contents.floors)
                memory.condition = contents.condition
                memory.isForeign = contents.isForeign
            }
            // An unreadable file is loaded again at each refresh.
            if case .unreadable = contents.condition { return }
            keep(contents.elsewhere)
        }
        persist()
    }

    /// Stores states of the other directory that this one has not: other users may be able to rename that one.
    private func keep(_ elsewhere: [NameTag: AcceptedState]) {
        for (name, state) in elsewhere where !log.isStoredHere(name, state) {
            memory.withLock { $0.unwritten[name, default: state].merge(state) }
        }
    }

    package var condition: WatermarkCondition {
        memory.withLock { memory in
            // A loss takes precedence over a failed append.
            memory.condition.combined(with: log.tableFault ?? memory.failure.map(WatermarkCondition.notPersisted))
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
            if memory.withLock({ $0.isUnread }) { try log.setUnreadableAside() }
        }
        // Meanwhile no state is forgotten because of a table that is given up here.
        try writing.withLock { _ throws(FileError) in
            try log.acceptLosses()
            let states = memory.withLock { $0.states }
            if !states.isEmpty { try log.append(states.map { WatermarkEntry(name: $0.key, state: $0.value) }) }
        }
        load()
    }

    /// Runs a closure with the memory, which has the state of a name if any directory has it.
    private func withMemory<Result>(of name: NameTag, _ body: (inout Memory) -> Result) -> Result {
        while true {
            let version = log.tableVersion
            guard version.hasTable else { return memory.withLock { body(&$0) } }
            let (known, generation) = memory.withLock { memory -> (Result?, Int) in
                let isKnown = memory.version == version && memory.looked[name] != nil
                return (isKnown ? body(&memory) : nil, memory.generation)
            }
            if let known { return known }
            let state = log.stored(name)
            let result = memory.withLock { memory -> Result? in
                guard memory.generation == generation else { return nil }
                memory.add(state, of: name, in: version)
                return body(&memory)
            }
            if let result { return result }
        }
    }

    /// Returns the highest accepted state of a record.
    package func mark(of name: NameTag) -> Watermark? { withMemory(of: name) { $0.state(of: name)?.mark } }

    /// Passes the accepted states of all records, and of the vault's files, to a closure until that returns `false`. A
    /// name may come twice.
    ///
    /// - Returns: `false` if some may be missing, because a file is lost, damaged or unreadable.
    @discardableResult
    func forEachMark(_ body: (NameTag, Watermark) -> Bool) -> Bool {
        let known = memory.withLock { $0.states }
        for (name, state) in known where state.mark.sequence > 0 {
            guard body(name, state.mark) else { return true }
        }
        let isComplete = log.forEachStored { name, state in known[name] != nil || body(name, state.mark) }
        return isComplete && condition.isComplete
    }

    /// Merges the states that other processes have accepted meanwhile: a writer has to exceed all of them. A file that
    /// could not be read before is tried again.
    package func refresh() {
        if memory.withLock({ $0.isUnread }) { return load() }
        reading.withLock { _ in
            let elsewhere = log.newsElsewhere()
            do throws(FileError) {
                let news = try log.news()
                memory.withLock { $0.merge(news) }
            } catch {
                memory.withLock { $0.condition = .unreadable("\(error.sentence) \(error.advice)") }
            }
            // Known states are not stored again: two programs would copy them to each other for ever.
            keep(elsewhere.filter { name, state in memory.withLock { $0.states[name]?.isMissing(state) ?? true } })
            memory.withLock { $0.merge(elsewhere) }
        }
        persist()
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
        memory.withLock { memory in
            for (name, mark) in marks {
                let state = AcceptedState(mark: mark, isDurable: true, settled: mark.sequence)
                memory.merge([name: state])
                memory.unwritten[name, default: state].merge(state)
            }
        }
        persist()
    }

    private func verdict(on candidate: Watermark, of name: NameTag) -> Watermark.Verdict {
        Watermark.verdict(on: candidate, after: mark(of: name))
    }

    /// Records writes of this process, in one write, once a crash does not undo durable ones.
    package func acknowledge(_ headers: [VerifiedHeader], at time: Double) -> [Watermark.Verdict] {
        defer { persist() }
        if headers.contains(where: { verdict(on: $0) == .advances }) { refresh() }
        let anchor = ClockAnchor(atMost: time)
        return headers.lazy.map(\.header)
            .map { AcceptedBlobFacts(header: $0, isAcknowledged: true, anchor: anchor, now: time) }
            .map { self.take($0, persisting: false).verdict }
    }

    /// Returns the result for a blob that is fully known, and for one that is refused: neither changes the state.
    private func known(_ header: VerifiedHeader) -> Acceptance? {
        let candidate = Watermark(header.header)
        return withMemory(of: header.header.nameTag) { memory in
            guard let state = memory.state(of: header.header.nameTag) else { return nil }
            let verdict = state.mark.verdict(on: candidate)
            switch verdict {
            case .advances: return nil
            case .same where state.mark.commitment == nil || !state.anchor.isKnown: return nil
            default: return Acceptance(verdict: verdict, anchor: state.anchor)
            }
        }
    }

    private func take(_ blob: AcceptedBlobFacts, persisting: Bool = true) -> Acceptance {
        let name = blob.name
        let (acceptance, isNews) = withMemory(of: name) { memory in
            let known = memory.state(of: name)
            let verdict = Watermark.verdict(on: blob.mark, after: known?.mark)
            guard verdict == .advances || verdict == .same else {
                return (Acceptance(verdict: verdict, anchor: .unknown), false)
            }
            let state = blob.state(after: known)
            // An unchanged state is news only if it is now settled; the file's readers learn its clock and its blob
            // when they read it.
            let isNews =
                verdict == .advances || (blob.isAcknowledged && state.settled > known?.settled ?? 0)
                || state.isRefilled != known?.isRefilled
            memory.set(state, of: name, isNews: isNews)
            let isDue = memory.isFull && memory.failure == nil
            return (Acceptance(verdict: verdict, anchor: state.anchor), isNews || isDue)
        }
        if isNews && persisting { persist() }
        return acceptance
    }

    /// Judges without recording, for tools that only inspect.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        Watermark.verdict(on: Watermark(header.header), after: mark(of: header.header.nameTag))
    }

    /// Stores the unwritten states on disk. If that fails, they still hold in memory, no read fails, and the next call
    /// tries again.
    private func persist() {
        writing.withLock { _ in
            let states = memory.withLock { $0.unwritten }
            if !states.isEmpty {
                do throws(FileError) {
                    try log.append(states.map { WatermarkEntry(name: $0.key, state: $0.value) })
                    memory.withLock { $0.noteWritten(states) }
                } catch {
                    return memory.withLock { $0.failure = "\(error.sentence) \(error.advice)" }
                }
            }
            forgetStored()
        }
    }

    /// Forgets states that the table has, each compared with it, when there are many. The others are written with the
    /// next news, so that they can be forgotten later. The anchor of an earlier blob is in no file.
    private func forgetStored() {
        guard let all = memory.withLock({ $0.isFull ? $0.states : nil }) else { return }
        let states = all.filter { !$0.value.formerAnchor.isKnown }
        let stored = states.filter { name, state in log.isStoredHere(name, state) }
        memory.withLock { memory in
            memory.forget(stored)
            for (name, state) in states where stored[name] == nil {
                memory.unwritten[name, default: state].merge(state)
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
            guard let state = memory.state(of: name), sequence <= state.mark.sequence else { return .unknown }
            return state.mark.sequence == sequence ? state.anchor : state.formerAnchor
        }
    }

    /// Records a later anchor for a blob that was found stale at it, so that setting the clock back does not revive it.
    package func raise(_ anchor: ClockAnchor, of header: BlobHeader) {
        let name = header.nameTag
        let isNews = withMemory(of: name) { memory in
            guard var state = memory.state(of: name) else { return false }
            guard state.mark.sequence == header.sequence else {
                if header.sequence < state.mark.sequence {
                    state.formerAnchor = max(state.formerAnchor, anchor)
                    memory.set(state, of: name, isNews: false)
                }
                return false
            }
            guard state.anchor < anchor else { return false }
            state.anchor = anchor
            memory.set(state, of: name, isNews: true)
            return true
        }
        if isNews { persist() }
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
        let isNews = withMemory(of: name) { memory in
            guard var state = memory.state(of: name), state.mark.sequence == sequence, !state.isPurged else {
                return false
            }
            state.isPurged = true
            state.settled = state.mark.sequence
            state.settledFile = RemovedFile()
            memory.set(state, of: name, isNews: true)
            return true
        }
        if isNews { persist() }
    }

    /// Returns whether a record's file was deliberately removed.
    package func isPurged(_ name: NameTag) -> Bool { withMemory(of: name) { $0.state(of: name)?.isGone ?? false } }
}
