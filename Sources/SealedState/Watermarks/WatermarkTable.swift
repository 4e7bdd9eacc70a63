internal import CryptoPrimitives
internal import Sealing
internal import Synchronization

/// What this process has accepted, shared by all its stores of one group: memory first, then the log.
final class WatermarkTable: Sendable {
    private struct State {
        var marks: [NameTag: Watermark]
        var condition: WatermarkCondition
    }

    private let state: Mutex<State>
    private let log: WatermarkLog

    init(log: WatermarkLog) {
        self.log = log
        let contents = log.load()
        state = Mutex(State(marks: contents.floors, condition: contents.condition))
    }

    var condition: WatermarkCondition { state.withLock { $0.condition } }

    /// The highest accepted state of a record.
    func mark(of name: NameTag) -> Watermark? { state.withLock { $0.marks[name] } }

    /// Judges a verified header and remembers it when it advances.
    func accept(_ header: VerifiedHeader) -> Watermark.Verdict {
        let candidate = Watermark(header.header)
        let name = header.header.nameTag
        let verdict = state.withLock { state -> Watermark.Verdict in
            guard let known = state.marks[name] else {
                state.marks[name] = candidate
                return .advances
            }
            let verdict = known.verdict(on: candidate)
            if verdict == .advances { state.marks[name] = candidate }
            return verdict
        }
        if verdict == .advances { persist(name, candidate, isDurable: !header.header.flags.contains(.unsynced)) }
        return verdict
    }

    /// Judges without remembering: for tools that only look.
    func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        mark(of: header.header.nameTag)?.verdict(on: Watermark(header.header)) ?? .advances
    }

    /// A state that could not be remembered on disk still holds in memory; reads never fail for it.
    private func persist(_ name: NameTag, _ mark: Watermark, isDurable: Bool) {
        do {
            try log.append(WatermarkEntry(name: name, mark: mark, isDurable: isDurable, boot: .current))
        } catch {
            state.withLock { $0.condition = .notPersisted(error.description) }
        }
    }

    // One table for each file, so that two stores of a process never judge by different memories.
    private static let tables = Mutex<[String: WatermarkTable]>([:])

    /// The process's table for a file.
    static func shared(path: String, makingLog makeLog: () -> WatermarkLog) -> WatermarkTable {
        tables.withLock { tables in
            if let table = tables[path] { return table }
            let table = WatermarkTable(log: makeLog())
            tables[path] = table
            return table
        }
    }
}
