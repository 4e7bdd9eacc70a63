import ContainerAudit
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite struct HygieneTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    @Test(arguments: ["notes.txt~", "data.json.bak", ".notes.swp", "#draft#", "a.orig", "db.old"])
    func aBackupIsFound(name: String) throws {
        try sandbox.put(name, "text")
        #expect(try sandbox.audit().ids == ["leftover.backup", "plaintext.file"])
    }

    @Test(arguments: ["bak", "orig.txt", "backup-settings.txt", "old"])
    func aNameThatOnlyResemblesOneIsNotMatched(name: String) throws {
        try sandbox.put(name, "text")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test(arguments: ["app.log", "Library/Logs/app.2026-11-21.log", "app.log.1", "APP.LOG"])
    func aLogIsGoodToKnow(name: String) throws {
        try sandbox.put(name, "started")
        let report = try sandbox.audit()
        #expect(report.ids == ["log.present", "plaintext.file"])
        #expect(report.finding("log.present")?.severity == .info)
    }

    @Test(arguments: ["log", "catalog", "log.txt", "changelog.md"])
    func aFileThatOnlyResemblesALogIsNotALog(name: String) throws {
        try sandbox.put(name, "text")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test(arguments: ["a.tmp", "film.part", ".dat.nosync01.x"])
    func aTemporaryOfAnotherProgramIsLeftOverAfterAnHour(name: String) throws {
        try sandbox.put(name, "text")
        #expect(try sandbox.audit(now: Date() + 1800).ids == ["plaintext.file"])
        #expect(try sandbox.audit(now: Date() + 7200).ids == ["leftover.temporary", "plaintext.file"])
    }

    @Test(arguments: [[1, 4, 0], [2, 0, 4]] as [[UInt8]])
    func aCoreFileIsGraveAndOneFinding(order: [UInt8]) throws {
        let header: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, order[0], 1] + [UInt8](repeating: 0, count: 9) + order[1...]
        try sandbox.put("core.1234", header + [UInt8](repeating: 0, count: 100))
        let report = try sandbox.audit()
        #expect(report.ids == ["leftover.core-dump"])
        #expect(report.findings.first?.severity == .high)
    }

    @Test func aProgramIsNotACoreFile() throws {
        let header: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9) + [2, 0]
        try sandbox.put("tool", header)
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func aLockOfAProcessThatIsGoneIsStale() throws {
        // Above every number that the kernel assigns (pid_max is 2^22 at most).
        try sandbox.put("db.lock", "2000000000\n")
        #expect(try sandbox.audit().ids == ["lock.stale", "plaintext.file"])
        try sandbox.put("db.lock", "\(getpid())\n")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func aDirectoryInALockFilesPlaceIsFound() throws {
        let lock = sandbox.path(".sealedstate.lock")
        unlink(lock)
        try #require(mkdir(lock, 0o700) == 0)
        let report = try sandbox.audit()
        #expect(report.ids.contains("lock.misplaced"))
        #expect(report.finding("lock.misplaced")?.path == ".sealedstate.lock")
    }
}
