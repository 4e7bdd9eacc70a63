import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Writing over a blob that is refused (docs/decisions/0004-writing-over-a-damaged-blob.md).
@Suite struct QuarantineTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        for number in 1...3 { try store.write(Note(text: "x", number: number)) }
    }

    private func kept() throws -> [[UInt8]] {
        guard SystemFile.exists(fixture.quarantine) else { return [] }
        return try SystemFile.names(fixture.quarantine).map { try SystemFile.read("\(fixture.quarantine)/\($0)") }
    }

    static let damages: [@Sendable ([UInt8]) -> [UInt8]] = [
        { _ in [] }, { _ in Array("plain text".utf8) }, { Array($0.prefix(100)) },
        { $0.enumerated().map { $0 == Field.commitment ? ~$1 : $1 } }, { $0.enumerated().map { $0 == 0 ? ~$1 : $1 } },
        { $0.enumerated().map { $0 == Field.sequence ? 0 : $1 } },
    ]

    @Test(arguments: damages.indices) func aDamagedBlobIsKeptAndTheSequenceGoesOn(_ index: Int) throws {
        let damaged = Self.damages[index](try fixture.blob())
        try fixture.plant(damaged)
        #expect(try store.write(Note(text: "new")) == 4)
        #expect(try store.read(Note.self).text == "new")
        #expect(try kept() == [damaged])
        #expect(try fixture.probe("store-list") == "note")
    }

    @Test func aBlobOfAnotherPlaceIsKept() throws {
        try store.write(Note(text: "x"), named: "other")
        let moved = try fixture.blob("other")
        try fixture.plant(moved)
        #expect(try store.write(Note(text: "new")) == 4)
        #expect(try kept() == [moved])
    }

    @Test func aFileBeyondTheSizeLimitIsKept() throws {
        try fixture.plant([])
        #expect(truncate(fixture.file("note"), 1 << 40) == 0)
        #expect(try store.write(Note(text: "new")) == 4)
        #expect(try store.read(Note.self).text == "new")
        #expect(try SystemFile.names(fixture.quarantine).count == 1)
    }

    @Test func twoDamagedBlobsAreKeptApart() throws {
        for text in ["one", "two"] {
            try fixture.plant(Array(text.utf8))
            try store.write(Note(text: "new"))
        }
        #expect(Set(try kept()) == [Array("one".utf8), Array("two".utf8)])
    }

    @Test func aDamagedHeadersClaimCountsWithinReason() throws {
        // The highest that anybody has seen may be in the damaged header alone; a flipped high bit must not brick it.
        for (claim, next) in [(7, 8), (1 << 40, 4), (UInt64.max, 4)] as [(UInt64, UInt64)] {
            let fresh = try StoreFixture()
            let store = try fresh.open()
            for number in 1...3 { try store.write(Note(text: "x", number: number)) }
            var forgery = try Forgery(store)
            forgery.sequence = claim
            forgery.flips = [(Field.commitment, 1)]
            try fresh.plant(forgery.blob)
            #expect(try store.write(Note(text: "new")) == next)
        }
    }

    @Test func aClaimBesideTheHighestSequenceOverflowsNothing() throws {
        // A key holder drives the sequence to its end, then damages the header.
        let fresh = try StoreFixture()
        let store = try fresh.open()
        var forgery = try Forgery(store)
        forgery.sequence = .max - 2
        try fresh.plant(forgery.blob)
        _ = try store.read(Note.self)
        forgery.sequence = .max - 1
        forgery.flips = [(Field.commitment, 1)]
        try fresh.plant(forgery.blob)
        #expect(code { try store.write(Note(text: "new")) } == .sequenceJump)
    }

    @Test func aBlobOfAnUnknownKeyIsLeftAlone() throws {
        try expectLeftAlone(.unknownKey) { $0.key = try .random(epoch: 1) }
    }

    @Test func aBlobOfAnotherEpochIsLeftAlone() throws {
        try expectLeftAlone(.wrongEpoch) { $0.flips = [(Field.epoch, 2)] }
    }

    @Test func aBlobOfANewerFormatIsLeftAlone() throws {
        try expectLeftAlone(.unsupportedFormat) { $0.flips = [(Field.format, 3)] }
    }

    @Test func aJumpIsNotFollowed() throws {
        try expectLeftAlone(.sequenceJump) { $0.sequence = 4 + 1 << 32 }
    }

    private func expectLeftAlone(_ expected: StoreError.Code, _ change: (inout Forgery) throws -> Void) throws {
        var forgery = try Forgery(store)
        forgery.sequence = 4
        try change(&forgery)
        let blob = forgery.blob
        try fixture.plant(blob)
        #expect(code { try store.write(Note(text: "new")) } == expected)
        #expect(code { try store.delete(Note.self) } == expected)
        #expect(try fixture.blob() == blob)
        #expect(try kept() == [])
        #expect(try fixture.litter() == [])
    }
}
