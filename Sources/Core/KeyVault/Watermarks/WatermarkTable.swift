internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// The states that this process has accepted, shared by all its stores of one group: in memory first, then in the log.
package final class WatermarkTable: Sendable {
    private struct Memory {
        var states: [NameTag: AcceptedState] = [:]
        var condition = WatermarkCondition.firstContact
        var isForeign = false
        /// States that could not be written yet; the next entry includes them.
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
    private let refreshThrottle = RefreshThrottle()

    init(log: WatermarkLog) {
        self.log = log
        load()
    }

    private func load() {
        let contents = log.load()
        memory.withLock { $0.take(contents) }
        // An unreadable file is loaded again at each refresh.
        if case .unreadable = contents.condition { return }
        keep(contents.elsewhere)
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
            default: return memory.failure.map(WatermarkCondition.notPersisted) ?? memory.condition
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

    /// Returns the highest accepted state of a record.
    package func mark(of name: NameTag) -> Watermark? { memory.withLock { $0.states[name]?.mark } }

    /// The accepted states of each record, and of the vault's files, that no crash can undo.
    var acceptedMarks: [(NameTag, Watermark)] {
        memory.withLock { memory in
            memory.states.filter { $0.value.mark.sequence > 0 }.map { ($0.key, $0.value.mark) }
        }
    }

    /// Merges the states that other processes have accepted meanwhile: a writer has to exceed all of them. A file that
    /// could not be read before is tried again.
    package func refresh() {
        if memory.withLock({ $0.isUnread }) { return load() }
        let (news, elsewhere) = (log.news(), log.newsElsewhere())
        guard !news.isEmpty || !elsewhere.isEmpty else { return }
        // States that this table knows are not stored again, or two programs would copy it to each other for ever.
        let added = memory.withLock { memory in
            memory.merge(news)
            let added = elsewhere.filter { memory.states[$0.key]?.isMissing($0.value) ?? true }
            memory.merge(elsewhere)
            return added
        }
        keep(added)
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
    func accept(compartment name: NameTag, _ mark: Watermark, isAcknowledged: Bool = false) -> Watermark.Verdict {
        if verdict(on: mark, of: name) == .advances { refresh() }
        // A jump is accepted: otherwise a member who plants the highest generation would prevent the others from a
        // rekey, which begins at 1 again.
        if verdict(on: mark, of: name) == .jumps { return .advances }
        let now = Double(WallClock.milliseconds()) / 1000
        return take(AcceptedBlobFacts(name: name, mark: mark, isAcknowledged: isAcknowledged, now: now)).verdict
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
        memory.withLock { memory in
            // A blob beyond the mark was never accepted, so it has no anchor.
            guard let state = memory.states[name], sequence <= state.mark.sequence else { return .unknown }
            return state.mark.sequence == sequence ? state.anchor : state.formerAnchor
        }
    }

    /// Records a later anchor for a blob that was found stale at it, so that setting the clock back does not revive it.
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
        let news = memory.withLock { memory -> AcceptedState? in
            guard var state = memory.states[name], state.mark.sequence == sequence, !state.isPurged else { return nil }
            state.isPurged = true
            state.settled = state.mark.sequence
            memory.states[name] = state
            return state
        }
        if let news { persist([name: news]) }
    }

    /// Returns whether a record's file was deliberately removed.
    package func isPurged(_ name: NameTag) -> Bool { memory.withLock { $0.states[name]?.isGone ?? false } }
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
