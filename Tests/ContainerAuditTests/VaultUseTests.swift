import ContainerAudit
import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of opening the vault in an audit, and of the report if that fails.
@Suite struct VaultUseTests {
    @Test func withoutTheVaultTheGroupsPlacesAreStillCompared() throws {
        let yard = try AuditYard()
        try yard.filled()
        try yard.put("\(AuditYard.records)/open.json", "{}")
        var options = AuditOptions()
        options.usesVault = false
        let report = try ContainerAuditor(options: options).audit(group: yard.group, in: yard.home)
        #expect(!report.withKeys && report.group == yard.group.identifier)
        #expect(report.files.contains { $0.record?.name == "state" && $0.verdict == .unverified })
        #expect(report.notes.contains { $0.contains("left alone") })
    }

    @Test func aVaultThatIsRequiredAndClosedEndsTheAuditBeforeItBegins() throws {
        let yard = try AuditYard()
        try yard.filled()
        try #require(unlink(yard.keyFile) == 0)
        let steps = Atomic(0)
        var options = AuditOptions()
        options.requiresVault = true
        options.progress = { _ in steps.add(1, ordering: .relaxed) }
        let other = try AuditYard(copying: yard)
        #expect(
            throwingCode { try ContainerAuditor(options: options).audit(group: other.group, in: other.home) }
                == .withoutKeys)
        #expect(steps.load(ordering: .relaxed) == 0)
    }

    @Test func aQuarantinedCopyOfPlaintextIsPlaintext() throws {
        let yard = try AuditYard()
        try yard.filled()
        try yard.put("Quarantine/x", "text")
        let report = try yard.audit()
        let copy = try #require(report.files.first { $0.path.hasPrefix("Quarantine/") })
        #expect(copy.kind == .quarantined && copy.isPlaintext && report.plaintextBytes >= copy.size)
    }
}
