import ContainerAudit
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of reach: a mode opens a file only if every directory above lets others through.
@Suite struct ReachTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put("notes", "text", mode: 0o644)
        try sandbox.put("Documents/more", "text", mode: 0o644)
        try sandbox.put("Documents/own", "text", mode: 0o600)
        for path in [sandbox.path("Documents"), sandbox.container] + above { try setMode(path, 0o755) }
    }

    private var above: [String] { ["home/Containers", "home", ""].map(sandbox.directory.path) }

    private func setMode(_ path: String, _ mode: UInt32) throws { try #require(chmod(path, mode) == 0) }

    private func reached() throws -> [Finding] {
        try sandbox.audit().findings.filter { $0.id == "mode.world-readable" }
    }

    @Test func anOpenContainerIsOneFindingThatCountsTheReadableFiles() throws {
        let findings = try reached()
        #expect(findings.map(\.path) == ["."])
        #expect(findings.first?.severity == .medium)
        #expect(
            findings.first?.detail.contains("read 2 files in it, of which 2 not sealed: Documents/more, notes") == true)
        #expect(findings.first?.remedy.hasPrefix("chmod o-rwx ") == true)
    }

    @Test func filesInAClosedDirectoryDoNotCount() throws {
        try setMode(sandbox.path("Documents"), 0o700)
        let finding = try #require(try reached().first)
        #expect(finding.detail.contains("1 file in it, of which 1 not sealed: notes.") == true)
    }

    @Test func anOpenContainerWithNothingToReadIsLow() throws {
        for name in ["notes", "Documents/more"] { try setMode(sandbox.path(name), 0o640) }
        #expect(try reached().map(\.severity) == [.low])
    }

    @Test(arguments: 0..<4) func oneClosedDirectoryAnywhereAboveClosesAll(level: Int) throws {
        try setMode(([sandbox.container] + above)[level], 0o750)
        #expect(try reached() == [])
    }

    @Test func namesAloneCanBeListedToo() throws {
        try setMode(sandbox.container, 0o704)
        let findings = try reached()
        #expect(findings.map(\.detail) == ["Its mode is 704."])
    }

    @Test func aSealedFileOfAnUsualModeLeavesAFreshContainerClean() throws {
        let sandbox = try AuditSandbox()
        let store = try sandbox.store()
        try sandbox.put("photos.sealed", try store.seal("a stream", as: "", kind: .stream, sequence: 0), mode: 0o644)
        #expect(try sandbox.audit().ids == [])
    }
}
