import ContainerAudit
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of suites of defaults, which are audited as records are.
@Suite struct DefaultsAuditTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled().defaults().set(1, forKey: "key")
    }

    private var file: String { sandbox.path("Library/Preferences/\(sandbox.group).sealed") }

    @Test func aSoundSuiteIsNotAFinding() throws {
        let report = try sandbox.audit()
        #expect(report.ids == [] && report.isClean)
        #expect(try sandbox.auditByPath().ids == [])
    }

    @Test func aLargeSuiteIsNotAFinding() throws {
        let defaults = try sandbox.store().defaults()
        for key in ["a", "b", "c"] { try defaults.set([UInt8](repeating: 0, count: 1 << 20), forKey: key) }
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aSuiteThatIsGoneIsMissed() throws {
        try #require(unlink(file) == 0)
        #expect(try sandbox.audit().ids == ["record.missing"])
    }

    @Test func aRemovedSuiteIsNotMissed() throws {
        try sandbox.store().defaults().removePersistentDomain()
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aSuiteUnderAnotherNameIsMisplaced() throws {
        try #require(rename(file, sandbox.path("Library/Preferences/other.sealed")) == 0)
        #expect(try sandbox.audit().ids == ["blob.wrong-place"])
    }
}
