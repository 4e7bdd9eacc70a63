import ContentDecoding
import TestSupport
import Testing

/// Tests of tables whose rows contain the names of their values.
@Suite struct SQLiteNamingTests {
    let folder: DatabaseFolder

    init() throws { folder = try DatabaseFolder() }

    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func aValueIsCalledWhatItsRowSays(encoding: String) throws {
        try folder.python(
            """
            db.execute("PRAGMA encoding = '\(encoding)'")
            db.execute('CREATE TABLE settings (id INTEGER PRIMARY KEY, key TEXT, value)')
            db.execute("INSERT INTO settings VALUES (41, 'refreshToken', 'planted-token')")
            db.execute("INSERT INTO settings VALUES (42, 'user.schlüssel', 'planted-other')")
            db.execute("INSERT INTO settings VALUES (43, NULL, 'planted-nameless')")
            db.execute("INSERT INTO settings VALUES (44, 'isLocked', 1)")
            """)
        let reading = try folder.read()
        let token = try #require(reading.exactly("planted-token").first)
        #expect(token.name == "refreshToken")
        #expect(token.trail == "table settings, row 41, refreshToken")
        #expect(reading.exactly("planted-other").first?.name == "user.schlüssel")
        #expect(reading.exactly("planted-nameless").first?.trail == "table settings, row 43, value")
        #expect(reading.exactly("refreshToken").first?.name == "key")
        #expect(reading.leaves.contains { $0.trail == "table settings, row 44, isLocked" && $0.kind == "number" })
    }

