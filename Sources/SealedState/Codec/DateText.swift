internal import FoundationEssentials
internal import PropertyLists

/// Dates as RFC 3339 text in UTC with up to nine fractional digits, so that a date reads back as it was written.
///
/// Foundation's ISO 8601 style keeps no more than milliseconds: a record with a date would not equal itself after a
/// round trip.
enum DateText {
    private static let secondsPerDay = 86_400

    /// From 1970 to 2001, where a `Date` counts from: the number that it holds has a bit more than the one since 1970.
    private static let secondsTo2001 = 978_307_200

    /// The years 0 to 9999, in seconds since 2001: what four digits can say.
    static let writable = PropertyListDate.representable

    /// `2026-11-21T03:30:00Z`, with a fraction only where there is one.
    static func string(from date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard writable.contains(seconds) else { return nil }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        whole += secondsTo2001
        let days = (Double(whole) / Double(secondsPerDay)).rounded(.down)
        let (year, month, day) = civil(daysSince1970: Int(days))
        guard (0...9999).contains(year) else { return nil }
        let rest = whole - Int(days) * secondsPerDay
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))\(fraction(nanoseconds))Z"
    }

    /// Reads RFC 3339 text with any offset; nil for anything else.
    static func date(from text: String) -> Date? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), scanner.skip(":"), let minute = scanner.number(digits: 2),
            scanner.skip(":"), let second = scanner.number(digits: 2),
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second <= 60, let nanoseconds = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        let whole = days(year: year, month: month, day: day) * secondsPerDay + hour * 3600 + minute * 60 + second
        // An offset reaches beyond the years that can be written: a value that is read can be written again.
        let date = Date(
            timeIntervalSinceReferenceDate: Double(whole - offset - secondsTo2001) + Double(nanoseconds) / 1e9)
        return writable.contains(date.timeIntervalSinceReferenceDate) ? date : nil
    }

    private static func fraction(_ nanoseconds: Int) -> String {
        guard nanoseconds > 0 else { return "" }
        var digits = padded(nanoseconds, 9)
        while digits.last == "0" { digits.removeLast() }
        return "." + digits
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func daysIn(month: Int, year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// Days since 1970 of a date of the proleptic Gregorian calendar, counting years from March
    /// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil).
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `days` (the same source, civil_from_days).
    private static func civil(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}
