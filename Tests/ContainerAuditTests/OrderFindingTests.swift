import ContainerAudit
import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@Suite struct OrderFindingTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private func link(_ relative: String, to target: String) throws {
        try #require(symlink(target, sandbox.path(relative)) == 0)
    }

    @Test(arguments: ["/etc/passwd", "../elsewhere", "Library/../../elsewhere", "/", "Library/./../../x"])
    func aLinkThatLeavesTheContainerIsFound(target: String) throws {
        try link("link", to: target)
        let report = try sandbox.audit()
        #expect(report.ids == ["link.leaves-container"])
        #expect(report.file("link")?.kind == .link)
        #expect(report.finding("link.leaves-container")?.detail == "Its target is \"\(target)\".")
    }

    @Test(arguments: ["Library", "Library/../Library", "./nothing"]) func aLinkInsideIsFound(target: String) throws {
        try link("link", to: target)
        #expect(try sandbox.audit().ids == ["link.present"])
    }

    @Test func anAbsoluteLinkToTheContainerItselfStaysInside() throws {
        try link("Library/link", to: sandbox.path("Library/Caches"))
        #expect(try sandbox.audit().ids == ["link.present"])
    }

    @Test func aLinkInARecordsPlaceIsNotFollowed() throws {
        try sandbox.directory.file("outside", #"{"password": 1}"#)
        try link("\(AuditSandbox.records)/linked.sealed", to: sandbox.directory.path("outside"))
        #expect(try sandbox.audit().ids == ["link.leaves-container"])
    }

    @Test(arguments: ["state", "accounts/new", "odd name"]) func aDirectoryInARecordsPlaceIsFound(name: String) throws {
        let path = sandbox.path(ofRecord: name)
        if name == "state" { try #require(rename(path, sandbox.path("Quarantine.x")) == 0) }
        try #require(mkdir(path, 0o700) == 0)
        let finding = try #require(try sandbox.audit().finding("blob.malformed"))
        #expect(finding.path == "\(AuditSandbox.records)/\(name).sealed")
        #expect(finding.severity >= .medium)
        #expect(try sandbox.auditByPath().finding("blob.malformed") != nil)
    }

    @Test func aLinkInsideInARecordsPlaceIsGraver() throws {
        try link("\(AuditSandbox.records)/linked.sealed", to: "accounts")
        #expect(try sandbox.audit().finding("link.present")?.severity == .medium)
    }

    @Test func aPipeIsFoundAndNotOpened() throws {
        try #require(mkfifo(sandbox.path("\(AuditSandbox.records)/pipe.sealed"), 0o600) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["special.file"])
        #expect(report.file("\(AuditSandbox.records)/pipe.sealed")?.kind == .special)
    }

    @Test(.enabled(if: geteuid() == 0)) func aDeviceIsGraverThanAnotherSpecialFile() throws {
        _ = try sandbox.store()
        try #require(mknod(sandbox.path("null"), S_IFCHR | 0o600, 1 << 8 | 3) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["special.file"])
        #expect(report.findings.first?.severity == .high)
    }

    @Test(arguments: [".state.sealed.new", ".state.sealed.0123456789abcdef.new"])
    func aCrashedWritersFileIsALeftover(name: String) throws {
        let path = "\(AuditSandbox.records)/\(name)"
        try sandbox.put(path, try SystemFile.read(sandbox.path(ofRecord: "state")))
        #expect(try sandbox.audit().ids == [])
        let report = try sandbox.audit(now: Date() + 120)
        #expect(report.ids == ["leftover.temporary"])
        #expect(report.file(path)?.kind == .temporary)
    }

    @Test func aLeftoverInPlaintextIsBoth() throws {
        try sandbox.put(".x.json.new", #"{"a": 1}"#)
        #expect(try sandbox.audit(now: Date() + 120).ids == ["leftover.temporary", "plaintext.file"])
    }

    @Test func aQuarantinedCopyIsWorthKnowing() throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[144] ^= 1 }
        try sandbox.store().write(Token(text: "third"))
        let report = try sandbox.audit()
        #expect(report.ids == ["quarantine.present"])
        #expect(report.isClean)
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test(arguments: [("x", "It has 1 byte."), ("xy", "It has 2 bytes.")])
    func oneIsNotMany(text: String, detail: String) throws {
        try sandbox.put("app.log", text)
        #expect(try sandbox.audit().finding("log.present")?.detail == detail)
    }

    @Test func aQuarantinedPlaintextIsNotOverlooked() throws {
        try sandbox.put("Quarantine/x.sealed", #"{"a": 1}"#)
        let report = try sandbox.audit()
        #expect(report.ids == ["plaintext.file", "quarantine.present"])
        #expect(report.file("Quarantine/x.sealed")?.kind == .quarantined)
    }
}
