import SealedState
import Testing

/// Tests of changes that are detected byte by byte, and of values that are read with the type that was written.
@Suite("SealedDefaults: equality of values") struct DefaultsSamenessTests {
    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws { sandbox = try DefaultsSandbox() }

    @Test func aTextInOtherScalarsIsWritten() throws {
        try defaults.set("\u{E9}", forKey: "key")
        try defaults.set("e\u{301}", forKey: "key")
        let read = try #require(try sandbox.again().string(forKey: "key"))
        #expect(Array(read.utf8) == Array("e\u{301}".utf8))
    }

    @Test func aKeyInOtherScalarsIsTheSameKeyAndCanBeRewritten() throws {
        try defaults.set(1, forKey: "\u{E9}")
        try defaults.set(2, forKey: "e\u{301}")
        #expect(try sandbox.again().persistentDomain().count == 1)
        #expect(try sandbox.again().integer(forKey: "\u{E9}") == 2)
        try defaults.edit { $0 = ["e\u{301}": .integer(2)] }
        let key = try #require(try sandbox.again().persistentDomain().keys.first)
        #expect(Array(key.utf8) == Array("e\u{301}".utf8))
    }

    /// Calls the synchronous form.
    private func set(_ value: some DefaultsValue, forKey key: String) throws { try defaults.set(value, forKey: key) }

    @Test func aRepeatedNaNIsNotWrittenAgain() async throws {
        try set(Double.nan, forKey: "key")
        let before = try sandbox.store.list(includingReserved: true).first?.provenance?.sequence
        try set(Double.nan, forKey: "key")
        #expect(try sandbox.store.list(includingReserved: true).first?.provenance?.sequence == before)
        var changes = try defaults.changes().makeAsyncIterator()
        try set(1, forKey: "other")
        #expect(await changes.next()?.keys == ["other"])
    }

    @Test func anEmptyArrayIsAnArrayOfItsType() throws {
        try defaults.set([String](), forKey: "texts")
        try defaults.set([Int](), forKey: "numbers")
        try defaults.set([[UInt8]](), forKey: "blobs")
        try defaults.set(["a": [Bool]()], forKey: "nested")
        try defaults.set([UInt8](), forKey: "bytes")
        let read = try sandbox.again()
        for key in ["texts", "numbers", "blobs"] { #expect(try read.object(forKey: key) == .array([])) }
        #expect(try read.object(forKey: "nested") == .dictionary(["a": .array([])]))
        #expect(try read.object(forKey: "bytes") == .data([]))
        #expect(try read.stringArray(forKey: "texts") == [])
        #expect(try read.value(for: DefaultsKey<[String]>("texts", default: ["x"])) == [])
        #expect(try read.value(for: DefaultsKey<[UInt8]>("bytes", default: [1])) == [])
        #expect(code { _ = try read.value(for: DefaultsKey<[Int]>("bytes", default: [1])) } == .undecodable)
    }

    struct Window: Codable, DefaultsValue, Equatable, Sendable { var width: Int }

    @Test func aTypeThatTakesLongIsMadeAgainWhenTheValueIsAnother() throws {
        let (key, optional) = (DefaultsKey("window", default: Window(width: 0)), DefaultsKey<Window?>("window"))
        for width in 1...3 {
            try sandbox.again().set(Window(width: width), for: key)
            for _ in 0..<2 {
                #expect(try defaults.value(for: key).width == width)
                #expect(try defaults.value(for: optional)?.width == width)
            }
            #expect(try defaults.value(for: DefaultsKey<[String: Int]>("window", default: [:])) == ["width": width])
        }
    }

    @Test func theLastCallsHaveFormsForTasks() async throws {
        try await defaults.set(encoding: Window(width: 4), forKey: "window")
        #expect(try defaults.decode(Window.self, forKey: "window")?.width == 4)
        try await defaults.setPersistentDomain(["only": .bool(true)])
        #expect(try defaults.persistentDomain() == ["only": .bool(true)])
    }
}
