import ContentDecoding
import Testing

@Suite struct ValuePathTests {
    @Test func aTrailReadsLikeThePathOfTheValue() {
        let trail = ValuePath()
        for step in [ValuePath.Step.key("accounts"), .index(2), .key("state"), .form("base64"), .form("plist")] {
            trail.enter(step)
        }
        trail.enter(.key("user"))
        #expect(trail.text == "accounts[2].state > base64 > plist: user")
        trail.leave(to: 1)
        #expect(trail.text == "accounts")
    }

    /// A single Character may have megabytes.
    @Test(arguments: [true, false])
    func aNameIsCutByItsBytes(isKey: Bool) {
        let step = { isKey ? ValuePath.Step.key($0) : .words($0) }
        let trail = ValuePath()
        trail.enter(step("e" + String(repeating: "\u{301}", count: 1_000_000)))
        #expect(trail.text.utf8.count == 95 + "…".utf8.count)
        #expect(trail.text.unicodeScalars.filter { $0 == "\u{301}" }.count == 47)
        trail.leave()
        trail.enter(step(String(repeating: "n", count: 96)))
        #expect(trail.text == String(repeating: "n", count: 96))
    }

    @Test func aLongWayKeepsItsBeginningAndItsEnd() {
        let trail = ValuePath()
        trail.enter(.key("first"))
        for index in 0..<32 { trail.enter(.key("\(index)" + String(repeating: "é", count: 47))) }
        trail.enter(.key("last"))
        #expect(trail.text.hasPrefix("first.0é"))
        #expect(trail.text.hasSuffix("é.last"))
        #expect((500...520).contains(trail.text.utf8.count))
        #expect(!trail.text.contains("\u{FFFD}"))
    }

    @Test func possibleSecretsAreReplacedInThePathsText() {
        let trail = ValuePath()
        let token = "ghp_" + String(repeating: "aB3", count: 12)
        trail.enter(.words("table \(token)"))
        trail.enter(.key(token))
        trail.enter(.key("a.name.that.is.long.too"))
        var asked: [String] = []
        let text = trail.text { name in
            asked.append(name)
            return name.hasPrefix("ghp_") ? "‹key of \(name.count) characters›" : nil
        }
        #expect(text == "table ‹key of 40 characters›, ‹key of 40 characters›.a.name.that.is.long.too")
        #expect(asked == [token, token, "a.name.that.is.long.too"])
        trail.replacement = { _ in "‹key›" }
        #expect(trail.text == "table ‹key›, ‹key›.‹key›")
    }

    /// Notes are text as well.
    @Test func possibleSecretsAreReplacedInNotes() {
        let walk = ValueWalk(budget: CarrierBudget()) { _ in }
        walk.trail.replacement = { _ in "‹key›" }
        walk.trail.enter(.key("sk_live_0123456789abcdef"))
        walk.note(.cut)
        #expect(walk.budget.unread.map(\.place) == ["‹key›"])
    }

    @Test func aFileOfLongNamesTakesLittleMemory() {
        let name = "e" + String(repeating: "\u{301}", count: 50_000)
        let json = #"{"\#(name)": ["# + String(repeating: #""v","#, count: 999) + #""v"]}"#
        let seen = SeenCarrier(Array(json.utf8))
        #expect(seen.leaves.filter { $0.text == "v" }.count == 1000)
        #expect(seen.leaves.allSatisfy { $0.place.utf8.count < 120 })
    }
}
