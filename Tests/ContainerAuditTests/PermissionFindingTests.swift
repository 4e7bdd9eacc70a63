import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct PermissionFindingTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private func setMode(_ path: String, _ mode: UInt32) throws { try #require(chmod(path, mode) == 0) }

    @Test(
        arguments: [
            (0o620, ["mode.group-writable"]), (0o604, []), (0o602, ["mode.world-writable"]),
            (0o666, ["mode.world-writable"]), (0o640, []), (0o4600, ["setuid"]),
            (0o2600, ["setuid"]),
        ] as [(UInt32, [String])])
    func aFilesModeIsJudged(mode: UInt32, ids: [String]) throws {
        try setMode(sandbox.path(ofRecord: "state"), mode)
        let report = try sandbox.audit()
        #expect(report.ids == ids)
        #expect(report.file("\(AuditSandbox.records)/state.sealed")?.mode == mode)
    }

    @Test(
        arguments: [
            (0o770, ["mode.group-writable"]), (0o705, []), (0o702, ["mode.world-writable"]),
            (0o2700, []),
        ] as [(UInt32, [String])])
    func aDirectorysModeIsJudged(mode: UInt32, ids: [String]) throws {
        try setMode(sandbox.path("\(AuditSandbox.records)/accounts"), mode)
        #expect(try sandbox.audit().ids == ids)
    }

    @Test(
        arguments: [
            ("", 0o770, ["mode.group-writable"]), ("", 0o707, ["mode.world-writable"]),
            ("/Library", 0o702, ["mode.world-writable"]), ("/Library/Caches", 0o720, ["mode.group-writable"]),
            ("/..", 0o770, ["container.refused"]), ("/..", 0o777, ["ancestor.writable"]),
            ("/../..", 0o707, ["ancestor.writable"]),
        ] as [(String, UInt32, [String])])
    func aContainerThatProgramsRefuseIsAuditedWithoutKeys(path: String, mode: UInt32, ids: [String]) throws {
        try setMode(sandbox.container + path, mode)
        let report = try sandbox.audit()
        #expect(report.ids == ids)
        #expect(!report.withKeys)
        #expect(report.notes.count == 1)
        #expect(report.verdict(ofRecord: "state") == .unverified)
        #expect(report.findings.first?.severity == .high)
        #expect(report.findings.first?.remedy.contains("chmod ") == true)
    }

    @Test(arguments: ["", "/Library", "/Library/Caches"])
    func theRemedyOfAnOpenDirectoryIsAllThatItTakes(path: String) throws {
        try setMode(sandbox.container + path, 0o777)
        let remedy = try #require(try sandbox.audit().findings.first?.remedy)
        #expect(try ChildProcess.run("/bin/sh", ["-c", remedy]).exitCode == 0)
        #expect(try sandbox.audit().ids == [])
    }

    @Test(.enabled(if: geteuid() == 0, "giving files away takes root"))
    func aForeignOwnersFileIsFound() throws {
        try #require(chown(sandbox.path(ofRecord: "state"), 65534, 65534) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["owner.foreign"])
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test(.enabled(if: geteuid() == 0, "giving containers away takes root"))
    func anothersContainerIsRefusedForRootToo() throws {
        let change = try ChildProcess.run("/bin/chown", ["-R", "65534:65534", sandbox.container])
        try #require(change.exitCode == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["container.refused"])
        #expect(!report.withKeys)
        #expect(report.notes.count == 1)
    }

    @Test(.enabled(if: geteuid() == 0, "giving directories away takes root"))
    func aForeignOwnerAboveIsFound() throws {
        try #require(chown(sandbox.directory.path, 65534, 65534) == 0)
        #expect(try sandbox.audit().ids == ["ancestor.writable"])
    }
}
