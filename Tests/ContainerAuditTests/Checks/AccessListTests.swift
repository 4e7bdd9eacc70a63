import ContainerAudit
import Glibc
import TestSupport
import Testing

/// Tests of access lists, which Python sets: its library has setxattr(2), and `setfacl` is rarely installed.
@Suite struct AccessListTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    /// Sets a list. Entries are tag, permissions, id: owner 1, user 2, owning group 4, group 8, mask 16, others 32.
    private func setList(_ path: String, _ entries: [(Int, Int, Int)], inherited: Bool = false) throws {
        let name = inherited ? "system.posix_acl_default" : "system.posix_acl_access"
        let list = entries.map { "(\($0.0),\($0.1),\($0.2))" }.joined(separator: ",")
        let script = """
            import os, struct, sys
            entries = [\(list)]
            value = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', t, p, i & 0xffffffff) for t, p, i in entries)
            os.setxattr(sys.argv[1], '\(name)', value)
            """
        let result = try ChildProcess.run(Python.path, ["-c", script, path])
        try #require(result.exitCode == 0, "\(result.errorText)")
    }

    private func list(user permissions: Int, group: Int = 0, mask: Int = 7) -> [(Int, Int, Int)] {
        [(1, 6, -1), (2, permissions, 1234), (4, group, -1), (16, mask, -1), (32, 0, -1)]
    }

    @Test(arguments: [(4, Severity.medium), (6, .high)])
    func anEntryForAUserIsFoundOnceAndNotAsTheGroups(permissions: Int, severity: Severity) throws {
        try setList(sandbox.path(ofRecord: "state"), list(user: permissions))
        let report = try sandbox.audit()
        #expect(report.ids == ["acl.grants"])
        #expect(report.findings.first?.severity == severity)
        #expect(report.findings.first?.detail.contains("user 1234") == true)
    }

    @Test func anEntryThatTheMaskRemovesIsIgnored() throws {
        try setList(sandbox.path(ofRecord: "state"), list(user: 6, mask: 0))
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aListOfTheOwnersAloneIsAMode() throws {
        try setList(sandbox.path(ofRecord: "state"), [(1, 6, -1), (4, 4, -1), (32, 0, -1)])
        #expect(try sandbox.audit().ids == [])
    }

    @Test func theOwningGroupsRightIsItsOwn() throws {
        try setList(sandbox.path(ofRecord: "state"), list(user: 4, group: 6))
        #expect(try sandbox.audit().ids == ["acl.grants", "mode.group-writable"])
    }

    @Test func aDirectoryThatHandsAListDownIsFound() throws {
        try setList(sandbox.path("\(AuditSandbox.records)/accounts"), list(user: 5), inherited: true)
        let report = try sandbox.audit()
        #expect(report.ids == ["acl.inherited"])
        #expect(report.findings.first?.path == "\(AuditSandbox.records)/accounts")
    }
}
