import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

/// A field of a sealed blob, the byte in it that is changed, and the expected finding.
struct ChangedByte: Sendable, CustomTestStringConvertible {
    let field: String
    let offset: Int
    let id: String
    let code: String
    var testDescription: String { field }

    static let all = [
        ChangedByte(field: "magic", offset: 0, id: "blob.malformed", code: "malformed"),
        ChangedByte(field: "format", offset: 4, id: "blob.unsupported", code: "unsupportedFormat"),
        ChangedByte(field: "schema version", offset: 8, id: "blob.tampered", code: "wrongCommitment"),
        ChangedByte(field: "epoch", offset: 12, id: "blob.wrong-epoch", code: "wrongEpoch"),
        ChangedByte(field: "group tag", offset: 16, id: "blob.tampered", code: "wrongGroup"),
        ChangedByte(field: "name tag", offset: 32, id: "blob.tampered", code: "wrongName"),
        ChangedByte(field: "key id", offset: 48, id: "blob.unknown-key", code: "unknownKey"),
        ChangedByte(field: "sequence", offset: 65, id: "blob.tampered", code: "wrongCommitment"),
        ChangedByte(field: "salt", offset: 112, id: "blob.tampered", code: "wrongCommitment"),
        ChangedByte(field: "commitment", offset: 144, id: "blob.tampered", code: "wrongCommitment"),
        ChangedByte(field: "contents", offset: 176, id: "blob.tampered", code: "tampered"),
    ]
}

@Suite struct BlobFindingTests {
    let sandbox: AuditSandbox
    let store: SealedStore
    init() throws {
        sandbox = try AuditSandbox()
        store = try sandbox.filled()
    }

