import ContentDecoding
import TestSupport
import Testing

@Suite struct SQLiteDamageTests {
    let folder: DatabaseFolder

    init() throws {
        folder = try DatabaseFolder()
        try folder.python(
            """
            db.execute('PRAGMA page_size = 512')
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA wal_autocheckpoint = 0')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b BLOB)')
            db.execute('CREATE TABLE kv (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID')
            db.execute('CREATE TABLE gone (x TEXT, y INT)')
            for i in range(60):
                db.execute('INSERT INTO t VALUES (?, ?, ?)', (i, f'value-{i}', bytes([i]) * (i * 37 % 1500)))
                db.execute('INSERT INTO kv VALUES (?, ?)', (f'k{i}', 'v' * (i * 13 % 300)))
                db.execute('INSERT INTO gone VALUES (?, ?)', (f'gone-{i}', i))
            db.execute('DROP TABLE gone')
            db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            db.execute('DELETE FROM t WHERE id % 3 = 0')
            db.execute("UPDATE kv SET v = 'changed' WHERE k < 'k3'")
            """)
    }

    /// Reads damaged bytes, counts the results, and compares them with a bound that any amplification exceeds.
    private func read(_ database: [UInt8], log: [UInt8], as name: String) throws -> (bytes: Int, leaves: Int) {
        var (bytes, leaves) = (0, 0)
        let walk = ValueWalk(budget: CarrierBudget()) { leaf in
            leaves += 1
            switch leaf.value {
            case .text(let part), .data(let part), .strings(let part), .block(let part, _): bytes += part.count
            case .number, .flag: bytes += 1
            }
        }
        let files = ["app.db": database, "app.db-wal": log, "app.db-journal": log]
        let input = CarrierInput(MemorySource(files[name] ?? []), name: name) { files[$0].map { MemorySource($0) } }
        let form: CarrierForm = name == "app.db" ? .sqlite : name == "app.db-wal" ? .sqliteLog : .sqliteJournal
        do throws(CarrierFault) { try Carriers.read(input, as: form, walk) } catch {
            #expect(error != .exhausted(.time))
        }
        #expect(walk.trail.depth == 0)
        return (bytes, leaves)
    }

    private func expectBounded(_ database: [UInt8], _ log: [UInt8]) throws {
        let size = database.count + log.count
        for name in ["app.db", "app.db-wal"] {
            let (bytes, leaves) = try read(database, log: log, as: name)
            #expect(bytes <= 16 * size)
            #expect(leaves <= 4 * size)
        }
    }

