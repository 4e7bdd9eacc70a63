import SealedState
import TestSupport
import Testing

@Suite("Watching with the last good value", .timeLimit(.minutes(5)))
struct LastGoodWatchTests {
    @Test func aRefusedBlobIsReportedWithTheLastGoodValue() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open { $0.rejectionPolicy = .keepLastGood }
        try await store.write(Note(text: "good"))
        var bad = try fixture.blob()
        bad[bad.count - 1] ^= 1
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "good")
        try fixture.plant(bad)
        let kept = try await updates.next()
        #expect(kept.value?.text == "good")
        #expect(kept.rejection?.code == .tampered)
        #expect(kept.refusal == nil)
        try fixture.plant([1, 2, 3])
        #expect(try await updates.next(\.rejection?.code) == .malformed)
        try await store.write(Note(text: "better"))
        let better = try await updates.next()
        #expect(better.value?.text == "better")
        #expect(better.rejection == nil)
    }
}
