#if Service
import FoundationEssentials
import Glibc
import Logging
import SealedStateService
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import TestSupport
import Testing

private struct Sign: SealedRecord, Equatable {
    static let recordName = "sign"
    static let schemaVersion = 1
    var text: String
    var expiresAt: Date?
}

private struct Refusal: Error {}

@Suite("RecordWatcher", .timeLimit(.minutes(5)))
struct RecordWatcherTests {
    private let place: TemporaryDirectory
    private let store: SealedStore

    init() throws {
        place = try TemporaryDirectory()
        store = try SealedStore(group: AppGroup("group.com.example.watch"), in: GroupsHome(root: place.path))
    }

    @Test func itHandsOverEveryStateUntilTheGracefulShutdown() async throws {
        try await store.write(Sign(text: "open"))
        let (events, continuation) = AsyncStream.makeStream(of: String?.self)
        let watcher = RecordWatcher(store, of: Sign.self) { continuation.yield($0.value?.text) }
        try await testGracefulShutdown { trigger in
            async let running: Void = watcher.run()
            var texts: [String?] = []
            for await text in events {
                texts.append(text)
                if texts.count == 1 { try await store.write(Sign(text: "closed")) }
                if texts.count == 2 { trigger.triggerGracefulShutdown() }
                if texts.count == 2 { break }
            }
            try await running
            #expect(texts == ["open", "closed"])
        }
    }

    @Test func aShutdownLetsTheHandlerFinish() async throws {
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        let finished = Mutex(false)
        let watcher = RecordWatcher(store, of: Sign.self) { [store] _ in
            starting.finish()
            // Fails if its task is cancelled.
            try await store.write(Sign(text: "by the handler"))
            try await Task.sleep(for: .milliseconds(50))
            finished.withLock { $0 = true }
        }
        try await testGracefulShutdown { trigger in
            async let running: Void = watcher.run()
            for await _ in started {}
            trigger.triggerGracefulShutdown()
            try await running
        }
        #expect(finished.withLock { $0 })
    }

    @Test func cancellingEndsIt() async throws {
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        let watcher = RecordWatcher(store, of: Sign.self) { _ in starting.finish() }
        let task = Task { try await watcher.run() }
        for await _ in started {}
        #expect(watcher.health.watching == .running)
        #expect(watcher.health.isHealthy)
        task.cancel()
        try await task.value
        #expect(watcher.health.watching == .ended)
        #expect(!watcher.health.isHealthy)
    }

    @Test func theHandlersErrorEndsIt() async throws {
        let watcher = RecordWatcher(store, of: Sign.self) { _ in throw Refusal() }
        #expect(watcher.health.watching == .notBegun)
        #expect(watcher.health.isHealthy)
        await #expect(throws: Refusal.self) { try await watcher.run() }
        #expect(watcher.health.watching == .failed)
        #expect(!watcher.health.isHealthy)
    }

    @Test func anInvalidNameEndsItAtOnce() async throws {
        let watcher = RecordWatcher(store, of: Sign.self, named: "..") { _ in }
        let error = await #expect(throws: StoreError.self) { try await watcher.run() }
        #expect(error?.code == .invalidName)
        #expect(watcher.health.watching == .failed)
    }

    @Test func aServiceGroupRunsAndEndsIt() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: String?.self)
        let watcher = RecordWatcher(store, of: Sign.self) { continuation.yield($0.value?.text) }
        let group = ServiceGroup(
            services: [watcher], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        async let running: Void = group.run()
        for await text in events {
            if text == nil { try await store.write(Sign(text: "seen")) } else { break }
        }
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test func itsHealthHasTheLastOutcome() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Bool.self)
        let watcher = RecordWatcher(store, of: Sign.self) { continuation.yield($0.rejection != nil) }
        #expect(watcher.health.lastUpdate == nil)
        let task = Task { try await watcher.run() }
        defer { task.cancel() }
        for await isRefused in events {
            #expect(watcher.health.lastUpdate != nil)
            #expect(watcher.health.isHealthy == !isRefused)
            if isRefused { break }
            try SystemFile.write(place.path("garbage"), [1, 2, 3])
            let records = place.path("Containers/group.com.example.watch/Library/Application Support/Records")
            mkdir(records, 0o700)
            #expect(rename(place.path("garbage"), records + "/sign.sealed") == 0)
        }
        #expect(watcher.health.lastRejection?.code == .malformed)
    }
}
#endif
