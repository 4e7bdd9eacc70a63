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
        private var connection: SQLiteConnection?
        private let path: String

        init(_ connection: SQLiteConnection) {
            self.connection = connection
            path = connection.path
        }

        func open() throws(BackendError) -> SQLiteConnection {
            if let connection { return connection }
            let connection = try SQLiteConnection(path)
            self.connection = connection
            return connection
        }

        /// Undoes what was not committed. After a failure of the disk the connection is closed: its next sync could
        /// succeed after the kernel has dropped the pages that it could not write.
        func abandon(after error: BackendError) {
            try? connection?.query(.rollback, "write")
            if error.code == .io { connection = nil }
        }
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
        do throws(BackendError) {
            let connection = try writer.open()
            try connection.query(.begin, "write")
            let result = try body(connection)
            try connection.query(.commit, SQLiteConnection.commit)
            return result
        } catch {
            writer.abandon(after: error)
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
        let connection: SQLiteConnection
        let (outcomes, isChanged): ([Result<Void, BackendError>], Bool)
        do throws(BackendError) {
            connection = try writer.open()
            (outcomes, isChanged) = try prepared(group, connection)
        } catch {
            writer.abandon(after: error)
            return group.map { _ in .failure(error) }
        }
        do throws(BackendError) { try connection.query(.commit, SQLiteConnection.commit) } catch {
            writer.abandon(after: error)
            // After a failed sync the pages may still reach the disk.
            let failure =
                error.code == .io
                ? BackendError(.indeterminate, "write", error.subject, error.reason, cause: error) : error
            return outcomes.map { if case .success = $0 { .failure(failure) } else { $0 } }
        }
        // The write to the log was notified before its sync; the commit is visible only now.
        if isChanged { connection.announce() }
        return outcomes
    }

    /// Makes the changes of a group in a transaction that is not committed yet; returns the outcome of each, and whether
    /// there are changes.
    private func prepared(
        _ group: [Ticket], _ connection: SQLiteConnection
    ) throws(BackendError) -> ([Result<Void, BackendError>], isChanged: Bool) {
        var outcomes: [Result<Void, BackendError>] = []
        try connection.setDurable(group.contains(where: \.isDurable))
        try connection.query(.begin, "write")
        let before = try lastRevision(connection)
        var end = Revision(number: before, tag: .random(in: .min ... .max))
        for ticket in group { outcomes.append(try make(ticket, connection, &end)) }
        // A commit of nothing syncs nothing: a row is written for it.
        if end.number == before, group.contains(where: \.isDurable) { try note("", connection, &end) }
        if end.number / 1000 != before / 1000 {
            try connection.query(.trim, "write", [.integer(end.number - Self.keptChanges)])
        }
        return (outcomes, end.number != before)
    }

    /// The number of the last change, and the tag of the changes of this transaction.
    private struct Revision {
        var number: Int64
        let tag: Int64
    }

    private func lastRevision(_ connection: SQLiteConnection) throws(BackendError) -> Int64 {
        var revision: Int64 = 0
        try connection.query(.lastChange, "write") { revision = $0.integer(0) }
        // Another program of this user may have written any number.
        guard (0...Int64.max / 2).contains(revision) else {
            throw BackendError(.damaged, "write", connection.path, "The number of the last change is impossible.")
        }
        return revision
    }

    /// Notes a change for cursors and watchers.
    private func note(_ name: String, _ connection: SQLiteConnection, _ end: inout Revision) throws(BackendError) {
        end.number += 1
        try connection.query(.note, "write", [.integer(end.number), .text(name), .integer(end.tag)])
    }

    /// Makes one commit of a group, or nothing of it: all conditions are compared before the first change.
    private func make(
        _ ticket: Ticket, _ connection: SQLiteConnection, _ end: inout Revision
    ) throws(BackendError) -> Result<Void, BackendError> {
        var rows: [Int64?] = []
        for (index, write) in ticket.writes.enumerated() {
            let (row, holds) = try row(of: write, connection)
            guard holds else {
                return .failure(
                    BackendError(
                        .conflict, "write", write.key.name, "Another blob is stored than the condition states.",
                        index: index))
            }
            rows.append(row)
        }
        // A row that this commit inserts may get the number of one that it has removed.
        var hasRemoved = false
        for (write, row) in zip(ticket.writes, rows) {
            try apply(write, at: hasRemoved ? nil : row, connection, &end)
            hasRemoved = hasRemoved || write.change == .remove
        }
        return .success(())
    }

    /// Returns the row of the record, if the condition needed it, and whether the condition holds.
    private func row(
        of write: BackendWrite, _ connection: SQLiteConnection
    ) throws(BackendError) -> (id: Int64?, holds: Bool) {
        if write.condition == .any { return (nil, true) }
        var (id, head): (Int64?, [UInt8]?)
        try connection.query(.head, "write", [.text(write.key.name)]) { (head, id) = ($0.bytes(1), $0.integer(2)) }
        return (id, write.condition == head.map { .version(BlobVersion(of: $0)) } ?? .absent)
    }

    private func apply(
        _ write: BackendWrite, at id: Int64?, _ connection: SQLiteConnection, _ end: inout Revision
    ) throws(BackendError) {
        let name = SQLiteValue.text(write.key.name)
        switch write.change {
        case .nothing: return
        case .put(let blob):
            let split = min(BlobHead.size, blob.count)
            let values = [.integer(end.number + 1), SQLiteValue.blob(blob[..<split]), .blob(blob[split...])]
            if let id {
                try connection.query(.replace, "write", [.integer(id)] + values)
            } else {
                try connection.query(.put, "write", [name] + values)
            }
        case .remove: try connection.query(.remove, "write", [name])
        }
        try note(write.key.name, connection, &end)
    }
}
#endif
