import SealedState
import Testing

@Suite("SealedDefaults: the domain of a value") struct DefaultsSearchTests {
    let key = DefaultsKey("key", default: "the key's own")

    @Test func eachDomainCoversTheOnesBehindIt() throws {
        let sandbox = try DefaultsSandbox()
        let defaults = sandbox.defaults
        let (first, second) = (try sandbox.store.defaults(suite: "first"), try sandbox.store.defaults(suite: "second"))
        #expect(try defaults.value(for: key) == "the key's own")
        try defaults.register(defaults: ["key": "registered", "number": 3])
        #expect(try defaults.value(for: key) == "registered")
        try defaults.addSuite(named: "first")
        try defaults.addSuite(named: "second")
        try second.set("second", forKey: "key")
        #expect(try defaults.value(for: key) == "second")
        try first.set("first", forKey: "key")
        #expect(try defaults.value(for: key) == "first")
        try defaults.set("own", for: key)
        #expect(try defaults.value(for: key) == "own")
        #expect(try defaults.dictionaryRepresentation() == ["key": .string("own"), "number": .integer(3)])
        // Values of suites behind are not written to the suite in front.
        #expect(try defaults.persistentDomain() == ["key": .string("own")])
        try defaults.remove(key)
        try defaults.removeSuite(named: "first")
        #expect(try defaults.value(for: key) == "second")
    }

    @Test func argumentsComeFirstWhereTheProgramAsksForThem() throws {
        let sandbox = try DefaultsSandbox {
            $0.arguments = [
                "program", "-key", "argument", "-count", "12", "-on", "YES", "--long", "x", "-list", "(a, b)", "-end",
            ]
        }
        try sandbox.defaults.set("own", for: key)
        #expect(try sandbox.defaults.value(for: key) == "argument")
        #expect(try sandbox.defaults.value(for: DefaultsKey("count", default: 0)) == 12)
        #expect(try sandbox.defaults.value(for: DefaultsKey("on", default: false)))
        #expect(try sandbox.defaults.integer(forKey: "count") == 12)
        #expect(try sandbox.defaults.bool(forKey: "on"))
        #expect(try sandbox.defaults.object(forKey: "end") == nil)
        #expect(try sandbox.defaults.object(forKey: "long") == nil)
        #expect(try sandbox.again().value(for: key) == "own")
        #expect(try sandbox.defaults.persistentDomain() == ["key": .string("own")])
    }

    @Test func anUpdateStartsWithWhatShows() throws {
        let defaults = try DefaultsSandbox().defaults
        try defaults.register(defaults: ["count": 10])
        #expect(try defaults.update(DefaultsKey("count", default: 0)) { $0 += 1 } == 11)
        #expect(try defaults.persistentDomain() == ["count": .integer(11)])
    }

    @Test func anAddedSuiteThatIsRefusedIsReported() throws {
        let sandbox = try DefaultsSandbox()
        try sandbox.store.defaults(suite: "first").set(1, forKey: "key")
        try sandbox.defaults.addSuite(named: "first")
        #expect(try sandbox.defaults.integer(forKey: "key") == 1)
        try sandbox.damage("\(sandbox.preferences)/first.sealed")
        #expect(code { _ = try sandbox.defaults.integer(forKey: "key") } == .tampered)
        // A value of the suite itself does not need the suites behind it.
        try sandbox.defaults.set(2, forKey: "key")
        #expect(try sandbox.defaults.integer(forKey: "key") == 2)
    }
}
