import FoundationEssentials
import RegexBuilder
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// A record whose rules are each written in one line.
struct Profile: SealedRecord, Equatable {
    static let recordName = "profile"
    static let schemaVersion = 1

    var name = "Ada"
    var nickname: String?
    var age = 36
    var plan = "free"
    var slug = "ada-l"
    var tags: [String] = []
    var teamID: Int?
    var issuedAt = Date(timeIntervalSince1970: 1_000)
    var endsAt = Date(timeIntervalSince1970: 2_000)
    var isCursed = false
    var isTeam: Bool { plan == "team" }

    static let rules: [FieldRule<Self>] = [
        .field("name", \.name, .notEmpty, .length(...10)),
        .field("nickname", \.nickname, .length(2...5)),
        .field("age", \.age, .range(0...150)),
        .field("plan", \.plan, .oneOf("free", "team")),
        .field("slug", \.slug, .matches(/[a-z-]+/, upTo: 12, "must have lower-case letters and dashes")),
        .field("tags", \.tags, .length(...2), .custom("must not repeat") { Set($0).count == $0.count }),
        .field("teamID", \.teamID, .required(when: \.isTeam), .range(1...)),
        .that("endsAt", "must be after issuedAt") { $0.endsAt > $0.issuedAt },
    ]

    func validate() throws(ValidationFailure) {
        if isCursed { throw ValidationFailure([("isCursed", "must not be"), ("", "Nothing cursed is kept.")]) }
    }
}

/// A record with optional fields and no other rules.
private struct Form: SealedRecord, Equatable {
    static let recordName = "form"
    static let schemaVersion = 1
    var name: String?
    var count: Int?
    var tags: [String]?
    var isFilled = true

    static let rules: [FieldRule<Self>] = [
        .field("name", \.name, .required),
        .field("count", \.count, .required(when: \.isFilled)),
        .field("tags", \.tags, .required(when: { $0.isFilled })),
        .field("tags", \.tags),
        .field("isFilled", \.isFilled),
    ]
}

