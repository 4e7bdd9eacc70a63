package import FoundationEssentials
internal import PropertyLists

/// Dates as RFC 3339 text in UTC with up to nine fractional digits, so that a date reads back as it was written.
///
/// Foundation's ISO 8601 style keeps milliseconds at most: a record with a date would not equal itself after a round
/// trip.
package enum DateText {
    /// The years 0 to 9999, the range of four digits, in seconds since 2001.
    static let writable = PropertyListDate.representable

    /// Returns text such as `2026-11-21T03:30:00Z`, with a fraction only if the date has one.
    package static func string(from date: Date) -> String? {
        // A date's own number has a bit more precision than the one since 1970.
        let seconds = date.timeIntervalSinceReferenceDate
        guard writable.contains(seconds) else { return nil }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        let time = CivilTime(secondsSince1970: whole + PropertyListDate.secondsTo2001)
        guard (0...9999).contains(time.year) else { return nil }
        return time.text(nanoseconds: nanoseconds)
    }

    /// Reads RFC 3339 text with any offset; nil for anything else.
    static func date(from text: String) -> Date? {
        var text = text
        return text.withUTF8 { date(UnsafeRawBufferPointer($0)) }
    }

    private static func date(_ text: UnsafeRawBufferPointer) -> Date? {
        var scanner = DateScanner(text)
        guard let time = scanner.time(), let nanoseconds = scanner.fraction(), let offset = scanner.offset(),
            scanner.isAtEnd
        else { return nil }
        let whole = time.secondsSince1970 - offset - PropertyListDate.secondsTo2001
        // An offset reaches beyond the years that can be written; a value that is read must be writable again.
        let date = Date(timeIntervalSinceReferenceDate: Double(whole) + Double(nanoseconds) / 1e9)
        return writable.contains(date.timeIntervalSinceReferenceDate) ? date : nil
    }
}
