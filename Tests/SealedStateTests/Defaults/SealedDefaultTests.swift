import Glibc
import SealedState
import Synchronization
import Testing

@Suite("@SealedDefault") struct SealedDefaultTests {
    private final class ReceivedEvents: Sendable {
        let failures = Mutex<[StoreError.Code]>([])
        var all: [StoreError.Code] { failures.withLock { $0 } }
    }

    struct Settings {
        @SealedDefault<Int> var count: Int
        @SealedDefault<String?> var name: String?

        init(_ defaults: SealedDefaults) {
            _count = SealedDefault(wrappedValue: 5, "count", in: defaults)
            _name = SealedDefault("name", in: defaults)
        }
    }

    private let received = ReceivedEvents()
    let sandbox: DefaultsSandbox
    let settings: Settings

    init() throws {
        sandbox = try DefaultsSandbox { [received] options in
            options.maximumValueSize = 100
            options.onFailure = { error in received.failures.withLock { $0.append(error.code) } }
        }
        settings = Settings(sandbox.defaults)
    }

    @Test func aPropertyReadsAndWritesTheSuite() throws {
        #expect(settings.count == 5 && settings.name == nil)
        settings.count = 6
        settings.name = "ada"
        #expect(try sandbox.other().ask("get count") == "6")
        #expect(try sandbox.other().ask("set name bob") == "done")
        #expect(settings.name == "bob" && settings.count == 6)
        settings.name = nil
        #expect(try sandbox.defaults.persistentDomain() == ["count": .integer(6)])
        #expect(received.all.isEmpty)
    }

    @Test func aRefusedSuiteShowsTheLastKnownValueAndIsReported() throws {
        settings.count = 6
        #expect(settings.count == 6)
        try sandbox.damage(sandbox.file)
        #expect(settings.count == 6)
        // Never read before: the property's own default.
        #expect(settings.name == nil)
        settings.count = 7
        #expect(settings.count == 6)
        #expect(received.all == [.tampered, .tampered, .tampered, .tampered])
    }

    @Test func aValueDerivedFromAPlaceholderIsNotWritten() throws {
        try sandbox.defaults.set("many", forKey: "count")
        settings.count += 1
        #expect(try sandbox.defaults.string(forKey: "count") == "many")
        #expect(received.all == [.undecodable, .undecodable])
        settings.count = 8
        #expect(try sandbox.defaults.string(forKey: "count") == "many")
        try settings.$count.set(8)
        settings.count += 1
        #expect(settings.count == 9 && received.all.count == 3)
    }

    @Test func aValueThatCannotBeSetIsReportedAndTheOldOneRemains() throws {
        settings.name = "short"
        settings.name = String(repeating: "x", count: 101)
        #expect(settings.name == "short")
        #expect(received.all == [.tooLarge])
    }

    @Test func theCallsBehindAPropertyThrow() async throws {
        #expect(try settings.$count.value() == 5)
        try await settings.$count.set(1)
        #expect(try await settings.$count.update { $0 += 1 } == 2)
        var values = try settings.$count.changes().makeAsyncIterator()
        #expect(await values.next() == 2)
        try await settings.$count.remove()
        #expect(await values.next() == 5)
        try sandbox.damage(sandbox.file)
        #expect(code { _ = try settings.$count.value() } == .tampered)
    }

    @Test func aKeyMakesAProperty() throws {
        let key = DefaultsKey("count", default: 1)
        @SealedDefault(key, in: sandbox.defaults) var count
        count += 1
        #expect(try sandbox.defaults.value(for: key) == 2)
    }
}