    @Test func bytesThatWereFlippedCostNoMoreThanANote() throws {
        let (database, log) = (try folder.bytes(), try folder.bytes("app.db-wal"))
        var random = SeededGenerator(seed: 6)
        for round in 0..<120 {
            var (database, log) = (database, log)
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                database[Int.random(in: 24..<database.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
                log[Int.random(in: 32..<log.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 3 == 0 { database.removeLast(Int.random(in: 0..<database.count, using: &random)) }
            if round % 4 == 0 { log.removeLast(Int.random(in: 0..<log.count, using: &random)) }
            try expectBounded(database, log)
        }
    }

    @Test func aJournalThatWasFlippedCostsNoMoreThanANote() throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = 512')
            db.execute('PRAGMA journal_mode = PERSIST')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)')
            for i in range(100):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'value-{i}' * (1 + i % 70)))
            db.execute('UPDATE t SET a = NULL')
            """, name: "other.db")
        let (database, whole) = (try folder.bytes("other.db"), try folder.bytes("other.db-journal"))
        var random = SeededGenerator(seed: 8)
        for _ in 0..<100 {
            var journal = whole
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                journal[Int.random(in: 8..<journal.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let (bytes, leaves) = try read(database, log: journal, as: "app.db-journal")
            #expect(bytes <= 16 * (database.count + journal.count))
            #expect(leaves <= 4 * (database.count + journal.count))
        }
    }

    @Test func pagesThatReferToEachOtherEndSomewhere() throws {
        let (whole, log) = (try folder.bytes(), try folder.bytes("app.db-wal"))
        var random = SeededGenerator(seed: 7)
        let pages = whole.count / 512
        for _ in 0..<60 {
            var database = whole
            // Words that are page numbers in any role: children, overflow, the free list, the schema's roots.
            for _ in 0..<60 {
                let place =
                    Int.random(in: 0..<pages, using: &random) * 512 + Int.random(in: 0..<128, using: &random) * 4
                guard place >= 28 else { continue }
                let page = UInt8.random(in: 1...UInt8(min(255, pages)), using: &random)
                database.replaceSubrange(place..<place + 4, with: [0, 0, 0, page])
            }
            try expectBounded(database, log)
        }
    }

    @Test(arguments: [2, 5, 10, 13] as [UInt8])
    func everyPageOfOneKindWithManyCellsIsBounded(kind: UInt8) throws {
        var database = try folder.bytes()
        for page in 1..<database.count / 512 {
            // 240 equal cells.
            let start = page * 512
            database.replaceSubrange(start..<start + 8, with: [kind, 0, 0, 0, 240, 1, 0, 0])
            for cell in 0..<240 {
                database.replaceSubrange(start + 12 + 2 * cell..<start + 14 + 2 * cell, with: [1, 0xF4])
            }
        }
        try expectBounded(database, [])
    }

    @Test func aFreeListThatIsACircleIsNoted() throws {
        var database = try folder.bytes()
        let trunk = Array(database[32..<36])
        let page = trunk.reduce(0) { $0 << 8 | Int($1) }
        try #require(page > 1)
        database.replaceSubrange((page - 1) * 512..<(page - 1) * 512 + 8, with: trunk + [0xFF, 0xFF, 0xFF, 0xFF])
        let reading = try folder.read(MemorySource(database), name: "other.db")
        #expect(reading.fault == nil)
        #expect(reading.unread.map(\.fault) == [.malformed("the list of free pages is not a chain")])
        #expect(!reading.exactly("value-1").isEmpty)
    }

    @Test func databasesInDatabasesEndAtTheDepthOfTheBudget() throws {
        try folder.python(
            """
            inner = b'planted'
            for level in range(45):
                path = f'level-{level}.db'
                one = sqlite3.connect(path, isolation_level=None)
                one.execute('PRAGMA page_size = 512')
                one.execute('CREATE TABLE t (x BLOB)')
                one.execute('INSERT INTO t VALUES (?)', (inner,))
                one.close()
                inner = open(path, 'rb').read()
            """)
        let deep = try folder.read("level-44.db")
        #expect(deep.unread.map(\.fault) == [.exhausted(.depth)])
        #expect(deep.fault == nil)
        let flat = try folder.read("level-3.db")
        #expect(
            flat.holding("planted").contains { $0.trail.hasPrefix("table t, row 1, x > database: table t, row 1, x") })
    }

    @Test func aHeadThatClaimsTooManyPagesIsAccepted() throws {
        var database = try folder.bytes()
        database.replaceSubrange(28..<32, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try folder.read(MemorySource(database), name: "other.db").exactly("value-59").count >= 1)
    }

    @Test func aSchemaThatIsLostLeavesTheRowsToBeFound() throws {
        var database = try folder.bytes()
        for index in 100..<512 { database[index] = 0 }
        database[100] = 13
        let reading = try folder.read(MemorySource(database), name: "other.db")
        #expect(reading.exactly("value-59").contains { $0.presence == .freed })
    }

    @Test func anInvalidDatabaseIsRefused() throws {
        for bytes in [
            [], Array("SQLite format 3\0".utf8), Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 200),
        ] {
            #expect(throws: CarrierFault.self) {
                try Carriers.read(
                    CarrierInput(MemorySource(bytes)), as: .sqlite, ValueWalk(budget: CarrierBudget()) { _ in })
            }
        }
        let log = ValueWalk(budget: CarrierBudget()) { _ in }
        #expect(throws: CarrierFault.self) {
            try Carriers.read(CarrierInput(MemorySource([1, 2])), as: .sqliteLog, log)
        }
    }
}
