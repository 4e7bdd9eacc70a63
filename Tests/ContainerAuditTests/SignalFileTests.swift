import AppGroups
import ContainerAudit
import FoundationEssentials
import Glibc
import GroupFileCoordination
import SealedState
import SharedFiles
import TestSupport
import Testing

/// Tests of the files of notifications, coordinated accesses and leases in a container that is in use.
@Suite struct SignalFileTests {
    private static let address = "0123456789abcdef"
    private let sandbox: AuditSandbox

    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private func container() throws -> GroupContainer { try GroupContainer.open(sandbox.group, in: sandbox.home) }

    private func randomBytes(_ count: Int) -> [UInt8] {
        // A control character that no text has.
        [0] + (1..<count).map { _ in .random(in: 0...255) }
    }

    private func makeSocket(_ relative: String) throws {
        let path = sandbox.path(relative)
        let made = mknod(path, S_IFSOCK | 0o600, 0)
        try #require(made == 0)
    }

    // MARK: In use

    @Test func aContainerInUseHasNoFinding() async throws {
        let store = try sandbox.store()
        let center = GroupNotificationCenter(try container())
        for name in ["com.example.changed", ".é/ü", String(repeating: "é", count: 60)] { try center.post(name) }
        try sandbox.put(".notifications/observed", [])
        let outcome = try await store.withLease("refresh", for: .seconds(3600)) { fence in
            try store.write(Token(text: "third"), holding: fence)
        }
        #expect(outcome.isPerformed)
        let path = sandbox.path("Library/file")
        try container().fileCoordinator().coordinate(with: [.writing(path)], timeout: .seconds(300)) { _ in }
        let words = ["present", sandbox.path(".coordination"), path]
        let presenter = try ChildProcess("sealed-probe", words)
        #expect(try presenter.readLine() == "presenting")
        try expectSignals(3 + 1 + 2)
        // The next access removes the files of a dead process.
        presenter.kill(SIGKILL)
        _ = try presenter.finish()
        try expectSignals(3 + 1 + 2)
        #expect(try sandbox.audit().verdict(ofRecord: "_sealed/leases/refresh") == .verified)
    }

    private func expectSignals(_ count: Int) throws {
        let report = try sandbox.audit()
        #expect(report.ids == [] && report.notes == [])
        #expect(report.files.filter { $0.kind == .signal }.count == count)
        #expect(report.file(".coordination/.lock")?.kind == .lockFile)
        #expect(try sandbox.auditByPath().ids == [])
    }

    // MARK: Planted contents

    @Test(arguments: [
        ".notifications/name", ".notifications/.hidden", ".notifications/a b", ".notifications/in/name",
        ".coordination/\(address).items", ".coordination/\(address).socket", ".coordination/.lock",
        ".coordination/.\(address).items.new", ".coordination/note", ".coordination/in/\(address).items",
    ])
    func plaintextThereIsPlaintext(path: String) throws {
        try sandbox.put(path, "{\"token\": \"secret\"}")
        let report = try sandbox.audit()
        #expect(report.ids == ["plaintext.file"] && report.file(path)?.kind != .signal)
    }

    @Test func sixteenBytesOfTextAreText() throws {
        try sandbox.put(".notifications/name", "a secret of 16 b")
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test(arguments: [
        (".notifications/name", 17), (".notifications/name", 15), (".notifications/.name", 16),
        (".notifications/na me", 16), (".notifications/%2", 16), (".notifications/in/name", 16), ("name", 16),
        (".coordination/\(address).items", 100), (".coordination/name", 16),
    ])
    func otherBytesThereAreBytes(path: String, count: Int) throws {
        try sandbox.put(path, randomBytes(count))
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func bytesAfterAListAreNotAList() throws {
        let words = ["present", sandbox.path(".coordination"), sandbox.path("Library/file")]
        let presenter = try ChildProcess("sealed-probe", words)
        #expect(try presenter.readLine() == "presenting")
        presenter.kill(SIGKILL)
        _ = try presenter.finish()
        let list = try #require(SystemFile.names(sandbox.path(".coordination")).first { $0.hasSuffix(".items") })
        #expect(try sandbox.audit().ids == [])
        try sandbox.change(sandbox.path(".coordination/\(list)")) { $0 += Array("secret".utf8) }
        #expect(try sandbox.audit().ids == ["plaintext.file"])
    }

    @Test func theRegistrysCopyPassesOnlyToTheLastByte() throws {
        try GroupRegistry(sandbox.group, in: sandbox.home).setQuota(1 << 30)
        let copy = sandbox.path(".sealedstate.container")
        #expect(try sandbox.audit().ids == [])
        try sandbox.change(copy) { $0 += Array("<!-- a secret -->\n".utf8) }
        #expect(try sandbox.audit().ids == ["plaintext.file"])
        #expect(try sandbox.auditByPath().ids.contains("plaintext.file"))
    }

    @Test(arguments: [
        ".notifications/name", ".coordination/name.socket", ".coordination/\(address).items", "\(address).socket",
        "Library/\(address).socket",
    ])
    func aSocketElsewhereIsASpecialFile(path: String) throws {
        try sandbox.put(".notifications/posted", randomBytes(16))
        try sandbox.put(".coordination/.lock", [])
        try makeSocket(path)
        #expect(try sandbox.audit().ids == ["special.file"])
    }

    @Test func aSocketThatACrashLeftUnnamedIsALeftover() throws {
        try sandbox.put(".coordination/.lock", [])
        try makeSocket(".coordination/.\(Self.address).socket.new")
        #expect(try sandbox.audit().ids == [])
        #expect(try sandbox.audit(now: Date() + 100).ids == ["leftover.temporary"])
    }

    @Test(arguments: [".notifications/name", ".coordination/\(address).items", ".coordination/.lock"])
    func aLinkThereIsALink(path: String) throws {
        try sandbox.put(".notifications/posted", randomBytes(16))
        try sandbox.put(".coordination/\(Self.address).socket", [])
        try #require(symlink("/etc/passwd", sandbox.path(path)) == 0)
        #expect(try sandbox.audit().ids == ["link.leaves-container"])
    }

    @Test func aSecondNameOfAnotherFileIsNotASignal() throws {
        try sandbox.put("Library/Caches/other", randomBytes(16))
        try sandbox.put(".notifications/posted", randomBytes(16))
        try #require(link(sandbox.path("Library/Caches/other"), sandbox.path(".notifications/name")) == 0)
        #expect(try sandbox.audit().ids == ["plaintext.file", "plaintext.file"])
    }

    @Test func filesWritableForOthersAreReportedThereAsWell() throws {
        try sandbox.put(".notifications/name", randomBytes(16), mode: 0o666)
        #expect(try sandbox.audit().ids.contains("mode.world-writable"))
    }
}

extension LeaseOutcome {
    fileprivate var isPerformed: Bool { if case .performed = self { true } else { false } }
}
