import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of a store that returns the last good value.
@Suite struct LastGoodTests {
    let fixture: StoreFixture
    let clock = TestClock(Date())
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { [clock] options in
            options.rejectionPolicy = .keepLastGood
            options.now = { clock.now }
        }
        try store.write(Note(text: "first"))
        _ = try store.read(Note.self)
    }

    private func snapshot() throws -> RecordSnapshot<Note> { try store.snapshot(of: Note.self) }

    private func forged(_ sequence: UInt64, _ change: (inout Forgery) throws -> Void = { _ in }) throws -> [UInt8] {
        var forgery = try Forgery(store)
        forgery.sequence = sequence
        try change(&forgery)
        return forgery.blob
    }

    @Test func aSoundValueIsNotMarked() throws {
        #expect(try snapshot().rejection == nil)
    }

    @Test(arguments: Fault.allCases) func aRefusedBlobLeavesTheLastGoodValue(_ fault: Fault) throws {
        let sequence: UInt64 = fault == .old ? 1 : 3
        try store.write(Note(text: "second"))
        _ = try store.read(Note.self)
        try fixture.plant(forged(sequence) { if fault != .old { try fault.apply(to: &$0) } })
        let answer = try snapshot()
        #expect(answer.value.text == "second" && answer.rejection?.code == fault.code)
        #expect(answer.provenance.sequence == 2)
        #expect(try store.read(Note.self).text == "second")
        #expect(store.readIfValid(Note.self)?.text == "second")
    }

    @Test func aNewerValueTakesItsPlaceAndTheMarkGoes() throws {
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().rejection?.code == .malformed)
        try store.write(Note(text: "repaired"))
        let answer = try snapshot()
        #expect(answer.value.text == "repaired" && answer.rejection == nil)
    }

    @Test func anExpiredLastGoodValueIsNotReturned() throws {
        try store.write(Note(text: "short", expiresAt: clock.now + 60))
        _ = try store.read(Note.self)
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().value.text == "short")
        clock.advance(by: 61)
        #expect(code { _ = try snapshot() } == .malformed)
    }

    @Test func aStaleValueHasNoLastGoodInItsPlace() throws {
        clock.advance(by: 4000)
        #expect(code { _ = try snapshot() } == .stale)
    }

    @Test func aValueThatThisProcessWroteIsOne() throws {
        try store.write(Note(text: "written"))
        try fixture.plant([1, 2, 3])
        let answer = try snapshot()
        #expect(answer.value.text == "written" && answer.rejection?.code == .malformed)
    }

    @Test func aDeletionEndsIt() throws {
        try store.delete(Note.self)
        #expect(code { _ = try snapshot() } == .absent)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
    }

    // store:   read 1 ........................................... read: refused, and 1 is not shown again
    // other:   ....... delete (2) ... the tombstone is damaged
    @Test func aDeletionThatThisStoreHasNotSeenEndsItAsWell() throws {
        try fixture.open().delete(Note.self)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
    }

    // store:   read 1 ...................................... read: refused, since 2 may be a deletion
    // probe:   ....... write (2) ... the blob is damaged
    @Test func aStateOfAnotherProcessThatWasNotSeenEndsItAsWell() throws {
        try store.write(ProbeRecord(number: 1))
        _ = try store.read(ProbeRecord.self)
        _ = try fixture.probe("store-write", "7", "2", "unsynced")
        try fixture.plant([1, 2, 3], ProbeRecord.recordName)
        #expect(code { _ = try store.read(ProbeRecord.self) } == .malformed)
    }

    @Test func aDeletionPutBackIsNotUndoneByTheOldBlob() throws {
        let old = try fixture.blob()
        try fixture.open().delete(Note.self)
        try fixture.plant(old)
        #expect(code { _ = try snapshot() } == .replayed)
    }

    @Test func aRefusedButAcceptedStateIsNotADeletion() throws {
        // An older program reads newer data, then that data is damaged: both times the store keeps its value.
        try fixture.plant(forged(2) { $0.schemaVersion = 99 })
        #expect(try snapshot().rejection?.code == .tooNew)
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().rejection?.code == .malformed)
        #expect(try snapshot().value.text == "first")
    }

    @Test func aFileThatIsTakenAwayIsAbsentAndNoDeletion() throws {
        let blob = try fixture.blob()
        #expect(unlink(fixture.file(Note.recordName)) == 0)
        #expect(code { _ = try snapshot() } == .absent)
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().rejection?.code == .malformed)
        try fixture.plant(blob)
        #expect(try snapshot().rejection == nil)
    }

    @Test func aKeyThatIsRetiredEndsIt() throws {
        var options = RotationOptions()
        options.durability = .unsynced
        try store.rotate(options)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
    }

    @Test func anUpdateNeverStartsFromTheLastGoodValue() throws {
        try fixture.plant([1, 2, 3])
        #expect(code { try store.update(Note.self) { $0.number += 1 } } == .malformed)
    }

    @Test func anotherTypeIsNotGivenWhatItCannotDecode() throws {
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try store.read(WidgetAuthState.self, named: Note.recordName) } == .malformed)
    }

    @Test func aStoreThatRefusesKeepsNothing() throws {
        let strict = try fixture.open()
        _ = try strict.read(Note.self)
        #expect(strict.reader.lastGood.entry(for: try strict.places.place(Note.recordName).context.nameTag) == nil)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try strict.read(Note.self) } == .malformed)
    }

    @Test func keptValuesAreSealed() throws {
        try store.write(Note(text: "a canary of the last good value"))
        _ = try store.read(Note.self)
        let tag = try store.places.place(Note.recordName).context.nameTag
        let entry = try #require(store.reader.lastGood.entry(for: tag))
        #expect(entry.sealed == (try fixture.blob()))
    }
}

