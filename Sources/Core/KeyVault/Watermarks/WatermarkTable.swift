internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// What this process has accepted, shared by all its stores of one group: memory first, then the log.
package final class WatermarkTable: Sendable {
    private struct Memory {
        var states: [NameTag: AcceptedState] = [:]
        var condition = WatermarkCondition.firstContact
        var isForeign = false
        /// What could not be written yet; it goes with the next entry.
        var unwritten: [NameTag: AcceptedState] = [:]
        var failure: String?

        mutating func merge(_ news: [NameTag: AcceptedState]) {
            for (name, state) in news { states[name, default: state].merge(state) }
        }

        mutating func take(_ contents: WatermarkLog.Contents) {
            merge(contents.floors)
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
    private let lookTimer = LookTimer()

    init(log: WatermarkLog) {
        self.log = log
        load()
    }

    private func load() {
        let contents = log.load()
        memory.withLock { $0.take(contents) }
    }

    package var condition: WatermarkCondition {
        memory.withLock { memory in
            switch memory.condition {
            // What was lost weighs more than what could not be added.
            case .unreadable, .lost, .damaged: return memory.condition
            default: return memory.failure.map(WatermarkCondition.notPersisted) ?? memory.condition
            }
        }
    }

    /// Whether what was accepted before was noted under another key than this vault's: the notes are damaged as a whole,
    /// or the vault is another one with the same id.
    ///
    /// Asked of the file again while it was so: a person may have accepted the vault meanwhile, in another process.
    func isForeign() -> Bool {
        guard memory.withLock({ $0.isForeign }) else { return false }
        load()
        return memory.withLock { $0.isForeign }
    }

    /// Begins anew beside notes that are not this vault's.
    func setForeignAside() throws(FileError) {
        guard isForeign() else { return }
        try log.setAside(as: "foreign")
        load()
    }

    /// Ends the report of a lost or damaged file, once a person has accepted it; what is known is written down again.
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

    /// The highest accepted state of a record.
    package func mark(of name: NameTag) -> Watermark? { memory.withLock { $0.states[name]?.mark } }

    /// What was accepted of each record, and of the vault's files, that no crash can have taken back.
    var acceptedMarks: [(NameTag, Watermark)] {
        memory.withLock { memory in
            memory.states.filter { $0.value.mark.sequence > 0 }.map { ($0.key, $0.value.mark) }
        }
    }

    /// Takes over what other processes have accepted meanwhile: a writer has to go beyond all of them. A file that could
    /// not be read before is tried again.
    package func refresh() {
        if memory.withLock({ $0.isUnread }) { return load() }
        let news = log.news()
        if !news.isEmpty { memory.withLock { $0.merge(news) } }
    }
}

// MARK: Accepting

extension WatermarkTable {
    /// What was said of a blob, and where the clock stood when it was accepted.
    package struct Acceptance: Sendable {
        package let verdict: Watermark.Verdict
        package let anchor: ClockAnchor
    }

    /// Judges a verified header that was read, and remembers it when it advances.
    ///
    /// - Parameter wallClock: Seconds since 1970; asked once for each blob.
    package func accept(_ header: VerifiedHeader, at wallClock: () -> Double) -> Acceptance {
        if let known = known(header) { return known }
        // What looks new to this process may be old to another one of the same user.
        if verdict(on: header) == .advances { refresh() }
        let now = wallClock()
        return take(
            AcceptedBlobFacts(
                header: header.header, isAcknowledged: false, anchor: ClockAnchor(atMost: now), now: now))
    }

    /// Judges a write of a vault's compartment, and remembers it when it advances.
    ///
    /// - Parameter isAcknowledged: Whether this process wrote it and was told that it is on the disk.
    func accept(compartment name: NameTag, _ mark: Watermark, isAcknowledged: Bool = false) -> Watermark.Verdict {
        if verdict(on: mark, of: name) == .advances { refresh() }
        // A jump stops nobody: a member who plants the highest generation would else keep the others from a rekey, which
        // begins at 1 again.
        if verdict(on: mark, of: name) == .jumps { return .advances }
        let now = Double(WallClock.milliseconds()) / 1000
        return take(AcceptedBlobFacts(name: name, mark: mark, isAcknowledged: isAcknowledged, now: now)).verdict
    }

    private func verdict(on candidate: Watermark, of name: NameTag) -> Watermark.Verdict {
        Watermark.verdict(on: candidate, after: mark(of: name))
    }

    /// Remembers what this process has written, once it is known to be written: a crash does not take back what was
    /// written durably.
    package func acknowledge(_ header: VerifiedHeader, at wallClock: Double) -> Watermark.Verdict {
        acknowledge(header, anchor: ClockAnchor(atMost: wallClock), now: wallClock)
    }

    private func acknowledge(_ header: VerifiedHeader, anchor: ClockAnchor, now: Double) -> Watermark.Verdict {
        if verdict(on: header) == .advances { refresh() }
        return take(
            AcceptedBlobFacts(header: header.header, isAcknowledged: true, anchor: anchor, now: now)
        ).verdict
    }

    /// The answer for a blob of which everything is known, and for one that is refused: nothing changes.
    private func known(_ header: VerifiedHeader) -> Acceptance? {
        let candidate = Watermark(header.header)
        return memory.withLock { memory in
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
        let (acceptance, news) = memory.withLock { memory in
            let known = memory.states[name]
            let verdict = Watermark.verdict(on: blob.mark, after: known?.mark)
            guard verdict == .advances || verdict == .same else {
                return (Acceptance(verdict: verdict, anchor: .unknown), AcceptedState?.none)
            }
            let state = blob.state(after: known)
            memory.states[name] = state
            // What was the same says more only by being settled; its clock and its blob are known to the file's readers
            // as soon as they read it.
            let isNews =
                verdict == .advances || (blob.isAcknowledged && state.settled > known?.settled ?? 0)
                || state.isRefilled != known?.isRefilled
            return (Acceptance(verdict: verdict, anchor: state.anchor), isNews ? state : nil)
        }
        if let news { persist(news, of: name) }
        return acceptance
    }

    /// Judges without remembering: for tools that only look.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        Watermark.verdict(on: Watermark(header.header), after: mark(of: header.header.nameTag))
    }

    /// A state that could not be remembered on disk still holds in memory; reads never fail for it.
    private func persist(_ state: AcceptedState, of name: NameTag) {
        let states = memory.withLock { memory in
            memory.unwritten[name, default: state].merge(state)
            defer { memory.unwritten = [:] }
            return memory.unwritten
        }
        do throws(FileError) {
            try log.append(states.map { WatermarkEntry(name: $0.key, state: $0.value) })
            memory.withLock { if $0.unwritten.isEmpty { $0.failure = nil } }
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
    /// The latest anchor that any program of this user is known to have for a blob: another one may have found it stale.
    ///
    /// Looks at the file once a second at most. A blob below the mark has the latest anchor of those below it.
    /// - Parameter known: What its acceptance gave.
    package func anchor(of header: BlobHeader, asOf known: ClockAnchor) -> ClockAnchor {
        let isDue = lookTimer.isDue()
        if known.isKnown && !isDue { return known }
        if isDue { refresh() }
        return max(known, anchor(of: header.nameTag, sequence: header.sequence))
    }

    /// The anchor that this process knows of a record's state.
    package func anchor(of name: NameTag, sequence: UInt64) -> ClockAnchor {
        memory.withLock { memory in
            // A blob beyond the mark was never accepted: nobody has seen a clock with it.
            guard let state = memory.states[name], sequence <= state.mark.sequence else { return .unknown }
            return state.mark.sequence == sequence ? state.anchor : state.formerAnchor
        }
    }

    /// Remembers a later anchor for a blob that was found stale by it, so that a clock that is set back does not revive it.
    package func raise(_ anchor: ClockAnchor, of header: BlobHeader) {
        let name = header.nameTag
        let news = memory.withLock { memory -> AcceptedState? in
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
            return state
        }
        if let news { persist(news, of: name) }
    }
}

// MARK: Purges

extension WatermarkTable {
    /// Remembers that a deleted record's file was removed on purpose and durably. Its mark stays, so that nothing older
    /// can be put back; the next write ends it.
    ///
    /// - Parameter sequence: The deletion's, which was accepted before; a purge of another one says nothing of the mark.
    package func notePurge(of name: NameTag, at sequence: UInt64) {
        let news = memory.withLock { memory -> AcceptedState? in
            guard var state = memory.states[name], state.mark.sequence == sequence, !state.isPurged else { return nil }
            state.isPurged = true
            state.settled = state.mark.sequence
            memory.states[name] = state
            return state
        }
        if let news { persist(news, of: name) }
    }

    /// Whether a record's file is gone on purpose.
    package func isPurged(_ name: NameTag) -> Bool { memory.withLock { $0.states[name]?.isGone ?? false } }
}

extension WatermarkTable {
    // One table for each file and key, so that two stores of a process never judge by different memories, and none by
    // that of a vault with another root.
    private static let tables = Mutex<[String: WatermarkTable]>([:])

    /// The process's table of that name.
    static func shared(_ name: String, makingLog makeLog: () -> WatermarkLog) -> WatermarkTable {
        tables.withLock { tables in
            if let table = tables[name] { return table }
            let table = WatermarkTable(log: makeLog())
            tables[name] = table
            return table
        }
    }
}
