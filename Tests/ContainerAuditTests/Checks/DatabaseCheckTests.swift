import ContainerAudit
import Glibc
import TestSupport
import Testing

private let sqlite = "/usr/bin/sqlite3"

@Suite(.enabled(if: SystemFile.exists(sqlite))) struct DatabaseCheckTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    private func run(_ commands: String, on name: String = "data.db") throws {
        let result = try ChildProcess.run(sqlite, [sandbox.path(name), commands])
        try #require(result.exitCode == 0, "\(result.errorText)")
        try #require(chmod(sandbox.path(name), 0o600) == 0)
    }

    private static let table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);"
    private static let rows =
        "INSERT INTO notes (body) SELECT 'a note about the garden and the weather ' || value FROM "
        + "(WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 200) SELECT value FROM c);"

    @Test func deletedValuesThatWereNotOverwrittenAreFound() throws {
        try run("PRAGMA secure_delete = OFF; " + Self.table + Self.rows + "DELETE FROM notes WHERE id % 2 = 0;")
        let report = try sandbox.audit()
        #expect(report.finding("database.deleted-values")?.severity == .low)
        #expect(report.findings.count { $0.id == "database.deleted-values" } == 1)
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains("garden"))
    }

    @Test func overwrittenValuesAreNotFound() throws {
        try run("PRAGMA secure_delete = ON; " + Self.table + Self.rows + "DELETE FROM notes WHERE id % 2 = 0; VACUUM;")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func aRowOnlyInTheLogIsFound() throws {
        try OpenDatabase.leaveLog(at: sandbox.path("data.db"))
        let report = try sandbox.audit()
        #expect(report.ids == ["database.logged-values", "plaintext.file"])
        let finding = try #require(report.finding("database.logged-values"))
        #expect(finding.path == "data.db-wal" && finding.severity == .info)
        #expect(finding.remedy.contains("sqlite3 \(sandbox.path("data.db")) 'PRAGMA"))
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains("newest row"))
    }

    @Test func aLogThatWasMovedIntoItsDatabaseIsNot() throws {
        try OpenDatabase.leaveLog(at: sandbox.path("data.db"))
        try run("PRAGMA wal_checkpoint(TRUNCATE);")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func anEarlierVersionInTheLogIsCounted() throws {
        let file = sandbox.path("data.db")
        try OpenDatabase.leaveLog(at: file)
        let script = "UPDATE notes SET body = 'changed';\n.system cp '\(file)-wal' '\(file).copy'"
        let child = try ChildProcess.run(
            "/bin/sh", ["-c", "printf '%s\n' \"$1\" | \(sqlite) \"$2\"", "sh", script, file])
        try #require(child.exitCode == 0, "\(child.errorText)")
        try #require(rename("\(file).copy", "\(file)-wal") == 0)
        try #require(chmod("\(file)-wal", 0o600) == 0)
        #expect(try sandbox.audit().finding("database.logged-values")?.detail.contains("older ones") == true)
    }

    @Test func aStoreOfCoreDataIsKnownByItsColumns() throws {
        try run(
            "CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZBODY VARCHAR); INSERT INTO ZNOTE VALUES (1, 1, 'x');"
        )
        #expect(try sandbox.audit().ids == ["database.core-data", "plaintext.file"])
        try run(Self.table, on: "other.db")
        #expect(try sandbox.audit().findings.count { $0.id == "database.core-data" } == 1)
    }

    @Test func aSecretIsWorthLessOnceItWasDeleted() throws {
        let insert = "INSERT INTO logins (password) VALUES ('vN7!qz_Lr3#dTw9');"
        try run("CREATE TABLE logins (id INTEGER PRIMARY KEY, password TEXT);" + insert)
        let live = try #require(try sandbox.audit().finding("field.password"))
        try run(
            "PRAGMA secure_delete = OFF; " + Self.rows.replacing("notes (body)", with: "logins (password)")
                + "DELETE FROM logins WHERE id = 1;")
        let freed = try sandbox.audit().findings.filter { $0.id == "field.password" && $0.detail.contains("deleted") }
        #expect(freed.allSatisfy { $0.severity < live.severity })
        #expect(freed.allSatisfy { $0.remedy.contains("secure_delete") })
    }
}
