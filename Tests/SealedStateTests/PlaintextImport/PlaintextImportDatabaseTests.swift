import Glibc
import SealedState
import StateImport
import TestSupport
import Testing

/// Tests of SQLite databases: each becomes one consistent sealed file, or stays.
@Suite struct PlaintextImportDatabaseTests {
    private static let rows = "CREATE TABLE t(x); INSERT INTO t VALUES ('first');"

    /// Runs a program with `db` connected to a database. It ends without closing, so that logs and journals stay.
    private func python(_ sandbox: PlaintextImportSandbox, _ script: String, _ name: String = "a.sqlite") throws {
        let program = """
            import sqlite3, os
            db = sqlite3.connect('\(name)', isolation_level=None)
            \(script)
            os._exit(0)
            """
        let result = try ChildProcess.run(Python.path, ["-c", program], directory: sandbox.plain.path)
        try #require(result.exitCode == 0, "\(result.errorText)")
    }

    /// Makes a database whose newest rows are in its log alone, with pages of a size.
    private func log(_ sandbox: PlaintextImportSandbox, pageSize: Int = 4096) throws {
        try python(
            sandbox,
            """
            db.executescript("PRAGMA page_size=\(pageSize); PRAGMA journal_mode=WAL; \(Self.rows)")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("PRAGMA wal_autocheckpoint=0")
            db.execute("INSERT INTO t VALUES ('newest')")
            db.executemany("INSERT INTO t VALUES (?)", [(os.urandom(700).hex(),) for i in range(40)])
            db.execute("DELETE FROM t WHERE rowid % 3 = 0")
            db.execute("BEGIN")
            db.execute("PRAGMA cache_size=1")
            db.executemany("INSERT INTO t VALUES (?)", [('never ' + os.urandom(700).hex(),) for i in range(40)])
            """)
    }

    /// Returns the bytes that SQLite itself makes of a database with its log.
    private func checkpointed(_ sandbox: PlaintextImportSandbox) throws -> [UInt8] {
        let copy = try TemporaryDirectory()
        for name in ["a.sqlite", "a.sqlite-wal"] {
            try SystemFile.write(copy.path(name), SystemFile.read(sandbox.path(name)))
        }
        let program = """
            import sqlite3
            db = sqlite3.connect('a.sqlite', isolation_level=None)
            assert db.execute('PRAGMA integrity_check').fetchone()[0] == 'ok'
            assert db.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0] == 0
            """
        let result = try ChildProcess.run(Python.path, ["-c", program], directory: copy.path)
        try #require(result.exitCode == 0, "\(result.errorText)")
        return try SystemFile.read(copy.path("a.sqlite"))
    }

    private func sealed(_ sandbox: PlaintextImportSandbox, _ name: String = "a.sqlite") throws -> [UInt8] {
        try sandbox.fixture.open().files.read(name)
    }

