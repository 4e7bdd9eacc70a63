import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

@Suite("SealedDefaults that are watched", .timeLimit(.minutes(10))) struct DefaultsWatchTests {
    private final class ReceivedEvents: Sendable {
        let failures = Mutex<[StoreError.Code]>([])
    }

    private let received = ReceivedEvents()
    let sandbox: DefaultsSandbox
    let key = DefaultsKey("key", default: 0)
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws {
        sandbox = try DefaultsSandbox { [received] options in
            options.onFailure = { error in received.failures.withLock { $0.append(error.code) } }
        }
    }

    @Test func thePresentValueComesFirstAndThenEveryOtherOne() async throws {
        let other = try sandbox.other()
        var values = try defaults.changes(of: key).makeAsyncIterator()
        #expect(await values.next() == 0)
        for number in 1...20 {
            #expect(try other.ask("add key") == "\(number)")
            #expect(await values.next() == number)
        }
        // Another key, the same value, then another value.
        #expect(try other.ask("set other x") == "done")
        try await defaults.set(20, for: key)
        try await defaults.set(21, for: key)
        #expect(await values.next() == 21)
        try await defaults.remove(key)
        #expect(await values.next() == 0)
    }

    @Test func theDomainsBehindTheSuiteAreWatchedAsWell() async throws {
        var values = try defaults.changes(of: key).makeAsyncIterator()
        #expect(await values.next() == 0)
        try defaults.register(defaults: ["key": 1])
        #expect(await values.next() == 1)
        try defaults.addSuite(named: "behind")
        #expect(try sandbox.other(suite: "behind").ask("add key") == "1")
        try await defaults.set(2, for: key)
        #expect(await values.next() == 2)
        #expect(try sandbox.other(suite: "behind").ask("add key") == "2")
        try await defaults.set(3, for: key)
        #expect(await values.next() == 3)
        try await defaults.remove(key)
        #expect(await values.next() == 2)
        #expect(try sandbox.other(suite: "behind").ask("add key") == "3")
        #expect(await values.next() == 3)
    }

    @Test func changesNameTheKeys() async throws {
        try await defaults.set(1, forKey: "stays")
        try await defaults.set(1, forKey: "goes")
        var changes = try defaults.changes().makeAsyncIterator()
        try await defaults.edit { values in
            values["comes"] = .bool(true)
            values["goes"] = nil
        }
        let change = try #require(await changes.next())
        #expect(change.keys == ["comes", "goes"] && change.rejection == nil)
        try await defaults.removePersistentDomain()
        #expect(await changes.next()?.keys == ["comes", "stays"])
    }

    @Test func aRefusedSuiteIsReportedAndARepairedOneAsWell() async throws {
        try await defaults.set(1, for: key)
        var changes = try defaults.changes().makeAsyncIterator()
        var values = try defaults.changes(of: key).makeAsyncIterator()
        #expect(await values.next() == 1)
        let good = try sandbox.keep(sandbox.file)
        try sandbox.damage(sandbox.file)
        let refused = try #require(await changes.next())
        #expect(refused.keys.isEmpty && (refused.rejection?.code == .tampered || refused.rejection?.code == .absent))
        var last = refused
        while last.rejection?.code == .absent { last = try #require(await changes.next()) }
        #expect(last.rejection?.code == .tampered)
        try sandbox.put(good, at: sandbox.file)
        while last.rejection != nil { last = try #require(await changes.next()) }
        #expect(last.keys.isEmpty)
        try await defaults.set(2, for: key)
        #expect(await changes.next()?.keys == ["key"])
        #expect(await values.next() == 2)
    }

    @Test func aValueOfAnotherTypeIsWaitedOut() async throws {
        var values = try defaults.changes(of: key).makeAsyncIterator()
        #expect(await values.next() == 0)
        try await defaults.set("text", forKey: "key")
        async let next = values.next()
        while received.failures.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
        try await defaults.set(5, forKey: "key")
        #expect(await next == 5)
        #expect(received.failures.withLock { $0 } == [.undecodable])
    }

    @Test func aContainerThatIsRemovedAndMadeAgainIsFollowed() async throws {
        try await defaults.set(1, for: key)
        var values = try defaults.changes(of: key).makeAsyncIterator()
        #expect(await values.next() == 1)
        try FileTree.remove(sandbox.fixture.container)
        let successor = try sandbox.fixture.open().defaults()
        try await successor.set(2, for: key)
        #expect(await values.next() == 2)
        try await successor.set(3, for: key)
        #expect(await values.next() == 3)
    }

    @Test func iteratingEndsWithItsTask() async throws {
        let values = try defaults.changes(of: key)
        let task = Task {
            for await _ in values { received.failures.withLock { $0.append(.cancelled) } }
        }
        while received.failures.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        await task.value
    }
}
