import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct LimitTests {
    let yard: AuditYard
    init() throws {
        yard = try AuditYard()
        try yard.filled()
    }

    @Test func whatLiesTooDeepIsSaid() throws {
        var limits = AuditLimits()
        limits.maximumDepth = 4
        let report = try yard.audit(limits: limits)
        #expect(report.ids == ["file.unexamined"])
        #expect(report.file("\(AuditYard.records)/accounts")?.kind == .directory)
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test func moreNamesThanAllowedAreSaid() throws {
        var limits = AuditLimits()
        limits.maximumEntries = 3
        let report = try yard.audit(limits: limits)
        #expect(report.ids == ["file.unexamined"])
        #expect(report.findings.first?.path == ".")
    }

    @Test func aBlobBeyondTheLimitIsNotOpenedAndSaid() throws {
        var limits = AuditLimits()
        limits.maximumSealedBytes = 10
        let report = try yard.audit(limits: limits)
        #expect(report.ids == ["file.unexamined", "file.unexamined"])
    }

    @Test func aNameThatIsNoTextIsSaid() throws {
        let bytes = Array(yard.path("odd").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let file = open(bytes, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
        let report = try yard.audit()
        #expect(report.ids == ["file.unexamined"])
        #expect(report.file("odd\u{FFFD}")?.kind == .unreadable)
    }

    @Test func aLargeSparseFileCostsLittle() throws {
        try yard.put("sparse", [])
        try #require(truncate(yard.path("sparse"), 10 << 30) == 0)
        let report = try yard.audit()
        #expect(report.ids == ["plaintext.file"])
        #expect(report.file("sparse")?.size == 10 << 30)
    }
}
