import Glibc
import PropertyLists
import Testing

@Suite struct CivilTimeTests {
    /// Returns the C library's calendar date.
    private static func oracle(_ seconds: Int) -> [Int32] {
        var seconds = time_t(seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
    }

    private static func parts(_ time: CivilTime) -> [Int32] {
        [time.year, time.month, time.day, time.hour, time.minute, time.second].map { Int32($0) }
    }

    @Test func everySecondOfTheYears0To9999IsThatOfTheCLibrary() {
        let edges = [-62_167_219_200, -1, 0, 951_782_400, 4_107_542_399, 4_107_542_400, 253_402_300_799]
        let random = (0..<20_000).map { _ in Int.random(in: -62_167_219_200..<253_402_300_800) }
        for seconds in edges + random {
            let time = CivilTime(secondsSince1970: seconds)
            #expect(Self.parts(time) == Self.oracle(seconds), "\(seconds)")
            #expect(time.secondsSince1970 == seconds)
        }
    }

    @Test func eachFormHasItsText() {
        let time = CivilTime(secondsSince1970: 1_795_244_622)
        #expect(time.text == "2026-11-21T07:03:42Z")
        #expect(time.dayText == "2026-11-21")
        #expect(time.clockText == "07:03:42")
        #expect(time.compactText == "20261121T070342Z")
        #expect(time.text(milliseconds: 7) == "2026-11-21T07:03:42.007Z")
        #expect(time.text(nanoseconds: 0) == time.text)
        #expect(time.text(nanoseconds: 500_000_000) == "2026-11-21T07:03:42.5Z")
        #expect(time.text(nanoseconds: 1) == "2026-11-21T07:03:42.000000001Z")
        let early = CivilTime(secondsSince1970: -62_167_219_200)
        #expect(early.text == "0000-01-01T00:00:00Z")
        #expect(early.compactText == "00000101T000000Z")
    }

    @Test(arguments: [
        "2026-11-21T07:03:60Z", "2026-11-21t07:03:42Z", "2026-11-21T07:03:42z", "2026-11-21T07:03:42.5Z",
        "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "-026-01-01T00:00:00Z", "2026-01-01T00:00:00+0000", "",
    ]) func aPropertyListsDateHasOneForm(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { CivilTime($0) } == nil)
    }

    @Test func aPropertyListsDateReadsBack() {
        for text in ["0000-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "9999-12-31T23:59:59Z"] {
            #expect(Array(text.utf8).withUnsafeBytes { CivilTime($0) }?.text == text)
        }
    }

    @Test func secondsAreCountedFrom1970Or2001() {
        #expect(PropertyListDate(secondsSince1970: 978_307_200)?.secondsSince2001 == 0)
        #expect(PropertyListDate(secondsSince2001: 0.5)?.secondsSince1970 == 978_307_200.5)
        #expect(PropertyListDate(secondsSince1970: 253_402_300_800) == nil)
    }
}