    @Test(arguments: [
        ("Key", "VALUE"), ("name", "val"), ("setting", "data"), ("ZKEY", "ZVALUE"), ("ZNAME", "ZSTRINGVALUE"),
        ("setting_name", "setting_value"), ("attributeName", "stringValue"), ("identifier", "payload"),
        ("option", "content"), ("property", "blob"), ("field", "v"), ("pref_key", "pref_data"),
    ])
    func columnsOfManyNamesNameAndHold(key: String, value: String) throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (x INT, "\(value)" TEXT, y TEXT, "\(key)" VARCHAR(20))')
            db.execute("INSERT INTO t VALUES (1, 'planted-token', 'beside', 'refreshToken')")
            """)
        let reading = try folder.read()
        #expect(reading.exactly("planted-token").first?.name == "refreshToken")
        #expect(reading.exactly("beside").first?.name == "y")
    }

    @Test(arguments: [
        ("name TEXT, token TEXT, n INT", "token"), ("username TEXT, value TEXT, n INT", "value"),
        ("name TEXT, password TEXT UNIQUE", "password"),
        ("hostname TEXT PRIMARY KEY, refresh_token TEXT", "refresh_token"),
        ("a TEXT, b TEXT", "b"), ("id INTEGER PRIMARY KEY, value TEXT", "value"), ("key INTEGER, value TEXT", "value"),
        ("a TEXT, b TEXT, PRIMARY KEY (a, b)", "b"), ("a TEXT, b TEXT, UNIQUE (a, b)", "b"),
    ])
    func columnsThatSayWhatTheyHoldKeepTheirNames(columns: String, name: String) throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (\(columns))')
            first = db.execute('PRAGMA table_info(t)').fetchall()[0][2]
            row = [7 if first == 'INTEGER' else 'ada', 'planted-token', 5][:len(db.execute('PRAGMA table_info(t)').fetchall())]
            db.execute('INSERT INTO t VALUES (' + ','.join('?' * len(row)) + ')', row)
            """)
        let reading = try folder.read()
        #expect(reading.exactly("planted-token").contains { $0.name == name && $0.presence == .live })
    }

    @Test(arguments: [
        "a TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID --", "a TEXT UNIQUE, b TEXT", "b TEXT, a TEXT NOT NULL PRIMARY KEY",
        "a TEXT, b TEXT, UNIQUE (a)", "a TEXT, b TEXT, CONSTRAINT one PRIMARY KEY (a)",
    ])
    func inAStoreOfTwoColumnsTheUniqueOneNamesTheOther(columns: String) throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (\(columns))')
            db.execute('INSERT INTO t (a, b) VALUES (?, ?)', ('refreshToken', 'planted-token'))
            """)
        let found = try folder.read().exactly("planted-token").filter { $0.presence == .live }
        #expect(found.map(\.name) == ["refreshToken"])
        #expect(found.first?.trail.hasSuffix(", refreshToken") == true)
    }

    @Test func valuesNestedInAValueAreBelowItsName() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE store (key TEXT, value BLOB, data TEXT)')
            db.execute('INSERT INTO store VALUES (?, ?, ?)',
                ('account', plistlib.dumps({'token': 'planted-token'}, fmt=plistlib.FMT_BINARY), 'planted-second'))
            """)
        let reading = try folder.read()
        #expect(reading.exactly("planted-token").first?.trail == "table store, row 1, account.value > plist: token")
        #expect(reading.exactly("planted-second").first?.trail == "table store, row 1, account.data")
        #expect(reading.exactly("planted-second").first?.name == "account")
    }

    @Test func aNameThatCouldBeAValueIsNotShown() throws {
        let keys = ["8f14e45fceea167a5a36dedd4bea2543", "ada@example.org", "4111111111111111 token"]
        try folder.python(
            """
            db.execute('CREATE TABLE t (key TEXT, value TEXT)')
            for i, key in enumerate(\(keys)):
                db.execute('INSERT INTO t VALUES (?, ?)', (key, f'planted-{i}'))
            db.execute('INSERT INTO t VALUES (?, ?)', ('k' * 5000, 'planted-long'))
            db.execute('INSERT INTO t VALUES (?, ?)', ('two\\nlines', 'planted-lines'))
            """)
        let reading = try folder.read()
        for (row, key) in keys.enumerated() {
            let leaf = try #require(reading.exactly("planted-\(row)").first)
            #expect(leaf.trail == "table t, row \(row + 1), value")
            #expect(leaf.name == key)
        }
        for value in ["planted-long", "planted-lines"] { #expect(reading.exactly(value).first?.name == "value") }
    }

    @Test(arguments: ["key TEXT, value TEXT", "value TEXT, key TEXT"])
    func valuesOnOverflowPagesHaveTheirNames(columns: String) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = 512')
            db.execute('CREATE TABLE t (\(columns))')
            db.execute('INSERT INTO t (key, value) VALUES (?, ?)', ('refreshToken', 'planted-' * 2000))
            """)
        let leaf = try #require(try folder.read().exactly(String(repeating: "planted-", count: 2000)).first)
        #expect(leaf.name == "refreshToken")
        #expect(leaf.trail == "table t, row 1, refreshToken")
    }

    @Test func deletedAndLoggedRowsNameTheirValuesToo() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT)')
            db.execute('CREATE TABLE kv (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID')
            for i in range(30):
                db.execute('INSERT INTO settings VALUES (?, ?, ?)', (i + 1, f'name{i}', f'planted-{i}-freed'))
            db.execute('DELETE FROM settings WHERE id IN (7, 20)')
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA wal_autocheckpoint = 0')
            db.execute("INSERT INTO settings VALUES (90, 'logName', 'planted-log')")
            db.execute("INSERT INTO kv VALUES ('pairName', 'planted-pair')")
            db.execute('DELETE FROM settings WHERE id = 90')
            db.execute("DELETE FROM kv")
            """)
        let (reading, log) = (try folder.read(), try folder.read("app.db-wal"))
        for row in [6, 19] {
            #expect(
                reading.exactly("planted-\(row)-freed").contains { $0.name == "name\(row)" && $0.presence == .freed })
        }
        #expect(log.exactly("planted-log").contains { $0.name == "logName" && $0.presence == .logged })
        #expect(log.exactly("planted-pair").contains { $0.name == "pairName" && $0.presence == .logged })
    }

    @Test func aWebViewsStoreIsTextInUTF16() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB NOT NULL ON CONFLICT FAIL)')
            for key, value in [('authToken', 'planted-tökén'), ('state', '{"user":{"token":"planted-json"}}'),
                               ('short', 'abc')]:
                db.execute('INSERT INTO ItemTable VALUES (?, ?)', (key, value.encode('utf-16-le')))
            """)
        let reading = try folder.read()
        let token = try #require(reading.exactly("planted-tökén").first)
        #expect(token.name == "authToken")
        #expect(token.kind == "text")
        #expect(token.trail == "table ItemTable, row 1, authToken > UTF-16")
        #expect(
            reading.exactly("planted-json").map(\.trail) == [
                "table ItemTable, row 2, state > UTF-16 > json: user.token"
            ])
        #expect(reading.leaves.filter { $0.kind == "data" && $0.presence == .live }.count == 1)
    }
}
