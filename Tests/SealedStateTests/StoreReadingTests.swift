import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of a reader's refusals and their codes; `RejectionTests` has the order.
@Suite struct StoreReadingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private var refused: StoreError.Code? { code { _ = try store.read(Note.self) } }

    private func plant(_ change: (inout Forgery) throws -> Void) throws {
        var forgery = try Forgery(store)
        try change(&forgery)
        try fixture.plant(forgery.blob)
    }

    // MARK: No blob

    @Test func aRecordThatWasNeverWrittenIsAbsent() {
        #expect(refused == .absent)
        #expect(code { _ = try store.read(Note.self, named: "some/where/else") } == .absent)
    }

    @Test func aVanishedFileIsAbsentAndTheReasonSaysWhatWasThere() throws {
        for number in 1...3 { try store.write(Note(text: "x", number: number)) }
        unlink(fixture.file("note"))
        let error = try #require(refusal { _ = try store.read(Note.self) })
        #expect(error.code == .absent)
        #expect(error.reason.contains("3"))
    }

    @Test func aRemovedContainerIsNotAnAbsentRecord() throws {
        try store.write(Note(text: "x"))
        try FileTree.remove(fixture.container)
        #expect(refused == .containerMissing)
        #expect(code { try store.write(Note(text: "x")) } == .containerMissing)
        #expect(code { _ = try store.list() } == .containerMissing)
    }

    // MARK: No blob of ours

    static let texts = ["", "{\"text\":\"plain\"}", "SEAL", "hello\n", String(repeating: "\u{0}", count: 500)]

    @Test(arguments: texts) func anythingButABlobIsMalformed(_ text: String) throws {
        try fixture.plant(Array(text.utf8))
        #expect(refused == .malformed)
        #expect(store.readIfValid(Note.self) == nil)
    }

    @Test func everyTruncationIsRefused() throws {
        try store.write(Note(text: "x"))
        let blob = try fixture.blob()
        for count in 0..<blob.count {
            try fixture.plant(Array(blob[..<count]))
            #expect(refused == (count <= Field.end + BlobLayout.tagSize - 1 ? .malformed : .tampered), "\(count) bytes")
        }
    }

    @Test func aFileBeyondTheLimitIsRefusedUnread() throws {
        // One TiB without content: allocating it would fail here.
        try fixture.plant([])
        #expect(truncate(fixture.file("note"), 1 << 40) == 0)
        #expect(refused == .tooLarge)
    }

    @Test func theLimitIsThatOfTheContents() throws {
        let note = Note(text: "x", number: 1)
        let size = try JSONCodec.encode(note).count
        try store.write(note)
        let exact = try fixture.open { $0.maximumRecordSize = size }
        #expect(try exact.read(Note.self) == note)
        let less = try fixture.open { $0.maximumRecordSize = size - 1 }
        #expect(code { _ = try less.read(Note.self) } == .tooLarge)
        let any = try fixture.open { $0.maximumRecordSize = .max }
        #expect(try any.read(Note.self) == note)
    }

    // MARK: In the wrong place, under the wrong key

    @Test func aBlobThatWasCopiedToAnotherNameIsRefused() throws {
        try store.write(Note(text: "x"), named: "mine")
        try fixture.plant(try fixture.blob("mine"))
        #expect(refused == .wrongName)
    }

    @Test func aStreamInARecordsPlaceIsRefused() throws {
        try plant { $0.kind = .stream }
        #expect(refused == .wrongKind)
    }

    @Test func aBlobOfAnotherGroupIsRefused() throws {
        let other = try StoreFixture("group.com.example.other")
        try other.open().write(Note(text: "x"))
        try fixture.plant(try other.blob())
        #expect(refused == .wrongGroup)
    }

    @Test func aBlobOfAnotherVaultIsUnknown() throws {
        let other = try StoreFixture()
        try other.open().write(Note(text: "x"))
        try fixture.plant(try other.blob())
        #expect(refused == .unknownKey)
    }

    @Test func aBlobThatIsReheadedForOurKeyIsRefused() throws {
        let other = try StoreFixture()
        try other.open().write(Note(text: "x"))
        try store.write(Note(text: "y"), named: "mine")
        var blob = try other.blob()
        blob.replaceSubrange(
            Field.keyID..<Field.keyID + 16, with: try fixture.blob("mine")[Field.keyID..<Field.keyID + 16])
        try fixture.plant(blob)
        #expect(refused == .wrongCommitment)
    }

    // MARK: Changed

    @Test func everyFlippedByteIsRefused() throws {
        try store.write(Note(text: "x", number: 4))
        let blob = try fixture.blob()
        for offset in blob.indices {
            var changed = blob
            changed[offset] ^= UInt8(1 << (offset % 8))
            try fixture.plant(changed)
            #expect(store.readIfValid(Note.self) == nil, "offset \(offset)")
            if offset >= Field.end { #expect(refused == .tampered) }
            if (Field.commitment..<Field.end).contains(offset) { #expect(refused == .wrongCommitment) }
        }
        try fixture.plant(blob)
        #expect(try store.read(Note.self).number == 4)
    }

    @Test func anAddedByteIsRefused() throws {
        try store.write(Note(text: "x"))
        try fixture.plant(try fixture.blob() + [0])
        #expect(refused == .tampered)
    }

    // MARK: Contents

    @Test(arguments: [4, 99, Int(Int32.max)]) func aNewerSchemaIsRefusedUndecoded(_ version: Int) throws {
        try plant {
            $0.name = Watched.recordName
            $0.schemaVersion = UInt32(version)
        }
        try fixture.plant(try SystemFile.read(fixture.file("note")), Watched.recordName)
        let error = try #require(refusal { _ = try store.read(Watched.self) })
        #expect(error.code == .tooNew)
        #expect(error.reason.contains("\(version)") && error.reason.contains("2 to 3"))
        #expect(Watched.decodings == 0)
    }

    @Test(arguments: [0, 1]) func anOlderSchemaIsRefusedUndecoded(_ version: Int) throws {
        try plant {
            $0.name = Watched.recordName
            $0.schemaVersion = UInt32(version)
        }
        try fixture.plant(try SystemFile.read(fixture.file("note")), Watched.recordName)
        let error = try #require(refusal { _ = try store.read(Watched.self) })
        #expect(error.code == .tooOld)
        #expect(error.reason.contains("\(version)") && error.reason.contains("2 to 3"))
        #expect(Watched.decodings == 0)
    }

    @Test func everySchemaBetweenTheBoundsIsRead() throws {
        for version in [2, 3] as [UInt32] {
            try plant {
                $0.schemaVersion = version
                $0.sequence = UInt64(version)
            }
            #expect(try store.snapshot(of: Note.self).provenance.schemaVersion == Int(version))
        }
    }

    @Test func aKeyHolderCannotCrashTheDecoder() throws {
        let depth = 100_000
        let json = Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        try plant { $0.payload = .bytes(json) }
        #expect(refused == .unsafeStructure)
        // In UTF-16 the same brackets, hidden behind a character with the byte of a quotation mark.
        let wide = #"{"text":"嬢","x":\#(String(repeating: "[", count: 200))"#.utf16
        var bytes: [UInt8] = []
        for unit in wide { bytes += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        try plant {
            $0.payload = .bytes(bytes)
            $0.sequence = 2
        }
        #expect([.unsafeStructure, .undecodable].contains(refused))
    }

    @Test(arguments: [PayloadCodec.raw, .binaryPropertyList]) func anotherCodecIsUndecodable(
        _ codec: PayloadCodec
    ) throws {
        try plant { $0.codec = codec }
        #expect(refused == .undecodable)
    }

    @Test(arguments: ["", "{}", "[]", "null", "{\"text\":7}", "{\"text\":\"x\"", "\u{FEFF}x"])
    func contentsOfAnotherShapeAreUndecodable(_ text: String) throws {
        try plant { $0.payload = .bytes(Array(text.utf8)) }
        #expect(refused == .undecodable)
    }

    @Test func aTypesOwnRulesAreCheckedOnEveryRead() throws {
        try plant { $0.payload.text = Note.forbidden }
        let error = try #require(refusal { _ = try store.read(Note.self) })
        #expect(error.code == .invalid)
        #expect(error.cause is ValidationFailure)
        #expect(!error.description.contains(Note.forbidden))
    }

    // MARK: Provenance

    @Test func aSnapshotSaysWhereTheValueCameFrom() throws {
        let end = Date(timeIntervalSince1970: 4_000_000_000.25)
        let before = Date()
        try store.write(Note(text: "x"))
        try store.write(Note(text: "y", expiresAt: end))
        let snapshot = try store.snapshot(of: Note.self)
        #expect(snapshot.value.text == "y")
        #expect(snapshot.provenance.sequence == 2)
        #expect(snapshot.provenance.epoch == 1)
        #expect(snapshot.provenance.schemaVersion == 3)
        #expect(snapshot.provenance.notAfter == end)
        #expect(snapshot.provenance.writer == nil)
        #expect((before - 0.001...Date()).contains(snapshot.provenance.sealedAt))
    }
}
