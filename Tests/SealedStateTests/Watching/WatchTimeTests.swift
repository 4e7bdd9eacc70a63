import FoundationEssentials
import SealedState
import TestSupport
import Testing

/// Tests of states that change by time alone, without an upper limit for the wait.
@Suite("Watching the time", .timeLimit(.minutes(5)))
struct WatchTimeTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test func aValueThatExpiresIsRefusedAtItsEnd() async throws {
        let store = try fixture.open()
        let end = Date() + 0.7
        try await store.write(Note(text: "short", expiresAt: end))
        let updates = Watching(try store.updates(of: Note.self))
        let update = try await updates.next { $0.refusal != nil }
        #expect(update.refusal == .stale)
        #expect(Date() >= end)
        try await store.write(Note(text: "for ever"))
        #expect(try await updates.next(\.value?.text) == "for ever")
    }

    @Test func aValueThatIsRenewedInTimeIsNeverRefused() async throws {
        let store = try fixture.open()
        let end = Date() + 1
        try await store.write(Note(text: "short", expiresAt: end))
        let updates = Watching(try store.updates(of: Note.self))
        var reported = [try await updates.next()]
        try await store.write(Note(text: "for ever"))
        let isInTime = Date() < end
        // Beyond the alarm that was set for the first one.
        try await Task.sleep(for: .seconds(1.3))
        reported.append(try await updates.next())
        try await store.write(Note(text: "last"))
        reported.append(try await updates.next())
        if isInTime { #expect(reported.map(\.value?.text) == ["short", "for ever", "last"]) }
    }

    @Test func aValueOfTheMaximumAgeIsRefused() async throws {
        let writer = try fixture.open { $0.now = { Date() - 3599 } }
        try await writer.write(Note(text: "old"))
        let updates = Watching(try fixture.open().updates(of: Note.self))
        let update = try await updates.next { $0.refusal != nil }
        #expect(update.refusal == .stale)
    }

    @Test func aValueOfTheFutureIsReportedWhenItsTimeHasCome() async throws {
        let writer = try fixture.open { $0.now = { Date() + 1.2 } }
        try await writer.write(Note(text: "early"))
        let reader = try fixture.open { $0.clockSkew = .milliseconds(200) }
        let updates = Watching(try reader.updates(of: Note.self))
        let update = try await updates.next { $0.value != nil }
        #expect(update.value?.text == "early")
    }

    @Test(.enabled(if: SystemClock.canBeSet)) func settingTheClockMakesForAnotherLook() async throws {
        let clock = TestClock(Date())
        let store = try fixture.open { $0.now = { clock.now } }
        try await store.write(Note(text: "short", expiresAt: clock.now + 600))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "short")
        clock.advance(by: 700)
        SystemClock.set()
        #expect(try await updates.next(\.refusal) == .stale)
    }
}
