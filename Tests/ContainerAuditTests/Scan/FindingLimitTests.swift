import ContainerAudit
import TestSupport
import Testing

@Suite struct FindingLimitTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    private func lines(_ range: Range<UInt64>) -> String { range.map { "key: \(ScanSandbox.secret($0))\n" }.joined() }

    @Test func findingsBeyondTheLimitOfACheckAreCounted() throws {
        try sandbox.put("notes.txt", lines(0..<130))
        let report = try sandbox.audit()
        #expect(report.findings.filter { $0.id == ScanSandbox.check }.count == 100)
        #expect(report.omissions.unlisted.map(\.id) == [ScanSandbox.check])
        #expect(report.omissions.unlisted.map(\.count) == [30])
        let all = try sandbox.audit { $0.limits.maximumFindingsPerCheck = 1000 }
        #expect(report.counts == all.counts)
    }

    /// An unlisted finding keeps its own severity, not the usual one of its check.
    @Test func unlistedFindingsKeepTheirSeverity() throws {
        try sandbox.put("Library/Caches/a.txt", "text")
        try sandbox.put("Library/Caches/b.txt", "text")
        let report = try sandbox.audit { $0.limits.maximumFindings = 0 }
        let plain = report.omissions.unlisted.filter { $0.id == "plaintext.file" }
        #expect(plain.map(\.severity) == [.low] && plain.map(\.count) == [2])
    }

    @Test func aFileBeyondTheLimitTakesNoPlaceOfAnother() throws {
        try sandbox.put("a.txt", lines(0..<30))
        try sandbox.put("b.txt", lines(30..<32))
        let findings = try sandbox.secrets { $0.limits.maximumFindingsPerCheck = 10 }
        #expect(findings.filter { $0.path == "a.txt" }.count == 10)
        #expect(findings.filter { $0.path == "b.txt" }.count == 2)
    }

    @Test func aContainerIsNotCleanForWhatIsOnlyCounted() throws {
        try sandbox.put("notes.txt", lines(0..<3))
        let report = try sandbox.audit { $0.limits.maximumFindings = 0 }
        #expect(report.findings.isEmpty && !report.isClean)
        #expect(!report.notes.isEmpty)
    }

    @Test func theLimitsOfOneFileAreReported() throws {
        try sandbox.put("notes.txt", lines(0..<3))
        let timed = try sandbox.audit { $0.limits.maximumFileTime = .zero }
        #expect(timed.findings.contains { $0.id == "content.partly-read" && $0.path == "notes.txt" })
        let short = try sandbox.audit { $0.limits.maximumReadBytes = 26 }
        #expect(short.findings.contains { $0.id == "content.partly-read" })
        #expect(short.findings.filter { $0.id == ScanSandbox.check }.count == 1)
    }

    @Test func aReportSaysWhatItLeftOutInItsJSON() throws {
        try sandbox.put("notes.txt", lines(0..<130))
        let report = try sandbox.audit()
        #expect(try AuditReport(json: try report.json()) == report)
    }
}