@Suite struct FieldRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let change: @Sendable (inout Profile) -> Void
        init(_ field: String, _ change: @escaping @Sendable (inout Profile) -> Void) {
            self.field = field
            self.change = change
        }
        var testDescription: String { field }
    }

    static let broken: [Case] = [
        Case("name") { $0.name = "" }, Case("name") { $0.name = "eleven char" },
        Case("nickname") { $0.nickname = "x" }, Case("nickname") { $0.nickname = "abcdef" },
        Case("age") { $0.age = -1 }, Case("age") { $0.age = 151 },
        Case("plan") { $0.plan = "gold" },
        Case("slug") { $0.slug = "Ada" }, Case("slug") { $0.slug = "ada l" },
        Case("slug") { $0.slug = "aaaaaaaaaaaaa" }, Case("slug") { $0.slug = "" },
        Case("tags") { $0.tags = ["a", "b", "c"] }, Case("tags") { $0.tags = ["a", "a"] },
        Case("teamID") { $0.plan = "team" }, Case("teamID") { $0.teamID = 0 },
        Case("endsAt") { $0.endsAt = $0.issuedAt },
    ]

    static let kept: [Case] = [
        Case("name") { $0.name = "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦" }, Case("name") { $0.name = "ten  chars" },
        Case("nickname") { $0.nickname = "ab" }, Case("nickname") { $0.nickname = "abcde" },
        Case("age") { $0.age = 0 }, Case("age") { $0.age = 150 }, Case("plan") { ($0.plan, $0.teamID) = ("team", 1) },
        Case("slug") { $0.slug = "aaaaaaaaaaaa" }, Case("tags") { $0.tags = ["a", "b"] },
    ]

    private func violations(_ profile: Profile) -> [ValidationFailure.Violation] {
        let fixture = try? StoreFixture()
        let error = refusal { try fixture?.open().write(profile) }
        return (error?.cause as? ValidationFailure)?.violations ?? []
    }

    @Test func aValueThatKeepsAllRulesIsWrittenAndRead() throws {
        let store = try StoreFixture().open()
        try store.write(Profile())
        #expect(try store.read(Profile.self) == Profile())
    }

    @Test(arguments: broken) func aBrokenRuleIsReportedByField(_ broken: Case) {
        var profile = Profile()
        broken.change(&profile)
        #expect(violations(profile).map(\.field) == [broken.field])
    }

    @Test(arguments: kept) func theLimitItselfIsAllowed(_ kept: Case) {
        var profile = Profile()
        kept.change(&profile)
        #expect(violations(profile) == [])
    }

    @Test func allBrokenRulesAreReportedInOrderWithThoseOfValidate() {
        var profile = Profile(name: "", age: 200, plan: "gold", tags: ["a", "a", "a"], isCursed: true)
        profile.endsAt = profile.issuedAt
        #expect(
            violations(profile).map(\.field)
                == ["name", "age", "plan", "tags", "tags", "endsAt", "isCursed", ""])
    }

    @Test func aMissingFieldKeepsEveryRuleButRequired() {
        #expect(violations(Profile(nickname: nil, teamID: nil)) == [])
    }

    @Test func aReaderChecksTheRulesAsWell() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var forgery = try Forgery(store)
        (forgery.name, forgery.schemaVersion) = (Profile.recordName, 1)
        var profile = Profile(name: "", age: 999)
        profile.isCursed = true
        forgery.payload = .bytes(Array(try JSONCodec.encode(profile)))
        try fixture.plant(forgery.blob, Profile.recordName)
        let error = try #require(refusal { _ = try store.read(Profile.self) })
        #expect(error.code == .invalid)
        #expect((error.cause as? ValidationFailure)?.violations.map(\.field) == ["name", "age", "isCursed", ""])
    }

    @Test func noMessageHoldsAValue() {
        let profile = Profile(
            name: "canary-name-value", nickname: "canary-nick", age: 987_654, plan: "canary-plan", slug: "CANARY-SLUG",
            tags: ["canary-tag", "canary-tag"], teamID: -4711)
        let text = ValidationFailure(violations(profile).map { ($0.field, $0.reason) }).description.lowercased()
        #expect(violations(profile).count >= 7)
        for word in ["canary", "987", "4711"] { #expect(!text.contains(word)) }
        #expect(text.contains("150") && text.contains("10"))
    }

    @Test func aPatternIsSafeFromManyThreads() throws {
        let rule = FieldRule<Profile>.field("slug", \.slug, .matches(/(a|b)+/))
        _ = try concurrently(8) { index in
            for _ in 0..<200 {
                #expect(rule.violations(Profile(slug: index % 2 == 0 ? "abab" : "abac")).isEmpty == (index % 2 == 0))
            }
        }
    }

    @Test func aPatternIsMadeOnce() {
        let rule = FieldRule<Profile>.field("slug", \.slug, .matches(Self.countedPattern()))
        for _ in 0..<5 { #expect(rule.violations(Profile()) == []) }
        #expect(Self.made.withLock { $0 } == 1)
    }

    private static let made = Mutex(0)
    private static func countedPattern() -> Regex<Substring> {
        made.withLock { $0 += 1 }
        return /.*/
    }

    // A match can take long; other users of the same pattern must not wait for it.
    @Test func aPatternIsNotHeldWhileItIsMatched() {
        let inner = Mutex<FieldRule<Profile>?>(nil)
        let nested = Mutex<[String]?>(nil)
        let rule = FieldRule<Profile>.field(
            "slug", \.slug,
            .matches(
                Regex {
                    TryCapture {
                        OneOrMore(.any)
                    } transform: { text in
                        if text == "outer" {
                            let violations = inner.withLock { $0 }?.violations(Profile(slug: "inner"))
                            nested.withLock { $0 = violations }
                        }
                        return text
                    }
                }))
        inner.withLock { $0 = rule }
        #expect(rule.violations(Profile(slug: "outer")) == [])
        #expect(nested.withLock { $0 } == [])
    }

    @Test func aFieldThatMayBeMissingCanBeRequiredAndNothingElse() {
        #expect(ValidationFailure(of: Form())?.violations.map(\.field) == ["name", "count", "tags"])
        #expect(ValidationFailure(of: Form(isFilled: false))?.violations.map(\.field) == ["name"])
        #expect(ValidationFailure(of: Form(name: "", count: 0, tags: [])) == nil)
    }

    private typealias Length = FieldConstraint<Profile, String>

    @Test func lengthsTakeAnyKindOfRange() {
        func allows(_ constraint: Length, _ count: Int) -> Bool {
            constraint.violation(Profile(), String(repeating: "x", count: count)) == nil
        }
        for open in [Length.length(1...Int.max), .length(1..<Int.max), .length(1...)] {
            #expect(!allows(open, 0) && allows(open, 1) && allows(open, 100))
        }
        #expect(allows(.length(...Int.max), 0) && allows(.length(..<Int.max), 100))
        #expect(allows(.length(-5...2), 0) && allows(.length(-5...2), 2) && !allows(.length(-5...2), 3))
        #expect(allows(.length(..<2), 1) && !allows(.length(..<2), 2))
        #expect(allows(.length(0...0), 0) && !allows(.length(0...0), 1))
    }

    @Test func rangesMayEndBelowABound() {
        func allows(_ constraint: FieldConstraint<Profile, Int>, _ value: Int) -> Bool {
            constraint.violation(Profile(), value) == nil
        }
        #expect(allows(.range(0..<5), 0) && allows(.range(0..<5), 4))
        #expect(!allows(.range(0..<5), -1) && !allows(.range(0..<5), 5))
        #expect(allows(.range(..<5), 4) && !allows(.range(..<5), 5))
    }

    @Test func aRuleThatNothingCanKeepIsAnErrorOfItsAuthor() async {
        await #expect(processExitsWith: .failure) { _ = FieldConstraint<String, String>.length(5..<5) }
        await #expect(processExitsWith: .failure) { _ = FieldConstraint<String, String>.length(...(-1)) }
        await #expect(processExitsWith: .failure) { _ = FieldConstraint<String, Int>.range(5..<5) }
        await #expect(processExitsWith: .failure) { _ = FieldConstraint<String, String>.matches(/a/, upTo: -1) }
    }

    @Test func aPatternIsMatchedAgainst64BytesUnlessStated() {
        let rule = FieldRule<Profile>.field("slug", \.slug, .matches(/a+/))
        #expect(rule.violations(Profile(slug: String(repeating: "a", count: 64))) == [])
        #expect(rule.violations(Profile(slug: String(repeating: "a", count: 65))) != [])
    }
}
