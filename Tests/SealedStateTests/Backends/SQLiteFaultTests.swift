#if SQLite
import Dispatch
import Glibc
import SealedBackends
import SealedStateSQLite
import SharedFiles
import Synchronization
import TestSupport
import Testing

/// Syncs that are slow, shared and failing, old positions, and a database that another program has changed.
@Suite(.timeLimit(.minutes(30))) struct SQLiteFaultTests {
    private let sandbox: BackendSandbox
    private var database: String { sandbox.fixture.container + "/Library/Application Support/Records.sqlite" }

    init() throws { sandbox = try BackendSandbox(.sqlite) }

    private func put(_ name: String, _ blob: [UInt8]) -> BackendWrite { BackendWrite(BackendKey(name), .put(blob)) }

    // MARK: Syncs

    // writer:   writes to the log, syncs ............ sync ends, commit is visible, announced
    // watcher:                        looks: nothing                                looks: the blob
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func aCommitIsVisibleAndAnnouncedAfterItsSync() throws {
        let backend = try sandbox.open()
        let key = BackendKey("batch/0")
        let notified = DispatchSemaphore(value: 0)
        let changes = try backend.changes(after: nil) { notified.signal() }
        let traced = sandbox.traced("backend-batches", "1", "1", "1", "durable")
        defer { traced.removeLog() }
        let writer = try traced.start(injecting: ["fdatasync:delay_enter=700000"])
        var (looks, isReported) = (0, false)
        while !isReported {
            // The last of the looks that the library repeats after a notification comes long before the end of the sync.
            try #require(notified.wait(timeout: .now() + .seconds(20)) == .success, "The commit was not announced.")
            isReported = try changes.next(limit: 10).keys.contains(key)
            let isVisible = try backend.head(key) != nil
            #expect(isVisible || !isReported)
            if isVisible { #expect(try traced.lines().contains { Self.isSyncOfLog($0) }) }
            looks += 1
        }
        #expect(try BackendSandbox.batch(in: backend, keys: 1) == 1)
        #expect(try writer.finish().outputText == "made 1 durable\n")
        withExtendedLifetime(changes) {}
    }

    private static func isSyncOfLog(_ line: String) -> Bool {
        line.contains("fdatasync(") && line.contains("-wal>") && line.contains(") = 0")
    }

    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func commitsThatWaitShareOneSync() throws {
        let (threads, commits) = (8, 12)
        let traced = sandbox.traced("backend-threads", "\(threads)", "\(commits)")
        defer { traced.removeLog() }
        let result = try traced.run(injecting: ["fdatasync:delay_enter=20000"], everyThread: true)
        #expect(result.outputText == "made\n")
        let syncs = try traced.lines().count { $0.contains("fdatasync(") && $0.contains("-wal>") }
        // At least one for each commit of a thread, and a third of one for each commit of any thread.
        #expect((commits...threads * commits / 3).contains(syncs), "\(syncs)")
    }

    /// The syncs of the log by a writer that finds a database.
    private static func syncs(in traced: TracedProcess) throws -> [TracedProcess.Call] {
        try traced.calls(from: "Records.sqlite").filter { $0.name == "fdatasync" && $0.line.contains("-wal>") }
    }

    // writer:  1: sync fails, connection closed    2: another connection, with syncs of its own    3: as 2
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), arguments: 0..<5)
    func aFailedSyncIsIndeterminateAndClosesTheConnection(_ ordinal: Int) throws {
        _ = try sandbox.open()
        let traced = sandbox.traced("backend-batches", "1", "6", "3", "durable")
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.hasSuffix("made 6 durable\n"))
        let sync = try #require(try Self.syncs(in: traced).dropFirst(ordinal).first)
        let other = try BackendSandbox(.sqlite)
        _ = try other.open()
        let failing = other.traced("backend-batches", "1", "6", "3", "durable")
        defer { failing.removeLog() }
        let lines = try failing.run(failing: sync, with: "EIO").outputText.split(separator: "\n").map(String.init)
        let failed = try #require(lines.firstIndex { $0.hasPrefix("failed") }, "\(lines)")
        #expect(lines[failed] == "failed \(failed + 1) indeterminate")
        #expect(lines.count == 6 && lines.count { $0.hasPrefix("made") } == 5)
        #expect(try BackendSandbox.batch(in: try other.open(), keys: 3) == 6)
        // Nothing more was written to the log before its descriptor was closed.
        let calls = try failing.calls()
        let failure = try #require(calls.firstIndex { $0.line.contains("EIO") && $0.name == "fdatasync" })
        let descriptor = calls[failure].line.dropFirst("fdatasync(".count).prefix { $0 != "<" }
        let later = calls[(failure + 1)...].first {
            $0.line.hasPrefix("close(\(descriptor)<") || $0.line.hasPrefix("pwrite64(\(descriptor)<")
        }
        #expect(later?.name == "close", "\(String(describing: later))")
    }

    /// A database whose creation failed is created by the next program.
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func aFailedSyncAtTheCreationLeavesNothing() throws {
        let traced = sandbox.traced("backend-batches", "1", "1", "1", "unsynced")
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "made 1 unsynced\n")
        let syncs = try traced.calls().filter { $0.name == "fdatasync" && $0.line.contains(".new.") }
        #expect(syncs.count > 2)
        for sync in syncs {
            let other = try BackendSandbox(.sqlite)
            let failing = other.traced("backend-batches", "1", "1", "1", "unsynced")
            defer { failing.removeLog() }
            #expect(try failing.run(failing: sync, with: "EIO").outputText.hasPrefix("failed"), "\(sync)")
            let directory = other.fixture.container + "/Library/Application Support"
            #expect(try SystemFile.names(directory).allSatisfy { !$0.hasPrefix("Records.sqlite") }, "\(sync)")
            #expect(try BackendSandbox.batch(in: try other.open(), keys: 1) == 0, "\(sync)")
        }
    }

    /// A commit whose sync failed is decided by `settle`, and stays so.
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func aDiskThatFailsAllSyncsMakesNothingDurable() throws {
        _ = try sandbox.open()
        let traced = sandbox.traced("backend-batches", "1", "3", "2", "durable")
        defer { traced.removeLog() }
        let lines = try traced.run(injecting: ["fdatasync:error=EIO"]).outputText.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("failed") }, "\(lines)")
        let backend = try sandbox.open()
        let present = try backend.settle(BackendKey("batch/0"))
        let number = try BackendSandbox.batch(in: backend, keys: 2)
        #expect((0...3).contains(number) && (present == nil) == (number == 0))
        try backend.commit([put("batch/0", [1])], durability: .durable)
        #expect(try backend.read(BackendKey("batch/0"), limit: 10)?.bytes == [1])
    }

    // MARK: Positions

    /// Returns the news after a position.
    private func news(after cursor: BackendCursor?) throws -> (BackendNews, BackendCursor) {
        let changes = try sandbox.open().changes(after: cursor) {}
        let news = try changes.next(limit: 100)
        return (news, try #require(news.cursor))
    }

    @Test func aPositionBeforeTheKeptChangesGetsResync() throws {
        let backend = try sandbox.open()
        try backend.commit([put("first", [1])], durability: .unsynced)
        let (_, early) = try news(after: nil)
        try backend.commit([put("second", [1])], durability: .unsynced)
        let (news, _) = try news(after: early)
        #expect(!news.isResync && news.keys == [BackendKey("second")])
        // 100,000 changes are kept; they are trimmed when a thousand is passed.
        for batch in 0..<3 {
            try backend.commit((0..<34_000).map { put("many/\(batch)/\($0)", [2]) }, durability: .unsynced)
        }
        let (late, present) = try self.news(after: early)
        #expect(late.isResync)
        let (after, _) = try self.news(after: present)
        #expect(!after.isResync)
    }

    // database: 1 2 3 4 (position)      copy with 1 2 is put back: 1 2 5 6 7
    @Test func aPositionOfAChangeThatAnOlderCopyHasNotGetsResync() throws {
        do {
            let backend = try sandbox.open()
            for name in ["1", "2"] { try backend.commit([put(name, [1])], durability: .durable) }
        }
        // The last connection was closed: the log is in the database.
        let copy = try SystemFile.read(database)
        var position: BackendCursor?
        do {
            let backend = try sandbox.open()
            let changes = try backend.changes(after: nil) {}
            for name in ["3", "4"] { try backend.commit([put(name, [1])], durability: .durable) }
            position = try changes.next(limit: 10).cursor
        }
        #expect(!SystemFile.exists(database + "-wal"))
        try SystemFile.write(database, copy)
        // Beyond the last change, at one with its number, and before others.
        for name in ["5", "6", "7"] {
            #expect(try news(after: position).0.isResync)
            try sandbox.open().commit([put(name, [1])], durability: .durable)
        }
        #expect(try news(after: position).0.isResync)
        let (_, present) = try news(after: nil)
        #expect(try !news(after: present).0.isResync)
    }

    // MARK: A database that another program has changed

    /// Runs statements as another program of this user does.
    private func change(_ statements: String) throws {
        let program = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.executescript(sys.argv[2])
            """
        let result = try ChildProcess.run(Python.path, ["-c", program, database, statements])
        try #require(result.exitCode == 0, "\(result.errorText)")
    }

    static let foreignSchemas = [
        "CREATE TABLE other(x)", "CREATE VIEW shown AS SELECT * FROM record", "CREATE INDEX sorted ON record(rev)",
        "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "ALTER TABLE record ADD COLUMN more", "DROP TABLE kept", "PRAGMA user_version=2", "PRAGMA application_id=1",
        "PRAGMA writable_schema=ON; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'record'",
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'record'",
        "PRAGMA journal_mode=DELETE",
    ]

    @Test(arguments: foreignSchemas) func anotherSchemaIsRefused(_ statements: String) throws {
        try sandbox.open().commit([put("note", [1])], durability: .durable)
        try change(statements)
        #expect { try sandbox.open() } throws: { ($0 as? BackendError)?.code == .damaged }
    }

    static let foreignRows = [
        "UPDATE record SET head = 5", "UPDATE record SET head = 'text'", "UPDATE record SET body = 1.5",
        "UPDATE record SET body = 'text'", "UPDATE record SET head = zeroblob(9000)", "UPDATE record SET rev = 'x'",
        "UPDATE record SET name = CAST(zeroblob(4) AS TEXT)", "UPDATE record SET name = x'ff00fe'",
        "UPDATE record SET name = 7", "UPDATE change SET name = CAST(zeroblob(4) AS TEXT)",
        "UPDATE change SET name = x'ff00fe'", "UPDATE change SET tag = 'x'", "DELETE FROM change",
        "UPDATE change SET rev = 9223372036854775807", "UPDATE change SET rev = -9223372036854775808",
        "DELETE FROM meta", "UPDATE meta SET value = NULL", "UPDATE meta SET value = zeroblob(1000000)",
        "UPDATE record SET name = hex(zeroblob(10000000))", "UPDATE change SET name = hex(zeroblob(10000000))",
        "INSERT INTO kept(name, version, at, reason, blob) VALUES('note', 'x', 'y', 1, 2)",
    ]

    /// Another record is read and written as before, or the database is refused: nothing ends the process.
    @Test(arguments: foreignRows) func rowsOfAnotherTypeAreRefusedOrIgnored(_ statements: String) throws {
        let position: BackendCursor?
        do {
            let backend = try sandbox.open()
            try backend.commit([put("note", [UInt8](repeating: 1, count: 500))], durability: .durable)
            let changes = try backend.changes(after: nil) {}
            position = try changes.next(limit: 10).cursor
        }
        try change(statements)
        let backend = try sandbox.open()
        var codes: Set<BackendError.Code> = []
        func attempt(_ body: () throws -> Void) throws {
            do { try body() } catch let error as BackendError { codes.insert(error.code) }
        }
        let key = BackendKey("note")
        try attempt { _ = try backend.head(key) }
        try attempt { _ = try backend.read(key, limit: 1 << 20)?.isCurrent }
        try attempt { _ = try backend.scan("", after: nil, limit: 10) }
        try attempt { _ = try backend.preserve(key, reason: "a test", limit: 1 << 20) }
        try attempt {
            let changes = try backend.changes(after: position) {}
            _ = try (0..<3).map { _ in try changes.next(limit: 10) }
        }
        try attempt {
            try backend.commit([put("other", [7]), put("note", [8])], durability: .durable)
            #expect(try backend.read(BackendKey("other"), limit: 10)?.bytes == [7])
            #expect(try backend.read(key, limit: 10)?.bytes == [8])
            #expect(try backend.scan("", after: nil, limit: 10).map(\.key).contains(key))
        }
        #expect(codes.isSubset(of: [.damaged, .notABlob, .tooLarge, .gone]), "\(codes)")
    }

    @Test func damagedBytesAreRefusedOrIgnored() throws {
        do {
            let backend = try sandbox.open()
            for number in 0..<50 {
                let blob = [UInt8](repeating: UInt8(number), count: 200 + number * 100)
                try backend.commit([put("n\(number)", blob)], durability: .durable)
            }
        }
        let whole = try SystemFile.read(database)
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var refusals = 0
        for _ in 0..<(isLongForm ? 5000 : 100) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            for end in ["-wal", "-shm"] { unlink(database + end) }
            try SystemFile.write(database, bytes)
            do {
                let backend = try sandbox.open()
                for number in 0..<50 { _ = try backend.read(BackendKey("n\(number)"), limit: 1 << 20) }
                _ = try backend.scan("", after: nil, limit: 1000)
                try backend.commit([put("new", [1])], durability: .unsynced)
            } catch let error as BackendError {
                refusals += 1
                #expect([.damaged, .io, .notABlob].contains(error.code), "\(error), seed \(seed)")
            }
        }
        #expect(refusals > 0)
    }
}
#endif
