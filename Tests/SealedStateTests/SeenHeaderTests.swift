import CryptoPrimitives
import FoundationEssentials
import KeyVault
import PropertyLists
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// A write may use its check of a header from before the lock only if the bytes are the same under the lock.
@Suite struct SeenHeaderTests {
    private let fixture: StoreFixture
    private let store: SealedStore
    private let place: RecordPlace

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.write(Note(text: "first"))
        place = try store.places.place(Note.recordName)
    }

    private func sequence(_ existing: ExistingBlob) -> UInt64? {
        if case .value(let header) = existing { header.sequence } else { nil }
    }

    @Test func aHeaderThatWasReplacedMeanwhileIsVerifiedAgain() throws {
        let seen = SeenHeader()
        #expect(sequence(try store.reader.existing(at: place, seen: seen)) == 1)
        try fixture.open().write(Note(text: "second"))
        #expect(sequence(try store.reader.existing(at: place, seen: seen)) == 2)
        #expect(seen.header(of: try fixture.blob())?.header.sequence == nil)
        #expect(seen.header(of: Array(try fixture.blob().prefix(BlobLayout.headerSize)))?.header.sequence == 2)
    }

    @Test func aByteThatWasChangedInPlaceIsSeen() throws {
        let seen = SeenHeader()
        _ = try store.reader.existing(at: place, seen: seen)
        var blob = try fixture.blob()
        blob[64] ^= 2
        try fixture.plant(blob)
        let existing = try store.reader.existing(at: place, seen: seen)
        #expect(existing.rejection?.code == .wrongCommitment)
    }

    @Test func anOldBlobThatWasPutBackIsAReplayEvenIfItWasSeenBefore() throws {
        let old = try fixture.blob()
        let seen = SeenHeader()
        _ = try store.reader.existing(at: place, seen: seen)
        try store.write(Note(text: "second"))
        try fixture.plant(old)
        #expect(try store.reader.existing(at: place, seen: seen).rejection?.code == .replayed)
    }

    @Test func aBlobOfARetiredEpochIsRefusedEvenIfItWasSeenBefore() throws {
        let old = try fixture.blob()
        let seen = SeenHeader()
        _ = try store.reader.existing(at: place, seen: seen)
        try store.rotate()
        try fixture.plant(old)
        #expect(try store.reader.existing(at: place, seen: seen).rejection?.code == .retiredEpoch)
    }

    @Test func anUpdateOfTwoStoresLosesNothing() throws {
        let other = try fixture.open()
        for round in 0..<20 {
            try (round.isMultiple(of: 2) ? store : other).update(Note.self) { $0.text += "." }
        }
        #expect(try store.read(Note.self).text == "first" + String(repeating: ".", count: 20))
        #expect(try store.snapshot(of: Note.self).provenance.sequence == 21)
    }
}

/// JSON that was scanned for its grammar is not scanned again for its limits.
@Suite struct JSONScanTests {
    private static let limits = StructureLimits(depth: 64, values: 6, size: 1 << 20)

    static let texts = [
        "7", "[1,2,3]", "[1,2,3,4,5,6]", #"{"a":1,"b":2}"#, #"{"a":1,"b":2,"c":3}"#,
        #"{"\#(String(repeating: "é", count: 2049))":1}"#, #"["\#(String(repeating: "é", count: 2049))"]"#,
        #"["a\#(String(repeating: "\u{301}", count: 31))"]"#, #"["a\#(String(repeating: #"\u0301"#, count: 31))"]"#,
        #"["a\#(String(repeating: "\u{301}", count: 30))"]"#, #"["\ud834\udd65\n😀"]"#,
    ]

    @Test(arguments: texts) func bothWaysCountTheSame(_ text: String) throws {
        let (strict, loose) = try Array(text.utf8).withRawBytes { bytes in
            let strict = try JSONChecker.checkInput(bytes, against: Self.limits, maximumDepth: 64)
            do throws(StructureFault) { try JSONStructure.check(bytes, against: Self.limits) } catch {
                return (strict, StructureFault?.some(error))
            }
            return (strict, StructureFault?.none)
        }
        #expect(strict == loose)
    }

    @Test func depthBeyondTheDecoderIsFoundAsWell() throws {
        let text = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)
        let limits = StructureLimits(depth: .max, values: .max, size: .max)
        let fault = try Array(text.utf8).withRawBytes {
            try JSONChecker.checkInput($0, against: limits, maximumDepth: 1000)
        }
        #expect(fault == .tooDeep(limit: 512))
    }

    @Test func scanResultsAreReusedForTheSameLimitsOnly() {
        func payload(_ scan: RecordPayload.Scan?) -> RecordPayload {
            RecordPayload(.init("[1,2,3,4,5,6,7]".utf8), codec: .json, schemaVersion: 1, notAfter: 0, scan: scan)
        }
        let fault = StructureFault.tooManyValues(limit: 6)
        #expect(payload(nil).fault(against: Self.limits) == fault)
        #expect(payload(.init(Self.limits, excess: nil)).fault(against: Self.limits) == nil)
        #expect(payload(.init(Self.limits, excess: .longKey)).fault(against: Self.limits) == .longKey)
        let wide = StructureLimits(depth: 64, values: 100, size: 1 << 20)
        #expect(payload(.init(wide, excess: nil)).fault(against: Self.limits) == fault)
    }
}