    @Test(arguments: ChangedByte.all) func aChangedByteIsFoundForWhatItIs(change: ChangedByte) throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[change.offset] ^= 0x40 }
        let report = try sandbox.audit()
        #expect(report.ids == [change.id])
        #expect(report.verdict(ofRecord: "state") == .refused(change.code))
        #expect(report.verdict(ofRecord: "accounts/ada") == .verified)
    }

    @Test func aCutBlobIsTampered() throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0.removeLast() }
        #expect(try sandbox.audit().ids == ["blob.tampered"])
    }

    @Test func anAppendedByteIsTampered() throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0.append(0) }
        #expect(try sandbox.audit().ids == ["blob.tampered"])
    }

    @Test(arguments: [0, 100, 180]) func lessThanTheSmallestBlobIsMalformed(size: Int) throws {
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0.removeLast($0.count - size) }
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.malformed"])
        #expect(report.verdict(ofRecord: "state") == .refused("malformed"))
    }

    @Test func aBlobUnderAnotherRecordsNameIsInTheWrongPlace() throws {
        try sandbox.put("\(AuditSandbox.records)/other.sealed", try SystemFile.read(sandbox.path(ofRecord: "state")))
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.wrong-place"])
        #expect(report.verdict(ofRecord: "other") == .refused("wrongName"))
        #expect(report.finding("blob.wrong-place")?.confidence == .certain)
        #expect(report.finding("blob.wrong-place")?.detail.contains("record state") == true)
    }

    @Test(arguments: ["state.sealed", "Library/Caches/state.sealed", "\(AuditSandbox.records)/no name.sealed"])
    func aRecordOutOfItsPlaceIsFound(path: String) throws {
        try sandbox.put(path, try SystemFile.read(sandbox.path(ofRecord: "state")))
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.wrong-place"])
        #expect(report.file(path)?.verdict == .refused("wrongName"))
    }

    @Test func aBlobOfAnotherGroupIsReportedInTheWrongPlace() throws {
        let foreign = try SealedStore(group: try AppGroup("group.com.example.other"), in: sandbox.home)
        try sandbox.put("\(AuditSandbox.records)/state.sealed", try foreign.seal("x", as: "state", sequence: 9))
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.wrong-place"])
        #expect(report.verdict(ofRecord: "state") == .refused("wrongGroup"))
    }

    @Test func aStreamAmongTheRecordsIsInTheWrongPlace() throws {
        let stream = try store.seal("x", as: "", kind: .stream, sequence: 0)
        try sandbox.put("\(AuditSandbox.records)/film.sealed", stream)
        #expect(try sandbox.audit().ids == ["blob.wrong-place"])
    }

    @Test func aNamedStreamIsAuthenticWhereverItIs() throws {
        try sandbox.put("Library/film.sealed", try store.seal("x", as: "films/one", kind: .stream, sequence: 0))
        let report = try sandbox.audit()
        #expect(report.ids == [])
        #expect(report.file("Library/film.sealed")?.verdict == .verified)
    }

    @Test func aDamagedStreamIsTampered() throws {
        var stream = try store.seal(String(repeating: "x", count: 200_000), as: "", kind: .stream, sequence: 0)
        stream[150_000] ^= 1
        try sandbox.put("film", stream)
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.tampered"])
        #expect(report.file("film")?.kind == .sealedStream)
    }

    @Test func anotherBlobOfAnAcceptedSequenceIsAFork() throws {
        try sandbox.put("\(AuditSandbox.records)/state.sealed", try store.seal("x", as: "state", sequence: 2))
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.forked"])
        #expect(report.verdict(ofRecord: "state") == .refused("forked"))
    }

    @Test func aSequenceFarAheadIsAJump() throws {
        try sandbox.put("\(AuditSandbox.records)/state.sealed", try store.seal("x", as: "state", sequence: 1 << 40))
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.sequence-jump"])
        #expect(report.verdict(ofRecord: "state") == .refused("sequenceJump"))
    }

    @Test func anExpiredRecordIsWorthKnowingAndNoFault() throws {
        try store.write(Token(text: "short", end: Date() + 100))
        #expect(try sandbox.audit().ids == [])
        let report = try sandbox.audit(now: Date() + 200)
        #expect(report.ids == ["blob.stale"])
        #expect(report.isClean)
        #expect(report.counts[.info] == 1)
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test func aBlobOfTheFutureIsFound() throws {
        try sandbox.put(
            "\(AuditSandbox.records)/state.sealed",
            try store.seal("x", as: "state", sequence: 3, sealedAt: Date() + 600))
        #expect(try sandbox.audit().ids == ["blob.not-yet-valid"])
    }

    @Test func aRecordBeyondTheUsualLimitIsStillVerified() throws {
        var limits = AuditLimits()
        limits.maximumRecordSize = 1000
        try sandbox.put(
            "\(AuditSandbox.records)/large.sealed",
            try store.seal(String(repeating: "x", count: 5000), as: "large", sequence: 1))
        var report = try sandbox.audit(limits: limits)
        #expect(report.ids == ["blob.oversized"])
        #expect(report.verdict(ofRecord: "large") == .verified)
        try sandbox.change(sandbox.path(ofRecord: "large")) { $0[4000] ^= 1 }
        report = try sandbox.audit(limits: limits)
        #expect(report.ids == ["blob.tampered"])
    }

    @Test func noBlobWithAChangedBitIsVerified() throws {
        let size = try store.seal("x", as: "r0", sequence: 1).count
        for offset in 0..<size {
            var blob = try store.seal("x", as: "r\(offset)", sequence: 1)
            blob[offset] ^= 1 << UInt8(offset % 8)
            try sandbox.put("\(AuditSandbox.records)/r\(offset).sealed", blob)
        }
        let report = try sandbox.audit()
        let verdicts = (0..<size).map { report.verdict(ofRecord: "r\($0)") }
        #expect(verdicts.allSatisfy { if case .refused = $0 { true } else { false } })
        #expect(report.findings.count >= size)
    }

    @Test func textThatBeginsWithTheMagicIsText() throws {
        try sandbox.put("notes", "SEALING WAX and other things, with more words than a header has bytes.\n")
        let report = try sandbox.audit()
        #expect(report.ids == ["plaintext.file"])
        #expect(report.file("notes")?.kind == .text)
    }
}