    @Test(arguments: [512, 4096, 65536]) func aDatabaseWithItsLogBecomesOneFile(pageSize: Int) throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox, pageSize: pageSize)
        let expected = try checkpointed(sandbox)
        let plain = try SystemFile.read(sandbox.path("a.sqlite"))
        #expect(plain != expected)

        let kept = try sandbox.importer { $0.keepsSource = true }.file(sandbox.path("a.sqlite"))
        #expect(kept.word == "sealed" && kept.notes.contains { $0.contains("a.sqlite-wal") })
        #expect(try sealed(sandbox) == expected)
        #expect(try SystemFile.read(sandbox.path("a.sqlite")) == plain)
        let item = try sandbox.importer().file(sandbox.path("a.sqlite"))
        #expect(item.word == "alreadySealed" && item.isSourceRemoved)
        #expect(try sandbox.plaintext == [])
    }

    @Test func aDamagedFrameEndsTheLogAsItDoesForSQLite() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        let whole = try SystemFile.read(sandbox.path("a.sqlite-wal"))
        for position in [1, 17, 25, 32 + 2 * 4120 + 5, 32 + 9 * 4120 + 20, whole.count / 3] {
            var bytes = whole
            bytes[position] ^= 0x40
            try SystemFile.write(sandbox.path("a.sqlite-wal"), bytes)
            let expected = try checkpointed(sandbox)
            let importer = try sandbox.importer {
                $0.keepsSource = true
                $0.replacesTarget = true
            }
            #expect(try ["sealed", "alreadySealed"].contains(importer.file(sandbox.path("a.sqlite")).word))
            #expect(try sealed(sandbox) == expected, "\(position)")
        }
    }

    @Test func anInterruptedTransactionIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try python(
            sandbox,
            """
            db.executescript("PRAGMA journal_mode=DELETE; \(Self.rows)")
            db.execute("PRAGMA cache_size=1")
            db.execute("BEGIN")
            db.executemany("INSERT INTO t VALUES (?)", [(os.urandom(700).hex(),) for i in range(80)])
            """)
        let before = try sandbox.plaintext
        #expect(before.contains("a.sqlite-journal"))
        let error = refusal { _ = try sandbox.importer { $0.keepsSource = true }.file(sandbox.path("a.sqlite")) }
        #expect(error?.code == .sourceUnusable && error?.subject.contains("-journal") == true)
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite-journal")) } == .sourceUnusable)
        #expect(try sandbox.plaintext == before)
    }

    @Test(arguments: ["PERSIST", "TRUNCATE", "DELETE"]) func anEndedTransactionIsNot(mode: String) throws {
        let sandbox = try PlaintextImportSandbox()
        try python(sandbox, #"db.executescript("PRAGMA journal_mode=\#(mode); \#(Self.rows)")"#)
        let bytes = try SystemFile.read(sandbox.path("a.sqlite"))
        #expect(try sandbox.importer().file(sandbox.path("a.sqlite")).isSourceRemoved)
        #expect(try sealed(sandbox) == bytes)
        #expect(try sandbox.plaintext == [])
    }

    @Test func aTransactionOverSeveralDatabasesIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try python(sandbox, #"db.executescript("\#(Self.rows)")"#)
        try sandbox.file("a.sqlite-mj1A2B3C9D4", [1])
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) } == .sourceUnusable)
        #expect(try sandbox.plaintext == ["a.sqlite", "a.sqlite-mj1A2B3C9D4"])
    }

    @Test func aLinkInPlaceOfALogIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        try sandbox.file("log", SystemFile.read(sandbox.path("a.sqlite-wal")))
        unlink(sandbox.path("a.sqlite-wal"))
        try sandbox.plain.link("a.sqlite-wal", to: "log")
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) } == .sourceUnusable)
    }

    @Test func aProgramThatHasTheLogOpenKeepsTheDatabase() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        let before = try sandbox.plaintext
        // A child of another test must not inherit it.
        let writer = open(sandbox.path("a.sqlite-wal"), O_WRONLY | O_CLOEXEC)
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) } == .sourceChanged)
        #expect(try sandbox.plaintext == before)
        close(writer)
        #expect(try sandbox.importer().file(sandbox.path("a.sqlite")).isSourceRemoved)
        #expect(try sandbox.plaintext == [])
    }

    /// The lock of a program that has the database open, and that cannot be recognized by leases.
    @Test func aProgramThatHasTheDatabaseLockedKeepsIt() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        let before = try sandbox.plaintext
        let program = """
            import fcntl, os, time
            file = open('a.sqlite', 'rb')
            fcntl.lockf(file, fcntl.LOCK_SH, 510, 0x40000002)
            open('locked', 'w').close()
            for attempt in range(6000):
                if os.path.exists('stop'): break
                time.sleep(0.01)
            """
        let holder = try ChildProcess(Python.path, ["-c", program], directory: sandbox.plain.path)
        for _ in 0..<2000 {
            if try sandbox.plaintext.contains("locked") { break }
            usleep(5000)
        }
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) } == .sourceChanged)
        #expect(try sandbox.plaintext.filter { $0 != "locked" } == before)
        try sandbox.file("stop", [])
        #expect(try holder.finish().exitCode == 0)
        #expect(try sandbox.importer().file(sandbox.path("a.sqlite")).isSourceRemoved)
    }

    @Test func aLogWithPagesOfAnotherSizeIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try python(sandbox, #"db.executescript("PRAGMA page_size=1024; \#(Self.rows)")"#)
        let page = [UInt8](repeating: 1, count: 4096)
        try sandbox.file("a.sqlite-wal", Self.log(of: page, number: 2, pageCount: 2))
        let error = refusal { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) }
        #expect(error?.code == .sourceUnusable && error?.reason.contains("another size") == true)
        #expect(try sandbox.plaintext == ["a.sqlite", "a.sqlite-wal"])
    }

    @Test func aLogThatEndsWithMorePagesThanThereAreIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try python(sandbox, #"db.executescript("PRAGMA journal_mode=DELETE; \#(Self.rows)")"#)
        let page = try Array(SystemFile.read(sandbox.path("a.sqlite")).prefix(4096))
        try sandbox.file("a.sqlite-wal", Self.log(of: page, pageCount: 1 << 20))
        let error = refusal { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) }
        #expect(error?.code == .sourceUnusable && error?.reason.contains("more pages") == true)
        #expect(try sandbox.plaintext == ["a.sqlite", "a.sqlite-wal"])
        try sandbox.file("a.sqlite-wal", Self.log(of: page, pageCount: 2))
        #expect(try sandbox.importer().file(sandbox.path("a.sqlite")).isSourceRemoved)
    }

    /// Returns a log with one frame.
    private static func log(of page: [UInt8], number: UInt32 = 1, pageCount: UInt32) -> [UInt8] {
        func bytes(_ words: [UInt32]) -> [UInt8] {
            words.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
        }
        var (first, second) = (UInt32(0), UInt32(0))
        func add(_ bytes: [UInt8]) {
            let words = stride(from: 0, to: bytes.count, by: 4).map { start in
                bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in stride(from: 0, to: words.count, by: 2) {
                first = first &+ words[index] &+ second
                second = second &+ words[index + 1] &+ first
            }
        }
        let head = bytes([0x377F_0683, 3_007_000, UInt32(page.count), 0, 1, 2])
        add(head)
        var log = head + bytes([first, second])
        add(bytes([number, pageCount]))
        add(page)
        log += bytes([number, pageCount, 1, 2, first, second])
        return log + page
    }

    @Test func aDatabaseWithASecondNameIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        #expect(link(sandbox.path("a.sqlite"), sandbox.path("b.sqlite")) == 0)
        let importer = try sandbox.importer { $0.keepsSource = true }
        #expect(code { _ = try importer.file(sandbox.path("b.sqlite")) } == .sourceUnusable)
    }

    @Test func aPartOfADatabaseIsNotLeftWithoutIt() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        let before = try sandbox.plaintext
        var mapping = ContainerMapping()
        mapping.left = ["a.sqlite-wal"]
        #expect(
            code { _ = try sandbox.importer().container(sandbox.plain.path, mapping: mapping) } == .sourceUnusable)
        mapping.left.insert("a.sqlite")
        #expect(try sandbox.importer().container(sandbox.plain.path, mapping: mapping).isComplete)
        #expect(try sandbox.plaintext == before)
    }

    @Test func theDirectoryOfCoreDatasExternalDataIsNamed() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        try sandbox.plain.directory(".a_SUPPORT")
        let item = try sandbox.importer().file(sandbox.path("a.sqlite"))
        #expect(item.isSourceRemoved && item.notes.contains { $0.contains(".a_SUPPORT") })
    }

    @Test func aDatabaseThatIsWrittenAllTheTimeIsConsistentOrRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try python(
            sandbox,
            """
            db.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t(x); CREATE TABLE u(x)")
            db.executemany("INSERT INTO t VALUES (?)", [(os.urandom(900),) for i in range(2000)])
            """)
        let program = """
            import sqlite3, os, time
            db = sqlite3.connect('a.sqlite', isolation_level=None)
            while not os.path.exists('stop'):
                with db:
                    db.execute('BEGIN')
                    db.execute('INSERT INTO t VALUES (?)', (os.urandom(900),))
                    db.execute('DELETE FROM t WHERE rowid = (SELECT min(rowid) FROM t)')
                time.sleep(0.02)
            os._exit(0)
            """
        let writer = try ChildProcess(Python.path, ["-c", program], directory: sandbox.plain.path)
        var outcomes: Set<String> = []
        for round in 0..<12 {
            do {
                let item = try sandbox.importer { $0.keepsSource = true }
                    .file(sandbox.path("a.sqlite"), named: "copy\(round)")
                outcomes.insert(item.word)
            } catch let error as StoreError { outcomes.insert(error.code.rawValue) }
            guard let bytes = try? sealed(sandbox, "copy\(round)") else { continue }
            try sandbox.file("copy", bytes)
            let check =
                "import sqlite3; db = sqlite3.connect('copy'); "
                + "assert db.execute('PRAGMA integrity_check').fetchone()[0] == 'ok'; "
                + "assert db.execute('SELECT count(*) FROM t').fetchone()[0] == 2000"
            let result = try ChildProcess.run(Python.path, ["-c", check], directory: sandbox.plain.path)
            #expect(result.exitCode == 0, "\(result.errorText)")
        }
        try sandbox.file("stop", [])
        #expect(try writer.finish().exitCode == 0)
        #expect(outcomes.isSubset(of: ["sealed", "sourceChanged"]), "\(outcomes)")
    }

    @Test func aContainersDatabaseIsOneItem() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        try sandbox.file("notes", [1])
        try sandbox.file("notes-wal", [2])
        let expected = try checkpointed(sandbox)
        let report = try sandbox.importer().container(sandbox.plain.path)
        #expect(report.isComplete, "\(report.items)")
        #expect(report.items.map(\.source) == ["a.sqlite", "notes", "notes-wal"])
        #expect(try sealed(sandbox) == expected)
        #expect(try sandbox.plaintext == [])
    }

    @Test func aLogWithoutItsDatabaseStays() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        unlink(sandbox.path("a.sqlite"))
        let before = try sandbox.plaintext
        let report = try sandbox.importer().container(sandbox.plain.path)
        #expect(report.leftInPlaintext.map(\.source).contains("a.sqlite-wal"))
        #expect(try sandbox.plaintext == before)
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite-wal")) } == .sourceUnusable)
    }

    @Test func aLogThatAKilledImportHasLeftIsNamed() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        let bytes = try SystemFile.read(sandbox.path("a.sqlite-wal"))
        #expect(try sandbox.importer().file(sandbox.path("a.sqlite")).notes.count == 1)
        try sandbox.file("a.sqlite-wal", bytes)
        let item = try sandbox.importer().file(sandbox.path("a.sqlite"))
        #expect(item.word == "gone" && item.notes.contains { $0.contains("a.sqlite-wal") })
    }

    @Test func aLogBesideAnEncryptedDatabaseIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        try log(sandbox)
        try sandbox.file("a.sqlite", unevenBytes(8192))
        let before = try sandbox.plaintext
        #expect(code { _ = try sandbox.importer().file(sandbox.path("a.sqlite")) } == .sourceUnusable)
        #expect(try sandbox.plaintext == before)
    }
}
