import ContainerAudit
import FoundationEssentials
import SealedState
import TestSupport
import Testing

/// Tests of time in audits: the audit judges it as readers do.
@Suite struct ClockFindingTests {
    private let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test func expiredRecordsStayExpiredWhenTheClockIsSetBack() throws {
        let store = try sandbox.filled()
        try store.write(Token(text: "short", end: Date() + 1000), named: "short")
        #expect(try sandbox.audit().ids == [])
        var options = StoreOptions()
        options.now = { Date() + 2000 }
        let later = try SealedStore(group: sandbox.group, in: sandbox.home, options: options)
        #expect(throws: StoreError.self) { try later.read(Token.self, named: "short") }
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.stale"])
        #expect(report.findings.first?.confidence == .certain)
        #expect(report.verdict(ofRecord: "short") == .verified)
        // Without keys the states that readers have seen are unknown.
        #expect(try sandbox.auditByPath().ids == [])
        try store.write(Token(text: "new", end: Date() + 1000), named: "short")
        #expect(try sandbox.audit().ids == [])
    }
}
