import PropertyLists
import Testing

/// Tests of equality: two values are equal if they are written alike.
@Suite struct PropertyListEqualityTests {
    private static let composed = "\u{E9}", decomposed = "e\u{301}"

    struct Pair: Sendable {
        let one: PropertyListValue
        let other: PropertyListValue
        init(_ one: PropertyListValue, _ other: PropertyListValue) { (self.one, self.other) = (one, other) }
    }

    static let different = [
        Pair(.string(composed), .string(decomposed)), Pair(.array([.string(composed)]), .array([.string(decomposed)])),
        Pair(.dictionary([composed: .bool(true)]), .dictionary([decomposed: .bool(true)])),
        Pair(.dictionary(["a": .string(composed)]), .dictionary(["a": .string(decomposed)])),
        Pair(.real(0), .real(-0.0)), Pair(.real(1), .integer(1)), Pair(.integer(1), .bool(true)),
        Pair(.data([]), .array([])), Pair(.string(""), .string("\0")), Pair(.dictionary([:]), .array([])),
    ]

    @Test(arguments: different) func anotherSpellingIsAnotherValue(pair: Pair) {
        #expect(pair.one != pair.other)
        #expect(Set([pair.one, pair.other]).count == 2)
    }

    static let same: [PropertyListValue] = [
        .real(.nan), .array([.real(.nan)]), .dictionary(["a": .real(.nan), "b": .string(""), composed: .data([1])]),
        .string(""), .dictionary([:]), .unsigned(.max),
    ]

    @Test(arguments: same) func aValueIsItself(value: PropertyListValue) throws {
        let read = try PropertyList.parse(PropertyList.bytes(of: value, as: .binary)).value
        #expect(read == value && read.hashValue == value.hashValue)
    }

    @Test func theOrderOfMembersDoesNotCount() {
        let keys = (0..<100).map { "key \($0)" }
        var one: [String: PropertyListValue] = [:]
        var other: [String: PropertyListValue] = Dictionary(minimumCapacity: 1000)
        for key in keys { one[key] = .string(key) }
        for key in keys.reversed() { other[key] = .string(key) }
        #expect(PropertyListValue.dictionary(one) == .dictionary(other))
        #expect(Set([PropertyListValue.dictionary(one), .dictionary(other)]).count == 1)
    }
}
