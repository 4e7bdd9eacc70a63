import ContainerAudit
import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of opening the vault in an audit, and of the report if that fails.
@Suite struct VaultUseTests {
    @Test func withoutTheVaultTheGroupsPlacesAreStillCompared() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put("\(AuditSandbox.records)/open.json", "{}")
        var options = AuditOptions()
        options.usesVault = false
        let report = try ContainerAuditor(options: options).audit(group: sandbox.group, in: sandbox.home)
        #expect(!report.withKeys && report.group == sandbox.group.identifier)
        #expect(report.files.contains { $0.record?.name == "state" && $0.verdict == .unverified })
        #expect(report.notes.contains { $0.contains("not used") })
    }

    @Test func aVaultThatIsRequiredAndClosedEndsTheAuditBeforeItBegins() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try #require(unlink(sandbox.keyFile) == 0)
        let steps = Atomic(0)
        var options = AuditOptions()
        options.requiresVault = true
        options.progress = { _ in steps.add(1, ordering: .relaxed) }
        let other = try AuditSandbox(copying: sandbox)
        #expect(
            throwingCode { try ContainerAuditor(options: options).audit(group: other.group, in: other.home) }
                == .withoutKeys)
        #expect(steps.load(ordering: .relaxed) == 0)
    }

    @Test func aQuarantinedCopyOfPlaintextIsPlaintext() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put("Quarantine/x", "text")
        let report = try sandbox.audit()
        let copy = try #require(report.files.first { $0.path.hasPrefix("Quarantine/") })
        #expect(copy.kind == .quarantined && copy.isPlaintext && report.plaintextBytes >= copy.size)
    }
}
