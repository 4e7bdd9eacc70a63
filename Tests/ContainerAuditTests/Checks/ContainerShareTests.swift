import ContainerAudit
import TestSupport
import Testing

@Suite struct ContainerShareTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test func aPartlySealedContainerReportsItsUnsealedShare() throws {
        try sandbox.filled()
        try sandbox.put("Library/Caches/open", [UInt8](repeating: 0x80, count: 1 << 16))
        let report = try sandbox.audit()
        let share = try #require(report.finding("container.plaintext-share"))
        #expect(share.severity == .info && share.path == ".")
        #expect(share.detail.hasPrefix("99 %"))
    }

    @Test func aWhollySealedOrUnsealedContainerHasNoShareFinding() throws {
        _ = try sandbox.store()
        try sandbox.put("Library/Caches/open", "text")
        #expect(try sandbox.audit().finding("container.plaintext-share") == nil)
        let sealed = try AuditSandbox()
        try sealed.filled()
        #expect(try sealed.audit().ids == [])
    }
}