/// Tests of the limits of the remembered values.
@Suite struct LastGoodValuesTests {
    private func tag(_ number: Int) -> NameTag {
        BlobContext(group: "group.com.example.store", kind: .record, name: "r\(number)").nameTag
    }

    private func state(_ sequence: UInt64) -> Watermark { Watermark(epoch: 1, sequence: sequence, commitment: nil) }

    @Test func theOldestGoesBeyondTheCount() {
        let values = LastGoodValues(maximumCount: 3, maximumSize: 1000)
        for number in 0..<3 { values.keep([1], state(1), for: tag(number)) }
        values.keep([1], state(2), for: tag(0))
        values.keep([1], state(1), for: tag(3))
        #expect((0..<4).map { values.entry(for: tag($0)) != nil } == [true, false, true, true])
    }

    @Test func theOldestGoBeyondTheSize() {
        let values = LastGoodValues(maximumCount: 100, maximumSize: 100)
        for number in 0..<4 { values.keep([UInt8](repeating: 0, count: 30), state(1), for: tag(number)) }
        #expect((0..<4).map { values.entry(for: tag($0)) != nil } == [false, true, true, true])
        values.forget(tag(1))
        values.keep([UInt8](repeating: 0, count: 40), state(1), for: tag(5))
        #expect((0..<6).map { values.entry(for: tag($0)) != nil } == [false, false, true, true, false, true])
    }

    @Test func aTooLargeValueEndsTheKeptOne() {
        let values = LastGoodValues(maximumCount: 100, maximumSize: 100)
        values.keep([1], state(1), for: tag(0))
        values.keep([UInt8](repeating: 0, count: 101), state(2), for: tag(0))
        #expect(values.entry(for: tag(0)) == nil)
    }

    @Test func onlyAnotherBlobIsNews() {
        let values = LastGoodValues()
        #expect(values.keep([1], state(1), for: tag(0)))
        #expect(!values.keep([1], state(1), for: tag(0)))
        #expect(values.cover(state(2), for: tag(0)) != nil && values.cover(state(2), for: tag(0)) == nil)
        #expect(values.keep([2], state(2), for: tag(0)) && !values.keep([1], state(1), for: tag(0)))
    }

    @Test func onlyTheNextStateIsCovered() {
        let values = LastGoodValues()
        values.keep([1], state(1), for: tag(0))
        #expect(values.cover(state(3), for: tag(0)) == nil && values.entry(for: tag(0)) == nil)
    }

    @Test func anOlderValueDoesNotTakeTheNewersPlace() {
        let values = LastGoodValues()
        values.keep([2], state(2), for: tag(0))
        values.keep([1], state(1), for: tag(0))
        #expect(values.entry(for: tag(0))?.sealed == [2])
    }
}
