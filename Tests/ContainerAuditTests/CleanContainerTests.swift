import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct CleanContainerTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test func aContainerThatWasOnlyWrittenByTheStoreIsClean() throws {
        let store = try sandbox.filled()
        try store.write(Token(text: "gone"), named: "gone")
        try store.delete(named: "gone")
        try sandbox.put("Library/Caches/film.sealed", try store.seal("a stream", as: "", kind: .stream, sequence: 0))
        let report = try sandbox.audit()
        #expect(report.ids == [])
        #expect(report.isClean)
        #expect(report.withKeys)
        #expect(report.group == sandbox.group.identifier)
        #expect(report.notes == [])
        #expect(report.files.filter { $0.kind.isSealed }.allSatisfy { $0.verdict == .verified })
        #expect(report.files.map(\.kind).contains(.lockFile))
    }

    @Test func aReportSaysWhatEachSealedFileIs() throws {
        let end = Date(timeIntervalSince1970: 4_000_000_000)
        let store = try sandbox.filled()
        try store.write(Token(text: "third", end: end))
        try store.delete(named: "accounts/ada")
        let report = try sandbox.audit()
        let record = try #require(report.file("\(AuditSandbox.records)/state.sealed")?.record)
        #expect(record.name == "state")
        #expect(record.sequence == 3)
        #expect(record.epoch == 1)
        #expect(record.schemaVersion == Token.schemaVersion)
        #expect(record.notAfter == end)
        #expect(record.keyID.count == 32)
        #expect(!record.isDeleted)
        let deleted = try #require(report.file("\(AuditSandbox.records)/accounts/ada.sealed"))
        #expect(deleted.kind == .sealedRecord)
        #expect(deleted.mode == 0o600)
        #expect(deleted.record?.isDeleted == true)
    }

    @Test func theSameContainerGivesTheSameReport() throws {
        try sandbox.filled()
        try sandbox.put("b.json", "{}")
        try sandbox.put("a.json", "{}")
        let report = try sandbox.audit(now: Date(timeIntervalSince1970: 4e9))
        #expect(try sandbox.audit(now: Date(timeIntervalSince1970: 4e9)) == report)
        #expect(report.findings.filter { $0.id == "plaintext.file" }.map(\.path) == ["a.json", "b.json"])
        #expect(report.files.map(\.path) == report.files.map(\.path).sorted())
    }

    @Test func anEmptyContainerIsClean() throws {
        _ = try sandbox.store()
        let report = try sandbox.audit()
        #expect(report.isClean && report.files == [])
    }
}
