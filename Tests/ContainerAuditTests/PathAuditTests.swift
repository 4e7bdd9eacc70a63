import ContainerAudit
import SealedState
import TestSupport
import Testing

@Suite struct PathAuditTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    @Test func aContainerCanBeAuditedByItsPath() throws {
        let report = try sandbox.auditByPath()
        #expect(report.isClean)
        #expect(report.group == nil)
        #expect(!report.withKeys)
        #expect(report.containerPath == sandbox.container)
        #expect(report.notes.count == 1)
        let token = try #require(report.file("\(AuditSandbox.records)/state.sealed"))
        #expect(token.verdict == .unverified)
        #expect(token.record?.sequence == 2)
    }

    @Test func withoutKeysOnlyTheShapeIsSeen() throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[180] ^= 1 }
        try sandbox.change(sandbox.path(ofRecord: "accounts/ada")) { $0[5] ^= 1 }
        #expect(try sandbox.auditByPath().ids == ["blob.unsupported"])
    }

    @Test func aRecordOutsideTheRecordsIsSeenWithoutKeys() throws {
        try sandbox.put("state.sealed", try SystemFile.read(sandbox.path(ofRecord: "state")))
        let report = try sandbox.auditByPath()
        #expect(report.ids == ["blob.wrong-place"])
        #expect(report.finding("blob.wrong-place")?.confidence == .likely)
    }

    @Test func aRemedyForARelativePathWorksEverywhere() throws {
        let directory = try TemporaryDirectory()
        try directory.file("notes", "text")
        let up = String(repeating: "../", count: 64).dropLast()
        let report = try ContainerAuditor().audit(path: up + directory.path)
        #expect(report.finding("plaintext.file")?.remedy.contains("&& rm \(directory.path)/notes") == true)
    }

    @Test func anyDirectoryCanBeAudited() throws {
        let directory = try TemporaryDirectory()
        try directory.directory("a")
        try directory.file("a/state.json", "{}")
        let report = try ContainerAuditor().audit(path: directory.path)
        #expect(report.ids == ["plaintext.file"])
        #expect(report.files.map(\.path) == ["a/state.json"])
    }
}
