import Dispatch
import FoundationEssentials
import Observation
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of a record's state as observable properties.
@Suite(.timeLimit(.minutes(5))) struct LiveRecordTests {
    private let fixture: StoreFixture
    private let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    /// Follows an observed expression until it has a value that fits, as a view does: read, wait for a change, read
    /// again. On the instance's actor no change happens between the reading and the registration.
    private func observe<Part: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ read: () -> Part, until fits: (Part) -> Bool
    ) async -> Part {
        while true {
            let (changes, continuation) = AsyncStream<Void>.makeStream()
            let part = withObservationTracking(read) { continuation.finish() }
            if fits(part) { return part }
            for await _ in changes {}
        }
    }

    @Test func thePresentStateIsThereAtOnce() throws {
        let absent = try LiveRecord(Note.self, in: store)
        #expect(absent.value == nil && absent.rejection == nil && absent.sealedAt == nil && absent.age == nil)
        try store.write(Note(text: "x"))
        let present = try LiveRecord<Note>(in: store)
        #expect(present.value == Note(text: "x") && present.snapshot?.provenance.sequence == 1)
    }

    @MainActor @Test func aChangeByAnotherStoreIsObserved() async throws {
        let other = try fixture.open()
        let live = try LiveRecord(Note.self, in: store)
        for number in 1...5 {
            try await other.write(Note(text: "x", number: number))
            #expect(await observe({ live.value?.number }, until: { $0 == number }) == number)
        }
        try await other.delete(Note.self)
        _ = await observe({ live.value }, until: { $0 == nil })
        #expect(live.rejection == nil)
    }

    // this process | absent | observes                     | the last value
    // child        |        | 40 writes, one after another |
    @MainActor @Test func aChangeByAnotherProcessIsObserved() async throws {
        let live = try LiveRecord(ProbeRecord.self, in: store)
        let child = try ChildProcess(
            "sealed-probe", ["store-increment", fixture.place.path, fixture.group.identifier, "40"])
        #expect(await observe({ live.value?.number }, until: { $0 == 40 }) == 40)
        #expect(try child.finish().exitCode == 0)
    }

    @Test func itChangesOnTheActorThatCreatedIt() async throws {
        let desk = Desk()
        let live = try await desk.live(Note.self, in: store)
        let isOnActor = Mutex<Bool?>(nil)
        withObservationTracking {
            _ = live.value
        } onChange: {
            isOnActor.withLock { $0 = Desk.isCurrent }
        }
        try await store.write(Note(text: "x"))
        for _ in 0..<500 where isOnActor.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(isOnActor.withLock { $0 } == true)
        withExtendedLifetime(desk) {}
    }

    @MainActor @Test func aRefusedRecordHasARejectionAndNoValue() async throws {
        try await store.write(Note(text: "x"))
        let live = try LiveRecord(Note.self, in: store)
        try fixture.plant([UInt8](repeating: 0, count: 64))
        let code = await observe({ live.rejection?.code }, until: { $0 != nil })
        #expect(code == .malformed && live.value == nil)
        let isRejected = if case .rejected = live.outcome { true } else { false }
        #expect(isRejected)
    }

    @MainActor @Test func anExpiryIsObserved() async throws {
        try await store.write(Note(text: "x", expiresAt: Date() + 5))
        let live = try LiveRecord(Note.self, in: store)
        #expect(live.value != nil)
        #expect(await observe({ live.rejection?.code }, until: { $0 != nil }) == .stale)
    }

    @Test func theAgeGrowsByTheStoresClock() throws {
        let clock = TestClock(Date())
        let store = try fixture.open { [place = fixture.place] options in
            options.now = { withExtendedLifetime(place) { clock.now } }
        }
        try store.write(Note(text: "x"))
        let live = try LiveRecord(Note.self, in: store)
        let before = try #require(live.age)
        #expect(before >= .zero && before < .seconds(1))
        clock.advance(by: 90)
        let after = try #require(live.age)
        #expect(after >= .seconds(90) && after < .seconds(91))
    }

    @MainActor @Test func theFirstUpdateOfAnUnchangedRecordNotifiesNobody() async throws {
        try await store.write(Note(text: "x"))
        // No `await` from here until the observer is registered: this actor takes the instance's first update later.
        let live = try LiveRecord(Note.self, in: store)
        let count = Mutex(0)
        withObservationTracking {
            _ = live.value
        } onChange: {
            count.withLock { $0 += 1 }
        }
        // The same record's updates arrive here after the instance's own.
        let updates = Watching(try store.updates(of: Note.self))
        _ = try await updates.next()
        try await Task.sleep(for: .milliseconds(200))
        #expect(count.withLock { $0 } == 0)
    }

    @MainActor @Test func releasingItEndsTheWatch() async throws {
        weak var released: LiveRecord<Note>?
        let follower: Task<Void, Never>?
        do {
            let live = try LiveRecord(Note.self, in: store)
            released = live
            follower = live.follower
            try await store.write(Note(text: "x"))
            _ = await observe({ live.value }, until: { $0 != nil })
        }
        for _ in 0..<500 where released != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(released == nil)
        // Only the task holds the watch.
        let isEnded = Mutex(false)
        let waiting = try #require(follower)
        Task {
            await waiting.value
            isEnded.withLock { $0 = true }
        }
        for _ in 0..<500 where !isEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
        #expect(isEnded.withLock { $0 } == true)
    }

    @Test func anActorThatStoresItIsReleased() async throws {
        weak var released: Keeper?
        do {
            let keeper = Keeper()
            released = keeper
            try await keeper.follow(store)
            try await store.write(Note(text: "x"))
            for _ in 0..<500 {
                if await keeper.value != nil { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(await keeper.value == Note(text: "x"))
        }
        for _ in 0..<500 where released != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(released == nil)
    }

    @Test func itIsKeptUpToDateAfterItsActorWasReleased() async throws {
        weak var released: Desk?
        let live: LiveRecord<Note>
        do {
            let desk = Desk()
            released = desk
            live = try await desk.live(Note.self, in: store)
        }
        for _ in 0..<500 where released != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(released == nil)
        try await store.write(Note(text: "x"))
        for _ in 0..<500 where live.value == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(live.value == Note(text: "x"))
    }

    @Test func anInvalidNameIsAnError() {
        #expect(code { _ = try LiveRecord(Note.self, named: "../x", in: store) } == .invalidName)
    }
}

/// An actor with a queue of its own, by which a callback recognises it.
private actor Desk {
    private static let key = DispatchSpecificKey<Bool>()
    private nonisolated let executor = QueueExecutor(Desk.key)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// `true` on the actor's queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func live<Record: SealedRecord>(
        _ type: Record.Type, in store: SealedStore
    ) throws(StoreError) -> LiveRecord<Record> {
        try LiveRecord(type, in: store)
    }
}

/// An actor with a live record of its own.
private actor Keeper {
    private var live: LiveRecord<Note>?

    var value: Note? { live?.value }

    func follow(_ store: SealedStore) throws(StoreError) { live = try LiveRecord(Note.self, in: store) }
}

private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "LiveRecordTests.desk")

    init(_ key: DispatchSpecificKey<Bool>) { queue.setSpecific(key: key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
