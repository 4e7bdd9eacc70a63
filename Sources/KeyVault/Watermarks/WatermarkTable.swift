internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// What this process has accepted, shared by all its stores of one group: memory first, then the log.
package final class WatermarkTable: Sendable {
    private struct State {
        var marks: [NameTag: Watermark]
        var condition: WatermarkCondition
        var isForeign: Bool
        /// What could not be written yet; it goes with the next entry.
        var unwritten: [NameTag: WatermarkEntry] = [:]
        var failure: String?

        mutating func keep(_ entry: WatermarkEntry) {
            if unwritten[entry.name]?.mark.isBehind(entry.mark) ?? true { unwritten[entry.name] = entry }
        }
    }

    private let state: Mutex<State>
    private let log: WatermarkLog

    init(log: WatermarkLog) {
        self.log = log
        let contents = log.load()
        state = Mutex(State(marks: contents.floors, condition: contents.condition, isForeign: contents.isForeign))
    }

    package var condition: WatermarkCondition {
        state.withLock { state in
            // What was lost weighs more than what could not be added.
            if case .unreadable = state.condition { return state.condition }
            return state.failure.map(WatermarkCondition.notPersisted) ?? state.condition
        }
    }

    /// Whether what was accepted before was noted under another key than this vault's: the notes are damaged as a whole,
    /// or the vault is another one with the same id.
    ///
    /// Asked of the file again while it was so: a person may have accepted the vault meanwhile, in another process.
    func isForeign() -> Bool {
        guard state.withLock({ $0.isForeign }) else { return false }
        let contents = log.load()
        return state.withLock { state in
            state.condition = contents.condition
            state.isForeign = contents.isForeign
            for (name, floor) in contents.floors where state.marks[name]?.isOutdone(by: floor) ?? true {
                state.marks[name] = floor
            }
            return state.isForeign
        }
    }

    /// Begins anew beside notes that are not this vault's.
    func setForeignAside() throws(FileError) {
        guard isForeign() else { return }
        try log.setAside()
        state.withLock { state in
            state.condition = .firstContact
            state.isForeign = false
        }
    }

    /// The highest accepted state of a record.
    package func mark(of name: NameTag) -> Watermark? { state.withLock { $0.marks[name] } }

    /// The records of which a state was accepted that no crash can have taken back: a floor of 0 is a first write that
    /// may not have outlived a restart.
    package var acceptedNames: [NameTag] {
        state.withLock { state in state.marks.filter { $0.value.sequence > 0 }.map(\.key) }
    }

    /// Takes over what other processes have accepted meanwhile: a writer has to go beyond all of them.
    package func refresh() {
        let news = log.news()
        guard !news.isEmpty else { return }
        state.withLock { state in
            for (name, floor) in news where state.marks[name]?.isOutdone(by: floor) ?? true {
                state.marks[name] = floor
            }
        }
    }

    /// Judges a verified header and remembers it when it advances.
    package func accept(_ header: VerifiedHeader) -> Watermark.Verdict {
        // What looks new to this process may be old to another one of the same user.
        if verdict(on: header) == .advances { refresh() }
        let verdict = take(header)
        if verdict == .advances {
            let isDurable = !header.header.flags.contains(.unsynced)
            persist(
                WatermarkEntry(
                    name: header.header.nameTag, mark: Watermark(header.header), isDurable: isDurable, boot: .current))
        }
        return verdict
    }

    private func take(_ header: VerifiedHeader) -> Watermark.Verdict {
        let candidate = Watermark(header.header)
        return state.withLock { state in
            let known = state.marks[header.header.nameTag]
            let verdict = known?.verdict(on: candidate) ?? .advances
            // A floor of an earlier boot does not know yet which blob stands there.
            let completes = verdict == .same && known?.commitment == nil
            if verdict == .advances || completes { state.marks[header.header.nameTag] = candidate }
            return verdict
        }
    }

    /// Judges without remembering: for tools that only look.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        mark(of: header.header.nameTag)?.verdict(on: Watermark(header.header)) ?? .advances
    }

    /// A state that could not be remembered on disk still holds in memory; reads never fail for it.
    private func persist(_ entry: WatermarkEntry) {
        let entries = state.withLock { state in
            state.keep(entry)
            defer { state.unwritten = [:] }
            return Array(state.unwritten.values)
        }
        do throws(FileError) {
            try log.append(entries)
            state.withLock { if $0.unwritten.isEmpty { $0.failure = nil } }
        } catch {
            state.withLock { state in
                state.failure = error.description
                for entry in entries { state.keep(entry) }
            }
        }
    }

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
