#if SQLite
internal import Dispatch
internal import FileMonitoring
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

/// Changes of the database: its files say that there is something, its table of changes says what.
final class SQLiteChanges: BackendChanges {
    private struct Position {
        var revision: Int64
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
        let (identity, last) = try Self.state(of: backend)
        self.identity = identity
        let known = cursor.flatMap { Self.revision(of: $0, identity) }
        // A position beyond the last change is of another state of the database.
        let isKnown = cursor == nil || known.map { $0 <= last } ?? false
        position = Mutex(Position(revision: isKnown ? known ?? last : last, isResync: !isKnown))
        if cursor != nil { notify() }
    }

    private static func state(of backend: SQLiteBackend) throws(BackendError) -> ([UInt8], Int64) {
        try backend.reading { connection throws(BackendError) in
            var (identity, last): ([UInt8], Int64) = ([], 0)
            try connection.query(.identity, "watch") { identity = $0.bytes(0) }
            try connection.query(.lastChange, "watch") { last = $0.integer(0) }
            return (identity, last)
        }
    }

    func next(limit: Int) throws(BackendError) -> BackendNews {
        let now = position.withLock { $0 }
        let limit = max(1, limit)
        let (rows, last) = try backend.reading { connection throws(BackendError) in
            var (rows, last): ([(revision: Int64, name: String)], Int64) = ([], 0)
            try connection.query(.changes, "watch", [.integer(now.revision), .integer(Int64(clamping: limit))]) { row in
                rows.append((row.integer(0), row.text(1)))
            }
            try connection.query(.lastChange, "watch") { last = $0.integer(0) }
            return (rows, last)
        }
        // Revisions have no gaps: the changes after the position are not kept any more, or an older database is there.
        let isGap = rows.first.map { $0.revision != now.revision + 1 } ?? (last < now.revision)
        let reached = rows.last?.revision ?? min(now.revision, last)
        position.withLock { $0 = Position(revision: reached, isResync: false) }
        var seen: Set<String> = [""]
        return BackendNews(
            keys: rows.map(\.name).filter { seen.insert($0).inserted }.map { BackendKey($0) },
            isResync: now.isResync || isGap,
            cursor: BackendCursor(bytes: identity + withUnsafeBytes(of: reached.littleEndian) { Array($0) }),
            isPartial: rows.count == limit)
    }

    private static func revision(of cursor: BackendCursor, _ identity: [UInt8]) -> Int64? {
        guard cursor.bytes.count == identity.count + 8, cursor.bytes.starts(with: identity) else { return nil }
        let number = cursor.bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(exactly: number)
    }
}
#endif
