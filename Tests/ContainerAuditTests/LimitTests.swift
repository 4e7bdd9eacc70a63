import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct LimitTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    @Test func filesThatAreTooDeepAreReported() throws {
        var limits = AuditLimits()
        limits.maximumDepth = 4
        let report = try sandbox.audit(limits: limits)
        #expect(report.ids == ["file.unexamined"])
        #expect(report.file("\(AuditSandbox.records)/accounts")?.kind == .directory)
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test func moreNamesThanAllowedAreReported() throws {
        var limits = AuditLimits()
        limits.maximumEntries = 3
        let report = try sandbox.audit(limits: limits)
        #expect(report.ids == ["file.unexamined"])
        #expect(report.findings.first?.path == ".")
    }

    @Test func aBlobBeyondTheLimitIsReportedAndNotOpened() throws {
        var limits = AuditLimits()
        limits.maximumSealedBytes = 10
        let report = try sandbox.audit(limits: limits)
        #expect(report.ids == ["file.unexamined", "file.unexamined"])
    }

    @Test func aNonTextNameIsReported() throws {
        let bytes = Array(sandbox.path("odd").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let file = open(bytes, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
        let report = try sandbox.audit()
        #expect(report.ids == ["file.unexamined"])
        #expect(report.file("odd\u{FFFD}")?.kind == .unreadable)
    }

    @Test func aLargeSparseFileCostsLittle() throws {
        try sandbox.put("sparse", [])
        try #require(truncate(sandbox.path("sparse"), 10 << 30) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["plaintext.file"])
        #expect(report.file("sparse")?.size == 10 << 30)
    }
}
