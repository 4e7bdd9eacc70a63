import FoundationEssentials
import Glibc
import SealedBackends
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of writing over a refused blob (docs/decisions/0004-writing-over-a-damaged-blob.md).
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
        return try names().map { try SystemFile.read("\(fixture.quarantine)/\($0)") }
    }

    /// Returns the names of blobs; each has a note beside it.
    private func names() throws -> [String] {
        try SystemFile.names(fixture.quarantine).filter { $0.hasSuffix(".sealed") }
    }

    static let damages: [@Sendable ([UInt8]) -> [UInt8]] = [
        { _ in [] }, { _ in Array("plain text".utf8) }, { Array($0.prefix(100)) },
        { $0.enumerated().map { $0 == Field.commitment ? ~$1 : $1 } }, { $0.enumerated().map { $0 == 0 ? ~$1 : $1 } },
        { $0.enumerated().map { $0 == Field.sequence ? 0 : $1 } },
    ]

    @Test(arguments: damages.indices) func aDamagedBlobIsKeptAndTheSequenceContinues(_ index: Int) throws {
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
        #expect(try names().count == 1)
    }

    @Test func twoDamagedBlobsAreKeptApart() throws {
        for text in ["one", "two"] {
            try fixture.plant(Array(text.utf8))
            try store.write(Note(text: "new"))
        }
        #expect(Set(try kept()) == [Array("one".utf8), Array("two".utf8)])
    }

    @Test func aDamagedHeadersClaimCountsWithinReason() throws {
        // The highest sequence ever seen may be in the damaged header alone; a flipped high bit must not block the
        // record.
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
        // A key holder damages a header with the highest sequence, where nothing was accepted before.
        let fresh = try StoreFixture()
        let store = try fresh.open()
        var forgery = try Forgery(store)
        forgery.sequence = .max - 1
        forgery.flips = [(Field.commitment, 1)]
        try fresh.plant(forgery.blob)
        #expect(try store.write(Note(text: "new")) == 1)
    }

    // MARK: Doubtful fields

    /// Offsets of fields that identify a vault or a program, for one flipped bit each: key id, epoch, format, suite,
    /// kind, flags, writer, codec and the reserved bytes.
    static let doubtful = [48, 63, 12, 15, 4, 5, 6, 7, 88, 103, 104, 105, 111]

    private func flipped(_ blob: [UInt8], _ offset: Int) -> [UInt8] {
        blob.enumerated().map { $0 == offset ? $1 ^ 0x40 : $1 }
    }

    @Test(arguments: doubtful) func aFlippedBitStopsNoWriter(_ offset: Int) throws {
        let damaged = flipped(try fixture.blob(), offset)
        try fixture.plant(damaged)
        #expect(code { _ = try store.read(Note.self) } != nil)
        #expect(try store.write(Note(text: "new")) == 4)
        #expect(try store.read(Note.self).text == "new")
        #expect(try kept() == [damaged])
    }

    @Test(arguments: doubtful) func aFlippedBitStopsNoDeletion(_ offset: Int) throws {
        let damaged = flipped(try fixture.blob(), offset)
        try fixture.plant(damaged)
        #expect(try store.delete(Note.self) == 4)
        #expect(code { _ = try store.read(Note.self) } == .absent)
        #expect(try kept() == [damaged])
    }

    // A key of the vault vouches for the rest of the header, even if nothing is known of the record.
    @Test(arguments: doubtful) func aFlippedBitIsRecognisedOnFirstContact(_ offset: Int) throws {
        let stranger = try forgetfulStore()
        let damaged = flipped(try fixture.blob(), offset)
        try fixture.plant(damaged)
        #expect(try stranger.write(Note(text: "new")) == 4)
        #expect(try kept() == [damaged])
    }

    /// Returns a store of a user who has accepted nothing yet: the same home, with the key file and without the
    /// watermarks.
    private func forgetfulStore() throws -> SealedStore {
        let place = try TemporaryDirectory()
        try place.directory("Keys")
        let key = "Keys/\(fixture.group).key"
        try SystemFile.write(place.path(key), try SystemFile.read(fixture.keyFile))
        var options = StoreOptions()
        options.now = { withExtendedLifetime(place) { Date() } }
        return try SealedStore(
            group: fixture.group, in: GroupsHome(root: fixture.place.path, userRoot: place.path), options: options)
    }

    @Test func aBlobOfAnUnknownKeyIsKeptWhereThisVaultIsTheRecords() throws {
        _ = try store.rotate()
        var forgery = try Forgery(store)
        forgery.sequence = 4
        forgery.key = try .random(epoch: 1)
        let blob = forgery.blob
        try fixture.plant(blob)
        #expect(try store.write(Note(text: "new")) == 5)
        #expect(try kept() == [blob])
    }

    @Test func aBlobOfAnUnknownKeyIsLeftAloneOnFirstContact() throws {
        try expectLeftAlone(.unknownKey, by: forgetfulStore()) { $0.key = try .random(epoch: 1) }
    }

    // A vault that was put back to a state before its key for unlocked use does not know that key.
    @Test func aBlobOfAnEpochThatOneClassHasNotReachedIsLeftAlone() throws {
        let passphrase = try Array("words".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        try store.vault.addSlot(.passphrase(passphrase, .minimum))
        try expectLeftAlone(.unknownKey, by: store) { $0.key = try .random(epoch: 1) }
    }

    @Test func withoutPersonsThereIsOneClass() throws {
        var forgery = try Forgery(store)
        forgery.sequence = 4
        forgery.key = try .random(epoch: 1)
        let blob = forgery.blob
        try fixture.plant(blob)
        #expect(try store.write(Note(text: "new")) == 5)
        #expect(try kept() == [blob])
    }

    // A vault that was put back to an earlier state does not know the epoch.
    @Test func aBlobOfALaterEpochIsLeftAlone() throws {
        try expectLeftAlone(.unknownKey, by: store) { $0.key = try .random(epoch: 2) }
    }

    @Test(arguments: [(4, UInt8(3)), (5, 3), (7, 8)]) func aBlobOfANewerProgramIsLeftAlone(
        _ offset: Int, _ value: UInt8
    ) throws {
        // Not one bit of an honest header: another writer, whose code covers that field as well.
        try expectLeftAlone(.unsupportedFormat, by: store) { forgery in
            forgery.flips = [(offset, value), (Field.commitment, 1)]
        }
    }

    // MARK: Impossible sequences

    @Test func aJumpIsKeptAndNotFollowed() throws {
        var forgery = try Forgery(store)
        forgery.sequence = 4 + 1 << 32
        let blob = forgery.blob
        try fixture.plant(blob)
        #expect(code { _ = try store.read(Note.self) } == .sequenceJump)
        #expect(try store.write(Note(text: "new")) == 4)
        #expect(try store.read(Note.self).text == "new")
        #expect(try kept() == [blob])
        // The blob has the highest sequence that readers believe; the next one would exceed the limit.
        try fixture.plant(blob)
        #expect(try store.delete(Note.self) == 5)
        forgery.sequence = 4 + 1 << 32
        try fixture.plant(forgery.blob)
        #expect(try store.write(Note(text: "far")) == 5 + 1 << 32)
    }

    @Test func theLastBelievedSequenceOfAFirstContactIsNotFollowed() throws {
        for (sequence, next) in [(1 << 48, 1), ((1 << 48) - 1, 1 << 48)] as [(UInt64, UInt64)] {
            let fresh = try StoreFixture()
            let store = try fresh.open()
            var forgery = try Forgery(store)
            forgery.sequence = sequence
            try fresh.plant(forgery.blob)
            #expect(try store.write(Note(text: "new")) == next)
            #expect(try store.read(Note.self).text == "new")
        }
    }

    @Test func aFirstContactBelievesNoSequenceOfThousandsOfYears() throws {
        for (sequence, next) in [(1 << 48, 1 + 1 << 48), (1 + 1 << 48, 1)] as [(UInt64, UInt64)] {
            let fresh = try StoreFixture()
            let store = try fresh.open()
            var forgery = try Forgery(store)
            forgery.sequence = sequence
            try fresh.plant(forgery.blob)
            #expect(code { _ = try store.read(Note.self) } == (next == 1 ? .sequenceJump : nil))
            #expect(try store.write(Note(text: "new")) == next)
            #expect(try store.read(Note.self).text == "new")
        }
    }

    @Test func outOfOrderBlobsAreKept() throws {
        let third = try fixture.blob()
        try store.write(Note(text: "fourth"))
        try fixture.plant(third)
        #expect(try store.write(Note(text: "new")) == 5)
        var fork = try Forgery(store)
        fork.sequence = 5
        let forked = fork.blob
        try fixture.plant(forked)
        #expect(try store.write(Note(text: "new")) == 6)
        #expect(Set(try kept()) == [third, forked])
    }

    // MARK: Copies in quarantine

    @Test func aNoteSaysWhyAndHoldsNoContents() throws {
        try fixture.plant(Array("precious plain text".utf8))
        try store.write(Note(text: "new"))
        let name = try #require(try names().first)
        #expect(name.hasPrefix("note."))
        let note = try SystemFile.read("\(fixture.quarantine)/\(name).reason")
        let text = String(decoding: note, as: UTF8.self)
        #expect(text.contains("record: note\n"))
        #expect(text.contains("reason: malformed: "))
        #expect(!text.contains("precious"))
        #expect(QuarantineNote.isNote(path: "Quarantine/\(name).reason", size: Int64(note.count), head: note))
        #expect(!QuarantineNote.isNote(path: "Quarantine/\(name).reason", size: 9, head: Array("precious".utf8)))
    }

    @Test func theSameFileIsKeptOnce() throws {
        let place = try store.places.place("note")
        let first = try store.backend.preserve(place.key, reason: "tampered: it is", limit: 1 << 20)
        #expect(try store.backend.preserve(place.key, reason: "tampered: again", limit: 1 << 20) == first)
        #expect(try names().count == 1)
        // The original is in its place.
        #expect(try store.read(Note.self).number == 3)
    }

    @Test func aRecordFillsNoDisk() throws {
        let place = try store.places.place("note")
        var last: String?
        for number in 0..<70 {
            try fixture.plant(Array("damaged \(number)".utf8))
            last = try store.backend.preserve(place.key, reason: "malformed: it is", limit: 1 << 20)
        }
        #expect(last == nil)
        #expect(try names().count == 64)
        // Writers continue all the same; another record has a place of its own, even if its name has the same
        // beginning.
        #expect(try store.write(Note(text: "new")) == 4)
        try store.write(Note(text: "x"), named: "note.a")
        try fixture.plant([], "note.a")
        try store.write(Note(text: "x"), named: "note.a")
        #expect(try names().count == 65)
    }

    private func expectLeftAlone(
        _ expected: StoreError.Code, by store: SealedStore, _ change: (inout Forgery) throws -> Void
    ) throws {
        var forgery = try Forgery(store)
        forgery.sequence = 4
        try change(&forgery)
        let blob = forgery.blob
        try fixture.plant(blob)
        #expect(code { try store.write(Note(text: "new")) } == expected)
        #expect(code { try store.delete(Note.self) } == expected)
        #expect(code { try store.write(Note(text: "new"), onlyIf: .sequence(4)) } == expected)
        #expect(try fixture.blob() == blob)
        #expect(try kept() == [])
        #expect(try fixture.staleFiles() == [])
    }
}
