import ContainerAudit
import FoundationEssentials
import SealedState
import TestSupport
import Testing

/// Tests of time in audits: the audit judges it as readers do.
@Suite struct ClockFindingTests {
    private let yard: AuditYard
    init() throws { yard = try AuditYard() }

    @Test func whatReadersFoundExpiredStaysSoWhenTheClockIsSetBack() throws {
        let store = try yard.filled()
        try store.write(Token(text: "short", end: Date() + 1000), named: "short")
        #expect(try yard.audit().ids == [])
        var options = StoreOptions()
        options.now = { Date() + 2000 }
        let later = try SealedStore(group: yard.group, in: yard.home, options: options)
        #expect(throws: StoreError.self) { try later.read(Token.self, named: "short") }
        let report = try yard.audit()
        #expect(report.ids == ["blob.stale"])
        #expect(report.findings.first?.confidence == .certain)
        #expect(report.verdict(ofRecord: "short") == .verified)
        // Without keys the states that readers have seen are unknown.
        #expect(try yard.auditByPath().ids == [])
        try store.write(Token(text: "new", end: Date() + 1000), named: "short")
        #expect(try yard.audit().ids == [])
    }
}
