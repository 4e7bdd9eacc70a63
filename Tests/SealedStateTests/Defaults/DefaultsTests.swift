import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@Suite("SealedDefaults") struct DefaultsTests {
    enum Theme: String, DefaultsValue { case light, dark }
    enum Level: Int, Codable, DefaultsValue { case low = 1, high = 9 }
    struct Window: Codable, DefaultsValue, Equatable, Sendable {
        var width: Int
        var title: String?
        var opened: Date
    }

    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws { sandbox = try DefaultsSandbox() }

    private func returns<Value: DefaultsValue & Equatable & Sendable>(_ value: Value) throws -> Bool {
        let key = DefaultsKey<Value?>("key")
        try defaults.set(value, for: key)
        // The second read is from the file, not from memory.
        return try defaults.value(for: key) == value && sandbox.again().value(for: key) == value
    }

    @Test func aValueOfEveryTypeReadsBack() throws {
        #expect(try returns("text ✓"))
        #expect(try returns(true) && returns(false))
        #expect(try returns(Int.min) && returns(Int8(-3)) && returns(UInt64.max) && returns(UInt8(200)))
        #expect(try returns(0.1) && returns(-Double.infinity) && returns(Float(1.5)))
        #expect(try returns(Date(timeIntervalSinceReferenceDate: 1234.5)))
        #expect(try returns(Data([0, 255])) && returns([UInt8]([1, 2, 3])) && returns([UInt8]()))
        #expect(try returns(URL(fileURLWithPath: "/tmp/a b")))
        #expect(try returns(try #require(URL(string: "https://example.com/?q=1"))))
        #expect(try returns(["a", "b"]) && returns([[1], [2, 3]]) && returns([String: Int]()))
        #expect(try returns(["one": [1.5], "none": []]))
        #expect(try returns(Theme.dark) && returns(Level.high))
        #expect(try returns(Window(width: 3, title: nil, opened: Date(timeIntervalSinceReferenceDate: 0))))
        #expect(try returns([Window(width: 3, title: "x", opened: .distantFuture)]))
        #expect(try returns(PropertyListValue.dictionary(["a": .array([.bool(true)])])))
    }

    @Test func aTypeKeepsToItsRawValue() throws {
        try defaults.set(Level.high, forKey: "level")
        try defaults.set(Theme.dark, forKey: "theme")
        #expect(try defaults.object(forKey: "level") == .integer(9))
        #expect(try defaults.object(forKey: "theme") == .string("dark"))
    }

    @Test func anUnsetKeyHasItsDefault() throws {
        #expect(try defaults.value(for: DefaultsKey("theme", default: Theme.light)) == .light)
        #expect(try defaults.value(for: DefaultsKey<Int?>("count")) == nil)
        #expect(try defaults.object(forKey: "count") == nil)
        #expect(try defaults.persistentDomain().isEmpty)
        // Reading creates nothing.
        #expect(!SystemFile.exists(sandbox.file))
    }

    @Test(arguments: ["theme", "level", "window", "number"])
    func aValueOfAnotherTypeIsReportedAndNeverTheDefault(key: String) throws {
        let wrong: [String: PropertyListValue] = [
            "theme": .string("pink"), "level": .integer(3), "window": .array([]), "number": .string("7"),
        ]
        try defaults.setPersistentDomain(wrong)
        let code = code {
            switch key {
            case "theme": _ = try defaults.value(for: DefaultsKey(key, default: Theme.light))
            case "level": _ = try defaults.value(for: DefaultsKey(key, default: Level.low))
            case "window": _ = try defaults.value(for: DefaultsKey<Window?>(key))
            default: _ = try defaults.value(for: DefaultsKey(key, default: 0))
            }
        }
        #expect(code == .undecodable)
    }

    @Test func noErrorNamesAValue() throws {
        try defaults.set("secret-text", forKey: "number")
        let error = try #require(refusal { _ = try defaults.value(for: DefaultsKey("number", default: 0)) })
        #expect(!error.description.contains("secret-text"))
        let fault = try #require(refusal { try defaults.set([Double.nan, nil], forKey: "number") })
        #expect(fault.code == .unencodable)
    }

    @Test func nilAndRemovalTakeAKeyAway() throws {
        let key = DefaultsKey<String?>("name")
        try defaults.set("ada", for: key)
        try defaults.set(nil, for: key)
        #expect(try defaults.persistentDomain().isEmpty)
        try defaults.set("ada", for: key)
        try defaults.remove(key)
        #expect(try defaults.persistentDomain().isEmpty)
        // Removing a missing value is no change.
        try defaults.removeObject(forKey: "never")
    }

    @Test func aSuiteIsOneSealedFileInPreferences() throws {
        try defaults.set("canary-value", forKey: "canary-key")
        #expect(try SystemFile.names(sandbox.preferences) == ["\(sandbox.fixture.group).sealed"])
        let bytes = try SystemFile.read(sandbox.file)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("canary") && !text.contains("bplist"))
        var status = stat()
        #expect(stat(sandbox.file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func suitesOfOneGroupAreApart() throws {
        let second = try sandbox.store.defaults(suite: "com.example.second")
        try defaults.set(1, forKey: "key")
        try second.set(2, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 1)
        #expect(try second.integer(forKey: "key") == 2)
        #expect(try sandbox.store.defaultsSuites() == ["com.example.second", sandbox.fixture.group.identifier])
    }

    @Test(arguments: ["", "a/b", "../x", ".hidden", "with space", "x.sealed", String(repeating: "a", count: 201), "ä"])
    func aNameThatIsNotAFileNameIsRefused(name: String) throws {
        #expect(code { _ = try sandbox.store.defaults(suite: name) } == .invalidName)
        #expect(code { try defaults.addSuite(named: name) } == .invalidName)
    }

    @Test func theGroupsOwnSuiteIsOpenedByItsNameAlone() throws {
        #expect(code { _ = try SealedDefaults(suite: "com.example.noGroup") } == .invalidName)
        #expect(defaults.suite == sandbox.fixture.group.identifier)
    }

    @Test func anEditReturnsTheClosuresResult() async throws {
        let first = try await defaults.edit { values in
            values["queue"] = .array([.integer(1)])
            return values.count
        }
        #expect(first == 1)
        #expect(try await defaults.edit { $0.removeValue(forKey: "queue") } == .array([.integer(1)]))
    }

    @Test func severalChangesAreOneWrite() throws {
        try defaults.set(0, forKey: "old")
        try defaults.edit { values in
            values["a"] = .integer(1)
            values["b"] = .string("two")
            values["old"] = nil
        }
        #expect(try defaults.persistentDomain() == ["a": .integer(1), "b": .string("two")])
        #expect(try sandbox.store.list(includingReserved: true).first?.provenance?.sequence == 2)
    }

    @Test func aChangeThatChangesNothingWritesNothing() throws {
        try defaults.set("same", forKey: "key")
        let before = try SystemFile.read(sandbox.file)
        try defaults.set("same", forKey: "key")
        try defaults.edit { _ in }
        try defaults.removeObject(forKey: "other")
        #expect(try SystemFile.read(sandbox.file) == before)
    }

    @Test func aChangeThatThrowsWritesNothing() throws {
        struct Refusal: Error {}
        try defaults.set(1, forKey: "key")
        let error = try #require(
            refusal {
                try defaults.edit { values in
                    values["key"] = nil
                    throw Refusal()
                }
            })
        #expect(error.code == .declined && error.cause is Refusal)
        #expect(try defaults.integer(forKey: "key") == 1)
    }

    @Test func updatingStartsWithTheDefault() throws {
        let key = DefaultsKey("count", default: 40)
        #expect(try defaults.update(key) { $0 += 1 } == 41)
        #expect(try defaults.update(key) { $0 += 1 } == 42)
        #expect(try sandbox.again().value(for: key) == 42)
    }

    @Test func anyCodableValueCanBeSet() throws {
        struct Point: Codable, Equatable {
            var x: Double
        }
        try defaults.set(encoding: [Point(x: 1), Point(x: 2)], forKey: "points")
        #expect(try defaults.decode([Point].self, forKey: "points") == [Point(x: 1), Point(x: 2)])
        #expect(try defaults.decode(Int.self, forKey: "none") == nil)
        #expect(code { _ = try defaults.decode(Int.self, forKey: "points") } == .undecodable)
    }

    @Test func theCallsForTasksDoTheSame() async throws {
        let key = DefaultsKey("count", default: 1)
        try await defaults.set(2, for: key)
        try await defaults.set("x", forKey: "text")
        #expect(try await defaults.update(key) { $0 *= 5 } == 10)
        try await defaults.edit { $0["more"] = .bool(true) }
        try await defaults.remove(DefaultsKey<String?>("text"))
        #expect(try defaults.persistentDomain() == ["count": .integer(10), "more": .bool(true)])
        try await defaults.removePersistentDomain()
        #expect(try defaults.persistentDomain().isEmpty)
    }
}
