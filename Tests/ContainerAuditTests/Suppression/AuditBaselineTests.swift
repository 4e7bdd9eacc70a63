import ContainerAudit
import FoundationEssentials
import TestSupport
import Testing

@Suite struct AuditBaselineTests {
    let sandbox: ScanSandbox
    init() throws {
        sandbox = try ScanSandbox()
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1))\n")
    }

    private func baseline() throws -> AuditBaseline {
        AuditBaseline(of: try sandbox.audit(), key: try #require(ScanSandbox.key))
    }

    @Test func onlyWhatIsNewIsReported() throws {
        let baseline = try baseline()
        try sandbox.put("notes.txt", "moved\nkey: \(ScanSandbox.secret(1))\nkey: \(ScanSandbox.secret(2))\n")
        let report = try sandbox.audit { $0.baseline = baseline }
        #expect(report.findings.map(\.location?.line) == [3])
        #expect(report.omissions.inBaseline == 2)
    }

    @Test func itReadsBackFromItsJSON() throws {
        let baseline = try baseline()
        #expect(baseline.counts.count == 2)
        #expect(try AuditBaseline(json: try baseline.json()) == baseline)
    }

    @Test(arguments: [
        "", "[]", #"{"format":"sealaudit-baseline-2","key":"","findings":{}}"#,
        #"{"format":"sealaudit-baseline-1","key":"","findings":{"x":1}}"#,
    ]) func whatIsNoBaselineIsRefused(text: String) {
        #expect { try AuditBaseline(json: Data(text.utf8)) } throws: {
            ($0 as? AuditError)?.code == .malformedBaseline
        }
    }

    @Test func oneOfAnotherKeyIsNotedAndNotApplied() throws {
        let other = AuditBaseline(of: try sandbox.audit(), key: try #require(ScanSandbox.otherKey))
        let report = try sandbox.audit { $0.baseline = other }
        #expect(report.omissions.inBaseline == 0)
        #expect(report.notes.contains { $0.contains("another fingerprint key") })
    }
}
