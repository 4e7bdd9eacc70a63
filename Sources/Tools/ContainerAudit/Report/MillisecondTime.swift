internal import FoundationEssentials

/// Times in reports: whole milliseconds as headers have them, and RFC 3339 text in UTC.
enum MillisecondTime {
    /// The last second of the year 9999: RFC 3339 ends there, and an unverified header may claim any number.
    private static let latest: UInt64 = 253_402_300_799_000

    /// The time of a header's field; what lies beyond the year 9999 becomes its end.
    static func date(_ milliseconds: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(min(milliseconds, latest)) / 1000)
    }

    /// `2026-11-21T03:30:00.5Z` has up to three digits of a fraction, and none where it is zero.
    static func text(_ date: Date) -> String {
        let milliseconds = whole(date)
        let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
        if milliseconds % 1000 == 0 { return seconds }
        var fraction = String(1000 + milliseconds % 1000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(seconds.dropLast()).\(fraction)Z"
    }

    /// Reads what `text(_:)` writes, to the same value.
    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return (try? Date(text, strategy: style)).map { date(whole($0)) }
    }

    /// The time as a report has it.
    static func rounded(_ date: Date) -> Date { self.date(whole(date)) }

    private static func whole(_ date: Date) -> UInt64 {
        UInt64(min(max(0, date.timeIntervalSince1970 * 1000), Double(latest)).rounded())
    }
}
