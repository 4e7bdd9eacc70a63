import FoundationEssentials
import SealedState
import Testing

/// Tests of the conversions that `UserDefaults` documents for its accessors.
@Suite("SealedDefaults by a key's text") struct DefaultsConversionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let value: PropertyListValue
        let text: String?
        let truth: Bool
        let integer: Int
        let number: Double
        var testDescription: String { "\(value)" }

        init(_ value: PropertyListValue, _ text: String?, _ truth: Bool, _ integer: Int, _ number: Double) {
            (self.value, self.text, self.truth, self.integer, self.number) = (value, text, truth, integer, number)
        }
    }

    static let rows = [
        Row(.string("7 dwarfs"), "7 dwarfs", true, 7, 7), Row(.string(" -3.5x"), " -3.5x", true, -3, -3.5),
        Row(.string("YES"), "YES", true, 0, 0), Row(.string("true"), "true", true, 0, 0),
        Row(.string("NO"), "NO", false, 0, 0), Row(.string("0"), "0", false, 0, 0),
        Row(.string("007"), "007", true, 7, 7), Row(.string(""), "", false, 0, 0),
        Row(.string("1e3"), "1e3", true, 1, 1000),
        Row(.string("99999999999999999999"), "99999999999999999999", true, 0, 1e20),
        Row(.integer(-1), "-1", true, -1, -1), Row(.integer(0), "0", false, 0, 0),
        Row(.unsigned(.max), "18446744073709551615", true, 0, 18446744073709551616),
        Row(.real(2.75), "2.75", true, 2, 2.75), Row(.real(-0.5), "-0.5", true, 0, -0.5),
        Row(.real(3), "3", true, 3, 3), Row(.real(1e300), "1e+300", true, 0, 1e300),
        Row(.bool(true), "1", true, 1, 1), Row(.bool(false), "0", false, 0, 0),
        Row(.data([1]), nil, false, 0, 0), Row(.array([]), nil, false, 0, 0), Row(.dictionary([:]), nil, false, 0, 0),
    ]

    @Test(arguments: rows) func textNumbersAndTruthAreConverted(row: Row) throws {
        let defaults = try DefaultsSandbox().defaults
        try defaults.set(row.value, forKey: "key")
        #expect(try defaults.string(forKey: "key") == row.text)
        #expect(try defaults.bool(forKey: "key") == row.truth)
        #expect(try defaults.integer(forKey: "key") == row.integer)
        #expect(try defaults.double(forKey: "key") == row.number)
        #expect(try defaults.float(forKey: "key") == Float(row.number))
    }

    @Test func otherTypesAreNotConverted() throws {
        let defaults = try DefaultsSandbox().defaults
        try defaults.setPersistentDomain([
            "text": .string("https://example.com"), "date": .date(try #require(PropertyListDate(secondsSince2001: 5))),
            "data": .data([1, 2]), "texts": .array([.string("a"), .string("2")]), "path": .string("~/x"),
            "mixed": .array([.string("a"), .integer(2)]),
            "dictionary": .dictionary(["a": .integer(1)]),
        ])
        #expect(try defaults.date(forKey: "date") == Date(timeIntervalSinceReferenceDate: 5))
        #expect(try defaults.date(forKey: "text") == nil)
        #expect(try defaults.data(forKey: "data") == Data([1, 2]))
        #expect(try defaults.data(forKey: "text") == nil)
        #expect(try defaults.url(forKey: "text")?.absoluteString == "https://example.com")
        #expect(try defaults.url(forKey: "data") == nil)
        let path = try #require(try defaults.url(forKey: "path"))
        #expect(path.isFileURL && path.path.hasPrefix("/") && path.path.hasSuffix("/x") && !path.path.contains("~"))
        #expect(try defaults.array(forKey: "texts")?.count == 2)
        #expect(try defaults.stringArray(forKey: "texts") == ["a", "2"])
        #expect(try defaults.stringArray(forKey: "mixed") == nil)
        #expect(try defaults.dictionary(forKey: "dictionary") == ["a": .integer(1)])
        #expect(try defaults.dictionary(forKey: "texts") == nil)
    }
}
