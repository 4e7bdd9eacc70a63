import Glibc
import SealedState
import TestSupport
import Testing

@Suite("RecordUpdates", .timeLimit(.minutes(5)))
struct RecordUpdatesTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @Test func theCurrentValueComesFirst() async throws {
        try await store.write(Note(text: "first"))
        let updates = Watching(try store.updates(of: Note.self))
        let update = try await updates.next()
        #expect(update.value == Note(text: "first"))
        #expect(update.snapshot?.provenance.sequence == 1)
        #expect(update.rejection == nil)
    }

    @Test func anAbsentRecordIsAStateAndItsFirstValueAnother() async throws {
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.absence) == .absent)
        try await store.write(Note(text: "first"))
        #expect(try await updates.next(\.value?.text) == "first")
    }

    @Test func aSlowConsumerGetsTheLatest() async throws {
        let updates = Watching(try store.updates(of: Note.self))
        try await store.write(Note(text: "", number: 0))
        #expect(try await updates.next(\.value?.number) == 0)
        for number in 1...50 { try await store.write(Note(text: "", number: number)) }
        #expect(try await updates.next(\.value?.number) == 50)
        try await store.write(Note(text: "", number: 51))
        #expect(try await updates.next(\.value?.number) == 51)
    }

    @Test func eachStateIsReportedOnce() async throws {
        try await store.write(Note(text: "first"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "first")
        let blob = try fixture.blob()
        try fixture.plant(blob)
        chmod(fixture.file(Note.recordName), 0o640)
        try SystemFile.write(fixture.file(Note.recordName), blob)
        try await store.write(Note(text: "other"), named: "other")
        try await store.write(Note(text: "second"))
        #expect(try await updates.next(\.value?.text) == "second")
    }

    @Test func aDeletionIsReportedAndSoIsTheNextWrite() async throws {
        try await store.write(Note(text: "first"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "first")
        try await store.delete(Note.self)
        #expect(try await updates.next(\.absence) == .absent)
        try await store.write(Note(text: "second"))
        #expect(try await updates.next(\.snapshot?.provenance.sequence) == 3)
        unlink(fixture.file(Note.recordName))
        #expect(try await updates.next(\.absence) == .absent)
    }

    @Test func aRefusedBlobIsReportedAndSoIsTheGoodOneAfterIt() async throws {
        try await store.write(Note(text: "first"))
        let good = try fixture.blob()
        var bad = good
        bad[bad.count - 1] ^= 1
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "first")
        try fixture.plant(bad)
        #expect(try await updates.next(\.refusal) == .tampered)
        try fixture.plant(good)
        #expect(try await updates.next(\.value?.text) == "first")
        try await store.write(Note(text: "second"))
        try fixture.plant(good)
        #expect(try await updates.next(\.refusal) == .replayed)
    }

    @Test func valuesThatAreRefusedForWhatTheySayAreReportedOneByOne() async throws {
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.absence) == .absent)
        for round in 0..<3 {
            try await store.write(Newer(number: round), named: Note.recordName)
            #expect(try await updates.next(\.refusal) == .tooNew, "round \(round)")
        }
    }

    @Test func everyIteratorReceivesEverything() async throws {
        let updates = try store.updates(of: Note.self)
        let (first, second) = (Watching(updates), Watching(updates))
        #expect(try await first.next(\.absence) == .absent)
        #expect(try await second.next(\.absence) == .absent)
        try await store.write(Note(text: "for both"))
        #expect(try await first.next(\.value?.text) == "for both")
        #expect(try await second.next(\.value?.text) == "for both")
        try await store.write(Note(text: "for the second"))
        #expect(try await second.next(\.value?.text) == "for the second")
        try await store.write(Note(text: "again for both"))
        #expect(try await first.next(\.value?.text) == "again for both")
        #expect(try await second.next(\.value?.text) == "again for both")
    }

    @Test func aBrokenNameIsRefusedAtOnce() {
        #expect(code { _ = try store.updates(of: Note.self, named: "../x") } == .invalidName)
    }

    @Test func aRecordInADirectoryThatIsMadeLaterIsReported() async throws {
        let updates = Watching(try store.updates(of: Note.self, named: "a/b/c/d"))
        #expect(try await updates.next(\.absence) == .absent)
        try await store.write(Note(text: "deep"), named: "a/b/c/d")
        #expect(try await updates.next(\.value?.text) == "deep")
    }
}

/// A note of a version that is unknown to programs with `Note`.
private struct Newer: SealedRecord {
    static let recordName = Note.recordName
    static let schemaVersion = Note.schemaVersion + 1
    var number: Int
}
