import ContainerAudit
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of suites of defaults, which are audited as records are.
@Suite struct DefaultsAuditTests {
    let yard: AuditYard
    init() throws {
        yard = try AuditYard()
        try yard.filled().defaults().set(1, forKey: "key")
    }

    private var file: String { yard.path("Library/Preferences/\(yard.group).sealed") }

    @Test func aSoundSuiteIsNoFinding() throws {
        let report = try yard.audit()
        #expect(report.ids == [] && report.isClean)
        #expect(try yard.auditByPath().ids == [])
    }

    @Test func aLargeSuiteIsNoFinding() throws {
        let defaults = try yard.store().defaults()
        for key in ["a", "b", "c"] { try defaults.set([UInt8](repeating: 0, count: 1 << 20), forKey: key) }
        #expect(try yard.audit().ids == [])
    }

    @Test func aSuiteThatIsGoneIsMissed() throws {
        try #require(unlink(file) == 0)
        #expect(try yard.audit().ids == ["record.missing"])
    }

    @Test func aRemovedSuiteIsNotMissed() throws {
        try yard.store().defaults().removePersistentDomain()
        #expect(try yard.audit().ids == [])
    }

    @Test func aSuiteUnderAnotherNameIsMisplaced() throws {
        try #require(rename(file, yard.path("Library/Preferences/other.sealed")) == 0)
        #expect(try yard.audit().ids == ["blob.wrong-place"])
    }
}
