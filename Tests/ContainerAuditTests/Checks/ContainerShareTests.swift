import ContainerAudit
import TestSupport
import Testing

@Suite struct ContainerShareTests {
    let yard: AuditYard
    init() throws { yard = try AuditYard() }

    @Test func aContainerThatSealsPartOfItselfSaysHowMuchLiesOpen() throws {
        try yard.filled()
        try yard.put("Library/Caches/open", [UInt8](repeating: 0x80, count: 1 << 16))
        let report = try yard.audit()
        let share = try #require(report.finding("container.plaintext-share"))
        #expect(share.severity == .info && share.path == ".")
        #expect(share.detail.hasPrefix("99 %"))
    }

    @Test func whereNothingOrEverythingIsSealedThereIsNoShare() throws {
        _ = try yard.store()
        try yard.put("Library/Caches/open", "text")
        #expect(try yard.audit().finding("container.plaintext-share") == nil)
        let sealed = try AuditYard()
        try sealed.filled()
        #expect(try sealed.audit().ids == [])
    }
}
