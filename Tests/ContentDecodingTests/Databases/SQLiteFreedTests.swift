import ContentDecoding
import TestSupport
import Testing

@Suite struct SQLiteFreedTests {
    let folder: DatabaseFolder

    init() throws { folder = try DatabaseFolder() }

    @Test(arguments: [512, 4096, 65536], ["UTF-8", "UTF-16le"])
    func deletedRowsAreFoundInFreeSpace(pageSize: Int, encoding: String) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = \(pageSize)')
            db.execute("PRAGMA encoding = '\(encoding)'")
            db.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, token TEXT)')
            for i in range(200):
                db.execute('INSERT INTO users VALUES (?, ?, ?)', (i + 1, f'name-{i}', f'planted-{i}-secret'))
            for i in range(0, 200, 7):
                db.execute('DELETE FROM users WHERE id = ?', (i + 1,))
            """)
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        for row in stride(from: 0, to: 200, by: 7) {
            #expect(
                reading.exactly("planted-\(row)-secret").contains {
                    $0.presence == .freed && $0.trail.hasPrefix("table users, ") && $0.name == "token"
                }, "row \(row)")
        }
        #expect(reading.leaves.filter { $0.presence == .live && $0.text.hasPrefix("planted-") }.count == 171)
    }

    @Test(arguments: [false, true])
    func rowsOfADroppedTableAreFoundInFreePages(isLarge: Bool) throws {
        try folder.python(
            """
            db.execute('CREATE TABLE kept (a TEXT)')
            db.execute('CREATE TABLE gone (id INTEGER PRIMARY KEY, user TEXT, password TEXT, seen REAL)')
            for i in range(\(isLarge ? 2000 : 20)):
                db.execute('INSERT INTO gone VALUES (?, ?, ?, ?)', (i + 1, f'user-{i}', f'planted-{i}-secret', 1.5))
            db.execute("INSERT INTO kept VALUES ('still here')")
            db.execute('DROP TABLE gone')
            """)
        let reading = try folder.read()
        let found = (0..<(isLarge ? 2000 : 20)).filter { row in
            reading.holding("planted-\(row)-secret").contains { $0.presence == .freed }
        }
        #expect(found.count == (isLarge ? 2000 : 20))
        let named = reading.leaves.filter { $0.name == "password" && $0.trail.hasPrefix("table gone, row ") }
        #expect(named.count >= (isLarge ? 1900 : 19))
        #expect(reading.exactly("still here").first?.presence == .live)
    }

    /// A living table has columns of the same kinds, so only the dropped table's tree shows which table the rows belong
    /// to.
    @Test(arguments: [512, 4096], ["UTF-8", "UTF-16le"])
    func rowsOfADroppedTableKeepTheirColumnsBesideAnotherOfTheSameShape(pageSize: Int, encoding: String) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = \(pageSize)')
            db.execute("PRAGMA encoding = '\(encoding)'")
            db.execute('CREATE TABLE settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT)')
            for i in range(40):
                db.execute('INSERT INTO settings VALUES (?, ?, ?)', (i, f'option{i}', f'{i}'))
            db.execute('CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, "colour" TEXT)')
            for i in range(400):
                db.execute('INSERT INTO accounts VALUES (?, ?, ?)', (i, 'ada' * 20, f'planted-{i}' if i % 10 == 1 else ''))
            db.execute('DROP TABLE accounts')
            """)
        let reading = try folder.read()
        let found = stride(from: 1, to: 400, by: 10).filter { row in
            reading.exactly("planted-\(row)").contains {
                $0.name == "colour" && $0.trail == "table accounts, row \(row), colour"
            }
        }
        // The list of free pages overwrites rows of one page or two.
        #expect(found.count >= 38)
        #expect(reading.exactly("39").contains { $0.trail == "table settings, row 39, option39" })
    }

    @Test(arguments: [false, true])
    func severalDroppedTablesAreDistinguished(inOrder: Bool) throws {
        try folder.python(
            """
            names = ['one', 'two', 'three', 'four']
            for table in names:
                db.execute(f'CREATE TABLE {table} (id INTEGER PRIMARY KEY, user TEXT, column_{table} TEXT)')
            for i in range(300):
                for table in names:
                    db.execute(f'INSERT INTO {table} VALUES (?, ?, ?)', (i, 'ada' * 20, f'planted-{table}-{i}'))
            for table in \(inOrder ? "names" : "['two', 'three', 'one', 'four']"):
                db.execute(f'DROP TABLE {table}')
            """)
        let reading = try folder.read()
        for table in ["one", "two", "three", "four"] {
            let found = (0..<300).filter { row in
                reading.exactly("planted-\(table)-\(row)").contains { $0.name == "column_\(table)" }
            }
            #expect(found.count >= 270, "\(table): \(found.count)")
        }
    }

    /// The tree is gone: of several tables with the same shape, the one that names a secret is used.
    @Test func ofSeveralTablesTheDescriptiveOneIsTaken() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE plain (id INTEGER PRIMARY KEY, user TEXT, note TEXT)')
            db.execute('CREATE TABLE accounts (id INTEGER PRIMARY KEY, user TEXT, refreshToken TEXT)')
            for i in range(3000):
                db.execute('INSERT INTO accounts VALUES (?, ?, ?)', (i, 'ada', f'planted-{i}'))
            db.execute('DELETE FROM accounts')
            """)
        let reading = try folder.read()
        let named = reading.leaves.filter { $0.text.hasPrefix("planted-") && $0.name == "refreshToken" }
        #expect(named.count >= 2700)
        #expect(named.contains { $0.trail.hasPrefix("table accounts?, row ") })
    }

    @Test func aTableThatALogDropsIsKnownFromTheFile() throws {
        try folder.python(
            """
            db.execute('PRAGMA journal_mode = WAL')
            db.execute('PRAGMA wal_autocheckpoint = 0')
            db.execute('CREATE TABLE kept (id INTEGER PRIMARY KEY, a TEXT, b TEXT)')
            db.execute('CREATE TABLE gone (id INTEGER PRIMARY KEY, user TEXT, password TEXT)')
            for i in range(500):
                db.execute('INSERT INTO gone VALUES (?, ?, ?)', (i, 'ada', f'planted-{i}'))
            db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            db.execute("INSERT INTO gone VALUES (900, 'ada', 'planted-logged')")
            db.execute("UPDATE gone SET password = 'replaced' WHERE id = 900")
            db.execute('DROP TABLE gone')
            """)
        let (reading, log) = (try folder.read(), try folder.read("app.db-wal"))
        let named = (0..<500).filter { row in
            reading.exactly("planted-\(row)").contains { $0.name == "password" && $0.presence == .freed }
        }
        #expect(named.count >= 450)
        #expect(log.exactly("planted-logged").contains { $0.name == "password" && $0.presence == .logged })
    }

    @Test func aLongDeletedValueIsJoinedAgain() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, state BLOB)')
            state = plistlib.dumps({'list': ['x%d' % i for i in range(4000)], 'token': 'planted-token'}, fmt=plistlib.FMT_BINARY)
            for i in range(4):
                db.execute('INSERT INTO t VALUES (?, ?)', (i + 1, state.replace(b'planted', b'plant%02d' % i)))
            db.execute('DELETE FROM t WHERE id = 2')
            db.execute('DELETE FROM t WHERE id = 3')
            """)
        let reading = try folder.read()
        #expect(
            reading.exactly("plant00-token").contains { $0.presence == .live && $0.trail.hasSuffix("> plist: token") })
        #expect(reading.holding("plant01-token").contains { $0.presence == .freed })
        #expect(
            reading.exactly("plant02-token").contains { $0.presence == .freed && $0.trail.hasSuffix("plist: token") })
    }

    @Test(arguments: ["FULL", "INCREMENTAL"])
    func pointerMapsOfAutoVacuumAreNotValues(mode: String) throws {
        try folder.python(
            """
            db.execute('PRAGMA page_size = 512')
            db.execute('PRAGMA auto_vacuum = \(mode)')
            db.execute('CREATE TABLE t (a TEXT, b TEXT)')
            for i in range(3000):
                db.execute('INSERT INTO t VALUES (?, ?)', (f'value-{i}', 'x' * (i % 700)))
            db.execute('DELETE FROM t WHERE rowid % 5 = 0')
            """)
        let reading = try folder.read()
        #expect(reading.unread.isEmpty)
        let live = reading.leaves.filter { $0.presence == .live && $0.text.hasPrefix("value-") }
        #expect(Set(live.map(\.text)).count == 2400)
        #expect(live.count == 2400)
    }

    @Test func securelyDeletedValuesAreNotFound() throws {
        try folder.python(
            """
            db.execute('PRAGMA secure_delete = ON')
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)')
            for i in range(50):
                db.execute('INSERT INTO t VALUES (?, ?)', (i, f'planted-{i}-secret'))
            db.execute('DELETE FROM t WHERE id = 20')
            """)
        let reading = try folder.read()
        #expect(reading.holding("planted-20-secret").isEmpty)
        #expect(!reading.holding("planted-21-secret").isEmpty)
    }

    @Test func unknownFreePagesAreStrings() throws {
        try folder.python(
            """
            db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)')
            db.execute('INSERT INTO t VALUES (1, ?)', ('x' * 50000 + 'planted-text' + 'y' * 20000,))
            db.execute('INSERT INTO t VALUES (2, ?)', ('short',))
            db.execute('DELETE FROM t WHERE id = 1')
            db.execute('INSERT INTO t VALUES (3, ?)', ('other',))
            """)
        let reading = try folder.read()
        #expect(reading.holding("planted-text").contains { $0.presence == .freed })
    }
}
