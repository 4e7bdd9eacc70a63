import FoundationEssentials
import Testing

@testable import SealedState

@Suite struct DateTextTests {
    private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    // A Date counts from 2001; conversion through seconds since 1970 would lose its last bit.
    @Test func aDateReadsBackAsItWasWritten() throws {
        for _ in 0..<20_000 {
            let date = Date(timeIntervalSinceReferenceDate: Double.random(in: 2e7..<2e9))
            let text = try #require(DateText.string(from: date))
            #expect(DateText.date(from: text) == date, "\(date.timeIntervalSinceReferenceDate)")
        }
        for _ in 0..<1000 {
            let now = Date()
            #expect(DateText.string(from: now).flatMap(DateText.date) == now)
        }
    }

    @Test func everyYearUpTo9999SurvivesToTheNanosecond() throws {
        for _ in 0..<20_000 {
            let date = date(Double.random(in: -62_167_219_200..<253_402_300_799))
            let text = try #require(DateText.string(from: date))
            let back = try #require(DateText.date(from: text))
            #expect(abs(back.timeIntervalSince(date)) < 1e-9, "\(text)")
            #expect(DateText.string(from: back) == text)
        }
    }

    static let known: [(Double, String)] = [
        (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
        (1_709_251_199.5, "2024-02-29T23:59:59.5Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        (-62_167_219_200, "0000-01-01T00:00:00Z"), (978_307_200, "2001-01-01T00:00:00Z"),
        (978_307_200.25, "2001-01-01T00:00:00.25Z"), (978_307_199.75, "2000-12-31T23:59:59.75Z"),
    ]

    @Test(arguments: known) func knownDatesHaveTheirText(_ known: (seconds: Double, text: String)) {
        #expect(DateText.string(from: date(known.seconds)) == known.text)
        #expect(DateText.date(from: known.text) == date(known.seconds))
    }

    static let accepted: [(String, Double)] = [
        ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T18:30:00-05:30", 0), ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00-00:00", 0), ("1970-01-01T23:59:00+23:59", 0), ("1970-01-01T00:00:00.000000000Z", 0),
        ("1970-01-01T00:00:00.5+00:00", 0.5), ("2016-12-31T23:59:60Z", 1_483_228_800),
        ("2020-02-29T00:00:00Z", 1_582_934_400),
    ]

    @Test(arguments: accepted) func otherFormsOfRFC3339AreRead(_ form: (text: String, seconds: Double)) {
        #expect(DateText.date(from: form.text) == date(form.seconds))
    }

    static let refused = [
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-1-01T00:00:00Z", "70-01-01T00:00:00Z",
        "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-00T00:00:00Z", "1970-01-32T00:00:00Z",
        "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "1970-04-31T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.0000000001Z",
        "1970-01-01T00:00:00+1:00", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00ZZ",
        " 1970-01-01T00:00:00Z", "-1970-01-01T00:00:00Z", "1970-01-01T00:00:00,5Z", "١٩٧٠-01-01T00:00:00Z", "0",
    ]

    @Test(arguments: refused) func everythingElseIsRefused(_ text: String) {
        #expect(DateText.date(from: text) == nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 253_402_300_800, -62_167_219_201, 1e300, -1e300])
    func aDateOutsideTheYears0To9999HasNoText(_ seconds: Double) {
        #expect(DateText.string(from: date(seconds)) == nil)
    }

    // An offset can lead to a year that has no text. Every date that is read can be written again.
    @Test func aYearThatIsReachedThroughAnOffsetIsRefusedUnlessItCanBeWritten() throws {
        #expect(DateText.date(from: "0000-01-01T00:00:00+23:59") == nil)
        #expect(DateText.date(from: "0000-01-01T00:00:00+00:01") == nil)
        #expect(DateText.date(from: "9999-12-31T23:59:59-00:01") == nil)
        #expect(DateText.date(from: "9999-12-31T23:59:60Z") == nil)
        for text in ["0000-01-01T23:59:00+23:59", "9999-12-31T00:00:00-23:59", "9999-12-31T23:59:59.999999999Z"] {
            guard let date = DateText.date(from: text) else { continue }
            #expect(DateText.string(from: date) != nil, "\(text)")
        }
        #expect(DateText.date(from: "0000-01-01T23:59:00+23:59").flatMap(DateText.string) == "0000-01-01T00:00:00Z")
    }
}
