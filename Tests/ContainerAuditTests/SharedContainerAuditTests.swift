import AppGroups
import ContainerAudit
import Glibc
import SealedState
import SharedFiles
import TestSupport
import Testing

/// Tests of a container that a unix group shares on purpose.
@Suite struct SharedContainerAuditTests {
    private func sharedSandbox() throws -> AuditSandbox {
        let sandbox = try AuditSandbox()
        chmod(sandbox.directory.path, 0o755)
        _ = try GroupContainer.open(sandbox.group, in: sandbox.home, sharing: .unixGroup(getegid()))
        try sandbox.filled()
        return sandbox
    }

    @Test func sharedFilesOfTheGroupAreNotFindings() throws {
        let report = try sharedSandbox().audit()
        #expect(report.findings.map(\.id) == [])
        #expect(report.withKeys)
    }

    @Test func aFileWritableForOthersIsAFindingAnyway() throws {
        let sandbox = try sharedSandbox()
        chmod(sandbox.path(ofRecord: "state"), 0o666)
        #expect(try sandbox.audit().findings.map(\.id).contains("mode.world-writable"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs to give a file to another unix group"))
    func aFileWritableForAnotherUnixGroupIsAFinding() throws {
        let sandbox = try sharedSandbox()
        try #require(chown(sandbox.path(ofRecord: "state"), uid_t.max, getegid() + 4321) == 0)
        #expect(try sandbox.audit().findings.map(\.id).contains("mode.group-writable"))
    }
}
