import ContentDecoding
import TestSupport
import Testing

@Suite struct SQLiteReaderTests {
    let folder: DatabaseFolder

    init() throws { folder = try DatabaseFolder() }

    @Test(arguments: [512, 1024, 4096, 8192, 65536], ["UTF-8", "UTF-16le", "UTF-16be"])
    func aValueComesWithItsTableRowAndColumn(pageSize: Int, encoding: String) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = \(pageSize)')
            db.execute("PRAGMA encoding = '\(encoding)'")
            db.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, "access token" TEXT, age INT, score REAL)')
            for i in range(300):
                db.execute('INSERT INTO users VALUES (?, ?, ?, ?, ?)', (i + 1, f'user{i}@example.org', f'tök-{i}', i, i / 4))
            """)
        let reading = try folder.read()
        #expect(reading.fault == nil)
        #expect(reading.unread.isEmpty)
        for row in [0, 77, 299] {
            let token = try #require(reading.exactly("tök-\(row)").first)
            #expect(token.trail == "table users, row \(row + 1), access token")
            #expect(token.name == "access token")
            #expect(token.presence == .live)
            #expect(token.kind == "text")
        }
        #expect(reading.leaves.filter { $0.kind == "text" && $0.presence == .live }.count == 600)
        let score = try #require(reading.leaves.first { $0.trail == "table users, row 2, score" })
        #expect(score.text == "0.25")
        #expect(reading.leaves.contains { $0.trail == "table users, row 300, id" && $0.text == "300.0" })
    }

    @Test func theRangeOfAValueIsThatOfItsBytes() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (a TEXT, b BLOB)')
            db.execute('INSERT INTO t VALUES (?, ?)', ('planted-value', b'planted-bytes'))
            """)
        let (reading, bytes) = (try folder.read(), try folder.bytes())
        for value in ["planted-value", "planted-bytes"] {
            let range = try #require(reading.exactly(value).first?.range)
            #expect(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == Array(value.utf8))
        }
    }

    @Test(arguments: [512, 4096, 65536])
    func aLongValueIsJoinedFromItsOverflowPages(pageSize: Int) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = \(pageSize)')
            db.execute('CREATE TABLE t (name TEXT, body TEXT, tail TEXT)')
            for i in range(5):
                db.execute('INSERT INTO t VALUES (?, ?, ?)', (f'n{i}', f'{i}' * 100000 + f'end-{i}', f'tail-{i}'))
            """)
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        for row in 0..<5 {
            let body = try #require(reading.leaves.first { $0.trail == "table t, row \(row + 1), body" })
            #expect(body.text == String(repeating: "\(row)", count: 100_000) + "end-\(row)")
            #expect(reading.exactly("tail-\(row)").first?.trail == "table t, row \(row + 1), tail")
        }
    }

    @Test func aValueTooLongForMemoryComesInPiecesThatOverlap() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (body BLOB, tail TEXT)')
            body = bytearray(20 << 20)
            body[(1 << 20) - 4:(1 << 20) + 4] = b'ACROSSIT'
            body[-8:] = b'LASTPART'
            db.execute('INSERT INTO t VALUES (?, ?)', (bytes(body), 'after'))
            """)
        let reading = try folder.read()
        #expect(reading.holding("ACROSSIT").first?.trail == "table t, row 1, body")
        #expect(!reading.holding("LASTPART").isEmpty)
        #expect(reading.exactly("after").first?.trail == "table t, row 1, tail")
        #expect(reading.unread.count == 1)
    }

    @Test func aTableWithoutRowIDsKeepsItsColumnsInTheOrderOfItsKey() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE kv (note TEXT, value TEXT, key TEXT, realm TEXT, PRIMARY KEY (realm, key)) WITHOUT ROWID')
            for i in range(500):
                db.execute('INSERT INTO kv VALUES (?, ?, ?, ?)', (f'note-{i}', f'value-{i}', f'key-{i}', 'r'))
            db.execute('CREATE TABLE q (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID')
            db.execute("INSERT INTO q VALUES ('qk', 'qv')")
            """)
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        for row in 0..<500 {
            #expect(
                reading.exactly("value-\(row)").contains { $0.trail == "table kv, key-\(row)" && $0.presence == .live })
            #expect(reading.exactly("key-\(row)").contains { $0.name == "key" })
        }
        #expect(reading.exactly("qv").first?.name == "qk")
    }

    @Test func oddDefinitionsStillNameTheirColumns() throws {
        try folder.python(
            """
            db.execute('''CREATE TABLE IF NOT EXISTS "odd ""name" ( -- a comment, with a comma
                [first col] VARCHAR(10, 2) DEFAULT ('a,b') /* and ( another */, `second` TEXT CHECK (second <> ')'),
                shadow TEXT GENERATED ALWAYS AS (second || 'x') VIRTUAL, kept TEXT AS (second || 'y') STORED, last,
                CONSTRAINT pk UNIQUE (last), FOREIGN KEY (last) REFERENCES other (x))''')
            db.execute('INSERT INTO "odd ""name" ([first col], second, last) VALUES (?, ?, ?)', ('1st', '2nd', '3rd'))
            db.execute('ALTER TABLE "odd ""name" ADD COLUMN added TEXT')
            db.execute('INSERT INTO "odd ""name" ([first col], second, last, added) VALUES (?, ?, ?, ?)', ('4', '5', '6', 'new'))
            """)
        let reading = try folder.read()
        let row = reading.leaves.filter { $0.trail.hasPrefix("table odd \"name, row 1, ") }
        #expect(row.map(\.name) == ["first col", "second", "kept", "last"])
        #expect(row.map(\.text) == ["1st", "2nd", "2ndy", "3rd"])
        #expect(reading.exactly("new").first?.trail == "table odd \"name, row 2, added")
    }

    @Test func indexesDoNotRepeatTheirTable() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (a TEXT UNIQUE, b TEXT)')
            db.execute('CREATE INDEX ib ON t (b, a)')
            for i in range(1000):
                db.execute('INSERT INTO t VALUES (?, ?)', (f'alpha-{i}-' + 'x' * 40, f'beta-{i}-' + 'y' * 2000))
            """)
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        let copies = reading.leaves.filter { $0.text.hasPrefix("alpha-") && $0.presence == .live }
        #expect(copies.count == 1000)
        #expect(reading.leaves.filter { $0.text.hasPrefix("beta-") && $0.presence == .live }.count == 1000)
    }

    @Test func literalsInTheSchemaAreRunningText() throws {
        try folder.python(
            """
            db.execute("CREATE TABLE t (a TEXT DEFAULT 'planted-default')")
            db.execute("CREATE VIEW v AS SELECT 'planted-view' AS x")
            """)
        let reading = try folder.read()
        for value in ["planted-default", "planted-view"] {
            let leaf = try #require(reading.holding(value).first)
            #expect(leaf.kind == "block")
            #expect(leaf.trail.hasPrefix("table sqlite_schema, row "))
        }
    }

    @Test func aFullTextIndexIsReadByItsColumns() throws {
        try folder.python(
            """
            db.execute('CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize = "porter")')
            db.execute('INSERT INTO notes VALUES (?, ?)', ('the title', 'planted body text'))
            """)
        let reading = try folder.read()
        let body = try #require(reading.exactly("planted body text").first)
        #expect(body.name == "body")
        #expect(body.trail == "table notes_content, row 1, body")
        #expect(!reading.leaves.contains { $0.kind == "data" })
    }

    @Test func theContentsOfABlobAreReadToo() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (state BLOB, letters TEXT)')
            state = plistlib.dumps({'session': {'token': 'planted-token'}}, fmt=plistlib.FMT_BINARY)
            import base64
            db.execute('INSERT INTO t VALUES (?, ?)', (state, base64.b64encode(state).decode()))
            """)
        let reading = try folder.read()
        let found = reading.exactly("planted-token")
        #expect(found.contains { $0.trail == "table t, row 1, state > plist: session.token" })
        #expect(found.contains { $0.trail == "table t, row 1, letters > base64 > plist: session.token" })
    }

    @Test func anEncryptedDatabaseIsReportedAsOne() throws {
        var bytes = [UInt8](repeating: 0, count: 4096)
        bytes.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        bytes.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 80, 64, 32, 32])
        var random = SeededGenerator(seed: 4)
        bytes.replaceSubrange(32..<4096, with: random.bytes(4064))
        let reading = try folder.read(MemorySource(bytes), name: "app.db")
        guard case .unsupported = reading.fault else {
            Issue.record("\(String(describing: reading.fault))")
            return
        }
    }

    /// A database that is encrypted from its first byte on is not recognisable without its key: it is searched like any
    /// bytes.
    @Test func aDatabaseWithoutAHeadIsBytes() throws {
        var random = SeededGenerator(seed: 5)
        #expect(Carriers.form(of: random.bytes(4096), name: "Vault.sqlite") == .binary)
    }

    @Test func readingChangesNothing() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('CREATE TABLE t (a TEXT)')
            db.execute("INSERT INTO t VALUES ('x')")
            """)
        let before = try snapshot()
        #expect(before.count == 3)
        for name in ["app.db", "app.db-wal"] { _ = try folder.read(name) }
        #expect(try snapshot() == before)
    }

    private func snapshot() throws -> [String: [UInt8]] {
        let names = try SystemFile.names(folder.directory.path)
        let listing = try ChildProcess.run(
            "/usr/bin/stat", ["--format=%n %s %Y %Z %y %z %i %a"] + names, directory: folder.directory.path)
        var files = try Dictionary(uniqueKeysWithValues: names.map { ($0, try folder.bytes($0)) })
        files["stat"] = listing.output
        files["app.db-shm"] = nil
        return files
    }
}
