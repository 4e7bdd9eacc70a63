import ContentDecoding
import TestSupport
import Testing

@Suite struct SQLiteLogTests {
    let folder: DatabaseFolder

    init() throws { folder = try DatabaseFolder() }

    /// Writes the file and its log. In the file: old. In the log: old deleted, fresh and passing inserted, passing
    /// deleted.
    private func makeLog() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA wal_autocheckpoint = 0')
            db.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, token TEXT)')
            for i in range(30):
                db.execute('INSERT INTO users VALUES (?, ?)', (i + 1, f'stays-{i}'))
            db.execute("INSERT INTO users VALUES (100, 'planted-old')")
            db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            db.execute('DELETE FROM users WHERE id = 100')
            db.execute("INSERT INTO users VALUES (200, 'planted-passing')")
            db.execute('DELETE FROM users WHERE id = 200')
            db.execute("INSERT INTO users VALUES (300, 'planted-fresh')")
            """)
    }

    @Test func theDatabaseIsReadWithItsLog() throws {
        try makeLog()
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        let fresh = reading.exactly("planted-fresh")
        #expect(fresh.map(\.presence) == [.live])
        #expect(fresh.first?.trail == "table users, row 300, token")
        #expect(fresh.first?.range == nil)
        let old = reading.exactly("planted-old")
        #expect(old.contains { $0.presence == .freed && $0.trail == "table users, row 100, token" && $0.range != nil })
        #expect(!old.contains { $0.presence == .live })
        let stays = reading.leaves.filter { $0.text.hasPrefix("stays-") }
        #expect(stays.count == 30)
        #expect(stays.allSatisfy { $0.presence == .live })
    }

    @Test func theLogShowsWhatTheDatabaseDoesNotShow() throws {
        try makeLog()
        let (reading, bytes) = (try folder.read("app.db-wal"), try folder.bytes("app.db-wal"))
        #expect(reading.unread.isEmpty)
        let passing = try #require(reading.exactly("planted-passing").first)
        #expect(passing.trail == "table users, row 200, token")
        #expect(passing.presence == .logged)
        #expect(passing.name == "token")
        let range = try #require(passing.range)
        #expect(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == Array("planted-passing".utf8))
        #expect(reading.leaves.filter { $0.text.hasPrefix("stays-") }.isEmpty)
        #expect(reading.leaves.allSatisfy { $0.presence == .logged })
    }

    /// Ten gigabytes of hole take no time, and the frames behind the hole are read.
    @Test func aHoleInALogIsNotWalkedThrough() throws {
        try makeLog()
        try folder.python(
            """
            with open('app.db-wal', 'r+b') as log:
                content = log.read()
                frames = [content[n:n + 4120] for n in range(32, len(content), 4120)]
                frame = [f for f in frames if b'planted-fresh' in f][-1]
                log.seek(32 + 4120 * 2500000)
                log.write(frame.replace(b'planted-fresh', b'planted-later'))
                log.truncate(32 + 4120 * 2600000)
            """, name: "other.db")
        let source = CountingSource(try folder.source("app.db-wal"))
        let reading = try folder.read(source, name: "app.db-wal")
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-later").map(\.presence) == [.logged])
        #expect(reading.exactly("planted-passing").contains { $0.trail == "table users, row 200, token" })
        #expect(source.reads < 2000)
    }

    @Test func longValuesThatALogReplacedAreJoinedFromTheFile() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA wal_autocheckpoint = 0')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, state BLOB)')
            state = plistlib.dumps({'list': ['x%d' % i for i in range(4000)], 'token': 'planted-token'}, fmt=plistlib.FMT_BINARY)
            db.execute('INSERT INTO t VALUES (1, ?)', (state,))
            db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            db.execute('UPDATE t SET state = ? WHERE id = 1', (b'z' * 60000,))
            db.execute('UPDATE t SET state = ? WHERE id = 1', (b'y' * 60000,))
            """)
        let found = try folder.read().exactly("planted-token")
        #expect(found.contains { $0.presence == .freed && $0.trail == "table t, row 1, state > plist: token" })
        let log = try folder.read("app.db-wal")
        #expect(log.exactly(String(repeating: "z", count: 60_000)).contains { $0.trail == "table t, row 1, state" })
        #expect(log.exactly(String(repeating: "y", count: 60_000)).isEmpty)
    }

    @Test func aLogWithoutItsDatabaseShowsAll() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, token TEXT)')
            db.execute("INSERT INTO users VALUES (7, 'planted')")
            os.unlink('app.db')
            """)
        let reading = try folder.read("app.db-wal")
        let planted = try #require(reading.exactly("planted").first)
        #expect(planted.presence == .logged)
        #expect(planted.trail == "table users, row 7, token")
    }

    @Test func aDamagedFrameEndsWhatTheDatabaseShows() throws {
        try makeLog()
        var log = try folder.bytes("app.db-wal")
        log[32 + 24 + 100] ^= 1
        try SystemFile.write(folder.directory.path("app.db-wal"), log)
        let reading = try folder.read()
        #expect(reading.exactly("planted-old").contains { $0.presence == .live })
        #expect(reading.holding("planted-fresh").isEmpty)
        #expect(try folder.read("app.db-wal").exactly("planted-fresh").contains { $0.presence == .logged })
    }

    @Test func aTransactionThatDidNotEndIsNotShown() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA cache_size = 2')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)')
            db.execute('BEGIN')
            for i in range(2000):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'pending-{i}-' + 'x' * 100))
            """)
        #expect(try folder.read().holding("pending-").isEmpty)
        #expect(try folder.read("app.db-wal").holding("pending-3-").contains { $0.presence == .logged })
    }

    @Test func framesOfAnEarlierUseOfTheLogAreReported() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)')
            for i in range(20):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'early-{i}-secret'))
            db.execute('DELETE FROM t')
            db.execute('PRAGMA wal_checkpoint(FULL)')
            db.execute("INSERT INTO t VALUES (500, 'late')")
            """)
        #expect(try folder.read().exactly("late").first?.presence == .live)
        let reading = try folder.read("app.db-wal")
        #expect(reading.exactly("early-10-secret").contains { $0.trail == "table t, row 10, a" })
    }

    @Test func theRollbackJournalShowsWhatWasBefore() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = PERSIST')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)')
            for i in range(40):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'stays-{i}'))
            db.execute("INSERT INTO t VALUES (77, 'planted-before')")
            db.execute("UPDATE t SET token = 'planted-after!!' WHERE id = 77")
            """)
        let journal = try folder.read("app.db-journal")
        let before = try #require(journal.exactly("planted-before").first)
        #expect(before.presence == .logged)
        #expect(before.trail == "table t, row 77, token")
        #expect(before.range != nil)
        #expect(journal.leaves.filter { $0.text.hasPrefix("stays-") }.isEmpty)
    }

    @Test func aHotJournalIsReadWithoutBeingRolledBack() throws {
        try folder.python(
            """
            db.execute('PRAGMA cache_size = 2')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)')
            for i in range(2000):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'planted-{i}-secret'))
            db.execute('BEGIN')
            db.execute("UPDATE t SET token = 'gone'")
            """)
        let before = try folder.bytes("app.db-journal")
        let reading = try folder.read("app.db-journal")
        #expect(reading.exactly("planted-5-secret").contains { $0.trail == "table t, row 5, token" })
        #expect(try folder.bytes("app.db-journal") == before)
    }

    @Test func aJournalWithoutItsDatabaseFindsItsPageSize() throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = 1024')
            db.execute('PRAGMA journal_mode = PERSIST')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)')
            for i in range(200):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'planted-{i}-secret'))
            db.execute("UPDATE t SET token = 'gone'")
            os.unlink('app.db')
            """)
        #expect(!(try folder.read("app.db-journal").holding("planted-150-secret").isEmpty))
    }
}
