#if SQLite
internal import Dispatch
internal import FileMonitoring
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

/// Changes of the database: its files say that there is something, its table of changes says what.
final class SQLiteChanges: BackendChanges {
    /// The place of a change in the table of changes.
    private struct Mark: Equatable {
        var revision: Int64 = 0
        var tag: Int64 = 0
    }

    private struct Position {
        var mark: Mark
        var isResync: Bool
    }

    private let backend: SQLiteBackend
    private let identity: [UInt8]
    private let position: Mutex<Position>
    private let watches: [MonitorRegistration]
    private static let queue = DispatchQueue(label: "SealedState.sqlite")
    /// A notification may come before the commit is visible: then the look is repeated after these milliseconds.
    private static let later = [1, 4, 16, 64]

    /// - Throws: `BackendError` `.io` if the system gives no more watches.
    init(
        _ backend: SQLiteBackend, path: String, after cursor: BackendCursor?,
        _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) {
        self.backend = backend
        let wake: @Sendable (MonitorEvent) -> Void = { _ in
            notify()
            for delay in Self.later { Self.queue.asyncAfter(deadline: .now() + .milliseconds(delay), execute: notify) }
        }
        do throws(FileError) {
            watches = [
                try FileMonitor.shared.watch(path + "-wal", wake), try FileMonitor.shared.watch(path, wake),
            ]
        } catch {
            throw BackendError(.io, "watch", path, error.reason, advice: error.advice, errno: error.errno, cause: error)
        }
        let start = try Self.start(in: backend, after: cursor)
        identity = start.identity
        position = Mutex(start.position)
        if cursor != nil { notify() }
    }

    /// Returns where a cursor continues: at its change, if the database still has it, and that one is no other change
    /// with the same number.
    private static func start(
        in backend: SQLiteBackend, after cursor: BackendCursor?
    ) throws(BackendError) -> (identity: [UInt8], position: Position) {
        try backend.reading { connection throws(BackendError) in
            var (identity, last): ([UInt8], Mark) = ([], Mark())
            try connection.query(.identity, "watch") { identity = $0.bytes(0) }
            try connection.query(.end, "watch") { last = Mark(revision: $0.integer(0), tag: $0.integer(1)) }
            guard let cursor else { return (identity, Position(mark: last, isResync: false)) }
            guard let known = mark(of: cursor, identity) else {
                return (identity, Position(mark: last, isResync: true))
            }
            // Before the first change.
            var found: Mark? = known.revision == 0 ? known : nil
            try connection.query(.tag, "watch", [.integer(known.revision)]) {
                found = Mark(revision: known.revision, tag: $0.integer(0))
            }
            return (
                identity, found == known ? Position(mark: known, isResync: false) : Position(mark: last, isResync: true)
            )
        }
    }

    func next(limit: Int) throws(BackendError) -> BackendNews {
        let now = position.withLock { $0 }
        let limit = max(1, limit)
        let (rows, last) = try backend.reading { connection throws(BackendError) in
            var (rows, last): ([(mark: Mark, name: String)], Int64) = ([], 0)
            let values: [SQLiteValue] = [.integer(now.mark.revision), .integer(Int64(clamping: limit))]
            try connection.query(.changes, "watch", values) { row in
                rows.append((Mark(revision: row.integer(0), tag: row.integer(2)), row.text(1)))
            }
            try connection.query(.lastChange, "watch") { last = $0.integer(0) }
            return (rows, last)
        }
        // Revisions have no gaps: the changes after the position are not kept any more, or an older database is there.
        let isGap = rows.first.map { $0.mark.revision != now.mark.revision + 1 } ?? (last < now.mark.revision)
        let reached = rows.last?.mark ?? (isGap ? Mark() : now.mark)
        position.withLock { $0 = Position(mark: reached, isResync: false) }
        var seen: Set<String> = [""]
        return BackendNews(
            keys: rows.map(\.name).filter { seen.insert($0).inserted }.map { BackendKey($0) },
            isResync: now.isResync || isGap,
            cursor: cursor(at: reached),
            isPartial: rows.count == limit)
    }

    private func cursor(at mark: Mark) -> BackendCursor {
        let numbers = (mark.revision.littleEndian, mark.tag.littleEndian)
        return BackendCursor(bytes: identity + withUnsafeBytes(of: numbers) { Array($0) })
    }

    private static func mark(of cursor: BackendCursor, _ identity: [UInt8]) -> Mark? {
        guard cursor.bytes.count == identity.count + 16, cursor.bytes.starts(with: identity) else { return nil }
        let numbers = cursor.bytes.dropFirst(identity.count)
        func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
            Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
        return Mark(revision: number(numbers.prefix(8)), tag: number(numbers.suffix(8)))
    }
}
#endif
