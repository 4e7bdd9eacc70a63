#if SQLite
import ContainerAudit
import Glibc
import SealedBackends
import SealedState
import SealedStateSQLite
import TestSupport
import Testing

/// Tests of the database's own files, and of the file that names the backend.
@Suite struct DatabaseFileTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox.withClosedDatabase() }

    private var database: String { sandbox.path(AuditSandbox.database) }

    /// Expects one severe finding on a file, and an audit that goes on without records and without keys.
    private func expectNoRecords(
        _ id: String, at path: String, _ report: AuditReport, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let findings = report.findings.filter { $0.path == path && $0.id == id }
        #expect(findings.count == 1, "\(report.findings)", sourceLocation: sourceLocation)
        #expect(findings.first?.severity == .high, sourceLocation: sourceLocation)
        #expect(!report.withKeys && !report.isClean, sourceLocation: sourceLocation)
        #expect(report.row("state") == nil, sourceLocation: sourceLocation)
        #expect(report.notes.contains { $0.contains("were not examined") }, sourceLocation: sourceLocation)
        #expect(report.finding("record.missing") == nil, sourceLocation: sourceLocation)
    }

    private func both() throws -> [AuditReport] { [try sandbox.auditDatabase(), try sandbox.auditDatabaseByPath()] }

    @Test func anAuditLeavesAClosedDatabaseAsItIs() throws {
        let before = try SystemFile.read(database)
        #expect(try sandbox.auditDatabase().ids == [])
        #expect(try SystemFile.read(database) == before)
        #expect(!SystemFile.exists(database + "-wal"))
    }

    // Another file of the process's database that is closed ends the process's locks on it.
    @Test func theLocksOfAnOpenDatabaseRemain() throws {
        let store = try sandbox.databaseStore()
        _ = try store.read(Token.self)
        for (end, copy) in [("", "copy"), ("-shm", "Library/Caches/index")] {
            try #require(link(database + end, sandbox.path(copy)) == 0)
        }
        let before = try locks()
        #expect(before.allSatisfy { $0 > 0 })
        for report in try both() {
            #expect(report.file("copy")?.kind == .sealedDatabase)
            #expect(report.file("Library/Caches/index")?.kind == .sealedDatabase)
            #expect(report.ids == [])
        }
        #expect(try locks() == before)
        // The control: an ordinary read does end them.
        _ = try SystemFile.read(database)
        #expect(try locks() != before)
    }

    /// Returns the number of this process's locks on the database and on its index.
    private func locks() throws -> [Int] {
        let list = String(decoding: try SystemFile.read("/proc/locks"), as: UTF8.self).split(separator: "\n")
        return try ["", "-shm"].map { end in
            var status = stat()
            try #require(stat(database + end, &status) == 0)
            return list.count {
                $0.contains("POSIX") && $0.contains(" \(getpid()) ") && $0.contains(":\(status.st_ino) ")
            }
        }
    }

    @Test func aDamagedPageIsFound() throws {
        let size = try SystemFile.read(database).count
        try #require(size > 5 * 4096)
        for page in 1..<size / 4096 {
            let copy = try AuditSandbox(copying: sandbox)
            try copy.change(copy.path(AuditSandbox.database)) { bytes in
                for offset in 0..<64 { bytes[page * 4096 + offset] = 0xA5 }
            }
            for report in [try copy.auditDatabase(), try copy.auditDatabaseByPath()] {
                let finding = try #require(report.finding("database.damaged"), "page \(page): \(report.ids)")
                #expect(finding.path == AuditSandbox.database && finding.severity == .high)
                #expect(!finding.remedy.contains("{"))
                let ids = Set(report.ids)
                #expect(ids.isSubset(of: [finding.id, "file.unexamined"]), "page \(page): \(report.findings)")
            }
        }
    }

    /// Rows that the backend does not list could hide plaintext.
    @Test(
        .enabled(if: SystemFile.exists("/usr/bin/sqlite3")),
        arguments: ["head = 'password=vZ7qTnpL2xWfKd'", "body = 'password=vZ7qTnpL2xWfKd'", "name = 'état'"])
    func aRowThatNoProgramWritesIsFound(change: String) throws {
        let command = "UPDATE record SET \(change) WHERE name = 'state'; PRAGMA wal_checkpoint(TRUNCATE);"
        try #require(try ChildProcess.run("/usr/bin/sqlite3", [database, command]).exitCode == 0)
        for report in try both() {
            #expect(report.finding("database.damaged")?.path == AuditSandbox.database)
            #expect(report.finding("database.damaged")?.detail.contains("1 of its rows") == true)
        }
    }

    @Test(arguments: ["text", #"{"password":"vZ7qTnpL2xWfKd"}"#, ""])
    func anotherFileIsNoDatabase(text: String) throws {
        try SystemFile.write(database, Array(text.utf8))
        for report in try both() {
            expectNoRecords("database.damaged", at: AuditSandbox.database, report)
            #expect(report.file(AuditSandbox.database)?.kind == .sealedDatabase)
        }
        #expect(try SystemFile.read(database) == Array(text.utf8))
    }

    @Test func aMissingDatabaseIsFoundAndNotCreated() throws {
        try #require(unlink(database) == 0)
        for report in try both() { expectNoRecords("database.damaged", at: AuditSandbox.database, report) }
        #expect(!SystemFile.exists(database))
    }

    @Test func aPlantedJournalIsNotReplayedAndTheRestIsAudited() throws {
        try SystemFile.write(database + "-journal", [1, 2, 3])
        try sandbox.put("notes", "text")
        for report in try both() {
            expectNoRecords("file.unexamined", at: AuditSandbox.database, report)
            #expect(report.finding("file.unexamined")?.detail.contains("journal") == true)
            #expect(report.file(AuditSandbox.database + "-journal")?.kind == .sealedDatabase)
            #expect(report.finding("plaintext.file")?.path == "notes")
        }
        #expect(try SystemFile.read(database + "-journal") == [1, 2, 3])
    }

    @Test func anotherObjectInItsPlaceIsNotOpened() throws {
        try #require(rename(database, sandbox.path("away")) == 0)
        try #require(symlink(sandbox.path("away"), database) == 0)
        for report in try both() {
            expectNoRecords("file.unexamined", at: AuditSandbox.database, report)
            #expect(report.finding("link.present") != nil)
        }
        try #require(unlink(database) == 0)
        try #require(mkdir(database, 0o700) == 0)
        try sandbox.put(AuditSandbox.database + "/notes", "text")
        for report in try both() {
            expectNoRecords("file.unexamined", at: AuditSandbox.database, report)
            #expect(report.row("notes")?.kind == .text && report.row("notes")?.mode == 0o600)
        }
    }

    @Test(arguments: [(0o644, "file.unexamined"), (0o660, "mode.group-writable"), (0o666, "mode.world-writable")])
    func aModeForOthersIsFound(mode: UInt32, id: String) throws {
        try #require(chmod(database, mode) == 0)
        for report in try both() {
            expectNoRecords("file.unexamined", at: AuditSandbox.database, report)
            #expect(report.ids.contains(id))
        }
    }

    @Test(arguments: [".", "Library", "Library/Application Support"])
    func aDatabaseThatOthersMayReplaceIsNotOpened(directory: String) throws {
        try #require(chmod(sandbox.path(directory), 0o770) == 0)
        for report in try both() { expectNoRecords("file.unexamined", at: AuditSandbox.database, report) }
        try #require(chmod(sandbox.path(directory), 0o2770) == 0)
        expectNoRecords("file.unexamined", at: AuditSandbox.database, try sandbox.auditDatabaseByPath())
    }

    @Test func aBackendThatTheProgramDoesNotHaveIsNamed() throws {
        for report in [try sandbox.audit(), try sandbox.auditByPath()] {
            expectNoRecords("file.unexamined", at: AuditSandbox.marker, report)
            #expect(report.finding("file.unexamined")?.detail.contains("sqlite") == true)
            #expect(report.file(AuditSandbox.database)?.kind == .sealedDatabase && report.ids.count == 1)
        }
        try sandbox.put(AuditSandbox.marker, "other")
        for report in try both() {
            expectNoRecords("file.unexamined", at: AuditSandbox.marker, report)
            #expect(report.finding("file.unexamined")?.detail.contains("other") == true)
        }
    }

    @Test func aMarkerThatCannotBeReadIsAFinding() throws {
        let marker = sandbox.path(AuditSandbox.marker)
        let plants: [() throws -> Void] = [
            { try #require(symlink("/etc/hostname", marker) == 0) },
            { try #require(mkdir(marker, 0o700) == 0) },
            { try #require(mkfifo(marker, 0o600) == 0) },
            { try SystemFile.write(marker, [UInt8](repeating: 0x61, count: 1 << 20)) },
            { try SystemFile.write(marker, []) },
            { try SystemFile.write(marker, Array("sqlite\n".utf8)) },
        ]
        for plant in plants {
            try #require(remove(marker) == 0)
            try plant()
            for report in try both() { expectNoRecords("file.unexamined", at: AuditSandbox.marker, report) }
        }
    }

    @Test func anAuditThatRequiresKeysEndsWithoutTheRecords() throws {
        try #require(unlink(database) == 0)
        #expect(throwingCode { try sandbox.auditDatabase { $0.requiresVault = true } } == .withoutKeys)
    }

    @Test func inAContainerOfFilesItIsAnOrdinaryFile() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put(AuditSandbox.database, "text")
        let report = try sandbox.auditDatabase()
        #expect(report.ids == ["plaintext.file"])
        #expect(report.file(AuditSandbox.database)?.kind == .text)
        #expect(report.verdict(ofRecord: "state") == .verified)
    }
}
#endif
