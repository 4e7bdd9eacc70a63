import ContainerAudit
import Glibc
import TestSupport
import Testing

private let sqlite = "/usr/bin/sqlite3"

/// Tests of remedies, which users paste: a remedy must not lose data or cause a worse finding.
@Suite struct PlaintextRemedyTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    private static let log: [UInt8] = [0x37, 0x7F, 0x06, 0x82] + [UInt8](repeating: 0, count: 60)
    private static let database = Array("SQLite format 3\0".utf8) + [0x10, 0]

    private func plaintext() throws -> [Finding] { try sandbox.audit().findings.filter { $0.id == "plaintext.file" } }

    @Test(arguments: ["data.db", "Library/Caches/data.db", "odd name"])
    func theFilesOfADatabaseAreNotFindingsOfTheirOwn(path: String) throws {
        try sandbox.put(path, Self.database)
        try sandbox.put(path + "-wal", Self.log)
        try sandbox.put(path + "-shm", [0x18, 0xE2, 0x2D, 0])
        try sandbox.put(path + "-journal", [0xD9, 0xD5, 0x05, 0xF9, 0])
        #expect(try plaintext().map(\.path) == [path])
    }

    @Test(arguments: ["data.db-wal", "data.db-shm", "data.db-journal"])
    func aLogWithoutItsDatabaseIsNotSealedAndRemoved(path: String) throws {
        try sandbox.put(path, path.hasSuffix("-wal") ? Self.log : [0, 1, 2, 255])
        let finding = try #require(try plaintext().first)
        #expect(finding.path == path)
        #expect(!finding.remedy.contains("encrypt") && !finding.remedy.contains("rm "))
    }

    @Test func textThatOnlyHasTheNameOfALogIsAFileOfItsOwn() throws {
        try sandbox.put("notes", "text")
        try sandbox.put("notes-wal", "text")
        #expect(try plaintext().map(\.path) == ["notes", "notes-wal"])
    }

    @Test func aLogIsMovedIntoItsDatabaseFirst() throws {
        try sandbox.put("data.db", Self.database)
        let remedy = try #require(try plaintext().first?.remedy)
        let file = sandbox.path("data.db")
        #expect(
            remedy.contains("sqlite3 \(file) 'PRAGMA wal_checkpoint(TRUNCATE)' && test ! -s \(file)-wal && sealctl"))
    }

    @Test(arguments: ["bplist00\u{1}\u{2}", "<?xml?>\n<plist version='1.0'/>"])
    func aSuiteOfDefaultsBecomesASealedSuite(text: String) throws {
        try sandbox.put("Library/Preferences/com.example.app.plist", text)
        try sandbox.put("Documents/com.example.app.plist", text)
        let remedies = try plaintext().map(\.remedy)
        let file = sandbox.path("Library/Preferences/com.example.app.plist")
        #expect(remedies.count == 2)
        #expect(remedies.contains { $0.contains("sealctl import defaults --group \(sandbox.group) \(file)") })
        #expect(remedies.contains { $0.contains("sealctl encrypt") && $0.contains("/Documents/") })
    }

    @Test func aSwitchAmongDefaultsHasTheSameRemedy() throws {
        try sandbox.put(
            "Library/Preferences/a.plist", "<plist version='1.0'><dict><key>isPremium</key><true/></dict></plist>")
        let remedy = try #require(try sandbox.audit().finding("switch.editable")?.remedy)
        #expect(remedy.contains("import defaults") && !remedy.contains("import file"))
    }

    @Test(.enabled(if: SystemFile.exists(sqlite))) func theCheckpointLosesNothing() throws {
        let file = sandbox.path("data.db")
        try OpenDatabase.leaveLog(at: file)
        let remedy = try #require(try plaintext().first?.remedy)
        let start = try #require(remedy.ranges(of: "sqlite3 ").first)
        let command = remedy[start.lowerBound...].prefix { $0 != "&" }
        let child = try ChildProcess.run("/bin/sh", ["-c", "\(command) && test ! -s \(file)-wal"])
        #expect(child.exitCode == 0, "\(child.errorText)")
        let rows = try ChildProcess.run(sqlite, [file, "SELECT count(*) FROM notes"])
        #expect(rows.outputText.hasPrefix("2"))
    }
}

/// A database whose newest row is in its log alone, as a crashed program leaves it.
enum OpenDatabase {
    static func leaveLog(at file: String) throws {
        let script = """
            PRAGMA journal_mode = WAL;
            CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);
            INSERT INTO notes (body) VALUES ('the first row');
            PRAGMA wal_checkpoint(TRUNCATE);
            INSERT INTO notes (body) VALUES ('the newest row');
            .system cp '\(file)' '\(file).copy' && cp '\(file)-wal' '\(file).copy-wal'
            """
        let child = try ChildProcess.run(
            "/bin/sh", ["-c", "printf '%s\n' \"$1\" | \(sqlite) \"$2\"", "sh", script, file])
        try #require(child.exitCode == 0, "\(child.errorText)")
        for ending in ["", "-wal"] {
            try #require(rename("\(file).copy\(ending)", file + ending) == 0)
            try #require(chmod(file + ending, 0o600) == 0)
        }
    }
}
