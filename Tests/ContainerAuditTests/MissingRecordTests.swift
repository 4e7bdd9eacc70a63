import ContainerAudit
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct MissingRecordTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private func remove(_ name: String) throws { try #require(unlink(sandbox.path(ofRecord: name)) == 0) }

    @Test func aRecordThatWasRemovedIsMissed() throws {
        try remove("state")
        let report = try sandbox.audit()
        #expect(report.ids == ["record.missing"])
        #expect(report.withKeys && !report.isClean)
        let tag = try sandbox.store().places.place(stored: "state").context.nameTag.description
        let finding = try #require(report.finding("record.missing"))
        #expect(finding.severity == .high && finding.confidence == .certain)
        #expect(finding.detail.contains("1 ") && finding.detail.contains(tag))
    }

    @Test func anotherProcessMissesItAsWell() throws {
        let other = try AuditSandbox(copying: sandbox)
        try #require(unlink(other.path(ofRecord: "state")) == 0)
        try #require(unlink(other.path(ofRecord: "accounts/ada")) == 0)
        let report = try other.audit()
        #expect(report.ids == ["record.missing"])
        #expect(report.findings.first?.detail.contains("2 ") == true)
    }

    @Test func aDeletedRecordIsNotMissed() throws {
        try sandbox.store().delete(named: "state")
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aRecordThatWasMovedIsFoundWhereItLies() throws {
        try #require(rename(sandbox.path(ofRecord: "state"), sandbox.path(ofRecord: "other")) == 0)
        #expect(try sandbox.audit().ids == ["blob.wrong-place"])
    }

    @Test func withoutKeysNothingIsMissed() throws {
        try remove("state")
        #expect(try sandbox.auditByPath().ids == [])
    }

    @Test func whatLimitsKeptUnseenIsNotCalledMissing() throws {
        try remove("state")
        var limits = AuditLimits()
        limits.maximumEntries = 1
        #expect(try sandbox.audit(limits: limits).ids == ["file.unexamined"])
    }

    @Test func nestedDirectoriesDoNotHideAMissingRecord() throws {
        try remove("state")
        try sandbox.put("\(AuditSandbox.records)/\(String(repeating: "d/", count: 16))x", [])
        var limits = AuditLimits()
        limits.maximumDepth = 14
        #expect(try sandbox.audit(limits: limits).ids == ["file.unexamined", "record.missing"])
    }
}
