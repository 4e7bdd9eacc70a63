import AppGroups
import ContainerAudit
import Glibc
import SealedState
import SharedFiles
import TestSupport
import Testing

/// Tests of a container that a unix group shares on purpose.
@Suite struct SharedContainerAuditTests {
    private func sharedYard() throws -> AuditYard {
        let yard = try AuditYard()
        chmod(yard.directory.path, 0o755)
        _ = try GroupContainer.open(yard.group, in: yard.home, sharing: .unixGroup(getegid()))
        try yard.filled()
        return yard
    }

    @Test func whatTheGroupSharesIsNoFinding() throws {
        let report = try sharedYard().audit()
        #expect(report.findings.map(\.id) == [])
        #expect(report.withKeys)
    }

    @Test func whatOthersMayWriteIsOneAllTheSame() throws {
        let yard = try sharedYard()
        chmod(yard.path(ofRecord: "state"), 0o666)
        #expect(try yard.audit().findings.map(\.id).contains("mode.world-writable"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs to give a file to another unix group"))
    func whatAnotherUnixGroupMayWriteIsOne() throws {
        let yard = try sharedYard()
        try #require(chown(yard.path(ofRecord: "state"), uid_t.max, getegid() + 4321) == 0)
        #expect(try yard.audit().findings.map(\.id).contains("mode.group-writable"))
    }
}
