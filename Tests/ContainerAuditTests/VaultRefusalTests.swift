import ContainerAudit
import Glibc
import TestSupport
import Testing

/// An object in a vault's place.
enum VaultReplacement: String, CaseIterable, Sendable {
    case fifo, directory, link

    func put(at path: String) throws {
        try #require(rename(path, path + ".away") == 0)
        switch self {
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .link: try #require(symlink(path + ".away", path) == 0)
        }
    }
}

@Suite struct VaultRefusalTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    @Test(arguments: VaultReplacement.allCases) func aFileThatIsNotAVaultIsFound(replacement: VaultReplacement) throws {
        try replacement.put(at: sandbox.vault)
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.refused"])
        #expect(!report.withKeys && !report.isClean)
        let finding = try #require(report.finding("vault.refused"))
        #expect(finding.severity == .high)
        #expect(!finding.detail.isEmpty && !finding.remedy.isEmpty)
    }

    @Test func aNoteSaysItsReasonOnce() throws {
        try VaultReplacement.fifo.put(at: sandbox.vault)
        let note = try #require(try sandbox.audit().notes.first)
        #expect(note.hasPrefix("\(sandbox.group): blobs were not opened: "))
        #expect(note.split(separator: sandbox.vault, omittingEmptySubsequences: false).count == 2)
    }

    @Test func aVaultsDirectoryThatOthersChangeIsFound() throws {
        try #require(chmod(sandbox.directory.path("home/Vaults"), 0o777) == 0)
        #expect(try sandbox.audit().ids == ["vault.mode"])
    }

    @Test(.enabled(if: geteuid() == 0, "giving files away takes root"))
    func aVaultOfAnotherUserIsFound() throws {
        try #require(chown(sandbox.directory.path("home/Vaults/\(sandbox.group)"), 65534, 65534) == 0)
        #expect(try sandbox.audit().ids == ["vault.refused"])
    }

    @Test(
        arguments: [("Keys", "keyfile.mode"), ("Watermarks", "watermarks.mode")], [0o720, 0o702, 0o1777] as [UInt32])
    func aDirectoryOfSecretsThatOthersChangeIsFound(place: (String, String), mode: UInt32) throws {
        let path = sandbox.directory.path("home/\(place.0)")
        try #require(chmod(path, mode) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == [place.1])
        #expect(report.findings.first?.path == path)
        // The remedy only removes write access: other users may have a reason to read the directory.
        #expect(report.findings.first?.remedy == "chmod go-w \(path)")
    }

    @Test(arguments: [0o770, 0o777] as [UInt32])
    func notesThatOthersChangeAreOneFindingForAnotherProcessToo(mode: UInt32) throws {
        let copy = try AuditSandbox(copying: sandbox)
        try #require(chmod(copy.directory.path("home/Watermarks"), mode) == 0)
        #expect(try copy.audit().ids == ["watermarks.mode"])
    }
}
