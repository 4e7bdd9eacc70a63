#if SQLite
internal import Dispatch
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

/// The commits of this process in one line: commits that wait while another one is synced share the next sync.
final class CommitLine: Sendable {
    /// A commit that waits.
    private final class Ticket: Sendable {
        let writes: [BackendWrite]
        let isDurable: Bool
        let outcome = Mutex<Result<Void, BackendError>?>(nil)
        /// Signalled when there is an outcome, or when this commit leads the next group.
        let turn = DispatchSemaphore(value: 0)

        init(_ writes: [BackendWrite], isDurable: Bool) {
            self.writes = writes
            self.isDurable = isDurable
        }
    }

    private struct State {
        var waiting: [Ticket] = []
        var isLed = false
    }

    /// The connection that writes.
    private final class Writer: @unchecked Sendable {
        // Protected by the line: only its leader uses the connection.
        let connection: SQLiteConnection
        init(_ connection: SQLiteConnection) { self.connection = connection }
    }

    private let writer: Writer
    private let state = Mutex(State())
    private static let largestGroup = 256
    /// The number of changes that are kept for cursors.
    private static let keptChanges: Int64 = 100_000

    init(_ connection: SQLiteConnection) { writer = Writer(connection) }

    /// Commits writes, with those of other threads that wait at the same time.
    func commit(_ writes: [BackendWrite], isDurable: Bool) throws(BackendError) {
        let ticket = Ticket(writes, isDurable: isDurable)
        let isLeader = state.withLock { state in
            state.waiting.append(ticket)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !isLeader { ticket.turn.wait() }
        if let outcome = ticket.outcome.withLock({ $0 }) { return try outcome.get() }
        lead()
        guard let outcome = ticket.outcome.withLock({ $0 }) else {
            throw BackendError(.io, "write", "the database", "The commit has no outcome.")
        }
        return try outcome.get()
    }

    /// Makes earlier commits durable.
    func sync() throws(BackendError) {
        try commit([BackendWrite(BackendKey(""), .nothing)], isDurable: true)
    }

    /// Runs `body` in a transaction of its own.
    func exclusively<Result>(
        _ body: (SQLiteConnection) throws(BackendError) -> Result
    ) throws(BackendError) -> Result {
        let ticket = Ticket([], isDurable: true)
        let isLeader = state.withLock { state in
            state.waiting.append(ticket)
            defer { state.isLed = true }
            return !state.isLed
        }
        if !isLeader { ticket.turn.wait() }
        state.withLock { $0.waiting.removeAll { $0 === ticket } }
        defer { passOn() }
        let connection = writer.connection
        try connection.query(.begin, "write")
        do throws(BackendError) {
            let result = try body(connection)
            try connection.query(.commit, "write")
            return result
        } catch {
            try? connection.query(.rollback, "write")
            throw error
        }
    }

    /// Commits what waits, and passes the line on.
    private func lead() {
        let group = state.withLock { state in
            let group = state.waiting.prefix { !$0.writes.isEmpty }.prefix(Self.largestGroup)
            state.waiting.removeFirst(group.count)
            return Array(group)
        }
        let outcomes = made(group)
        for (ticket, outcome) in zip(group, outcomes) {
            ticket.outcome.withLock { $0 = outcome }
            ticket.turn.signal()
        }
        passOn()
    }

    private func passOn() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.isLed = false }
            return state.waiting.first
        }
        next?.turn.signal()
    }

    /// Makes the commits of a group in one transaction; returns the outcome of each.
    private func made(_ group: [Ticket]) -> [Result<Void, BackendError>] {
        let connection = writer.connection
        var outcomes: [Result<Void, BackendError>] = []
        do throws(BackendError) {
            try connection.setDurable(group.contains(where: \.isDurable))
            try connection.query(.begin, "write")
            var revision = try lastRevision(connection)
            let before = revision
            for ticket in group { outcomes.append(try make(ticket, connection, &revision)) }
            // A commit of nothing syncs nothing: a row is written for it.
            if revision == before, group.contains(where: \.isDurable) { try touch(connection, &revision) }
            if revision / 1000 != before / 1000 {
                try connection.query(.trim, "write", [.integer(revision - Self.keptChanges)])
            }
        } catch {
            try? connection.query(.rollback, "write")
            return group.map { _ in .failure(error) }
        }
        do throws(BackendError) { try connection.query(.commit, "write") } catch {
            try? connection.query(.rollback, "write")
            // After a failed sync the pages may still reach the disk.
            let failure =
                error.code == .io
                ? BackendError(.indeterminate, "write", error.subject, error.reason, cause: error) : error
            return outcomes.map { if case .success = $0 { .failure(failure) } else { $0 } }
        }
        // The write to the log was notified before its sync; the commit is visible only now.
        connection.announce()
        return outcomes
    }

    private func lastRevision(_ connection: SQLiteConnection) throws(BackendError) -> Int64 {
        var revision: Int64 = 0
        try connection.query(.lastChange, "write") { revision = $0.integer(0) }
        return revision
    }

    private func touch(_ connection: SQLiteConnection, _ revision: inout Int64) throws(BackendError) {
        revision += 1
        try connection.query(.note, "write", [.integer(revision), .text("")])
    }

    /// Makes one commit of a group, or nothing of it.
    private func make(
        _ ticket: Ticket, _ connection: SQLiteConnection, _ revision: inout Int64
    ) throws(BackendError) -> Result<Void, BackendError> {
        let before = revision
        try connection.query(.savepoint, "write")
        for (index, write) in ticket.writes.enumerated() {
            guard try holds(write, connection) else {
                try connection.query(.revert, "write")
                try connection.query(.release, "write")
                revision = before
                return .failure(
                    BackendError(
                        .conflict, "write", write.key.name, "Another blob is stored than the condition states.",
                        index: index))
            }
        }
        for write in ticket.writes { try apply(write, connection, &revision) }
        try connection.query(.release, "write")
        return .success(())
    }

    private func holds(_ write: BackendWrite, _ connection: SQLiteConnection) throws(BackendError) -> Bool {
        if write.condition == .any { return true }
        var head: [UInt8]?
        try connection.query(.head, "write", [.text(write.key.name)]) { head = $0.bytes(1) }
        return write.condition == head.map { .version(BlobVersion(of: $0)) } ?? .absent
    }

    private func apply(
        _ write: BackendWrite, _ connection: SQLiteConnection, _ revision: inout Int64
    ) throws(BackendError) {
        let name = SQLiteValue.text(write.key.name)
        switch write.change {
        case .nothing: return
        case .put(let blob):
            let end = min(BlobHead.size, blob.count)
            try connection.query(
                .put, "write", [name, .integer(revision + 1), .blob(blob[..<end]), .blob(blob[end...])])
        case .remove: try connection.query(.remove, "write", [name])
        }
        revision += 1
        try connection.query(.note, "write", [.integer(revision), name])
    }
}
#endif
