package import FoundationEssentials
internal import PropertyLists

/// Dates as RFC 3339 text in UTC with up to nine fractional digits, so that a date reads back as it was written.
///
/// Foundation's ISO 8601 style keeps no more than milliseconds: a record with a date would not equal itself after a
/// round trip.
package enum DateText {
    private static let secondsPerDay = 86_400

    /// From 1970 to 2001, where a `Date` counts from: the number that it holds has a bit more than the one since 1970.
    private static let secondsTo2001 = 978_307_200

    /// The years 0 to 9999, in seconds since 2001: what four digits can say.
    static let writable = PropertyListDate.representable

    /// `2026-11-21T03:30:00Z`, with a fraction only where there is one.
    package static func string(from date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard writable.contains(seconds) else { return nil }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        whole += secondsTo2001
        let days = (Double(whole) / Double(secondsPerDay)).rounded(.down)
        let date = CivilDay(daysSince1970: Int(days))
        guard (0...9999).contains(date.year) else { return nil }
        let rest = whole - Int(days) * secondsPerDay
        let hours = (rest / 3600).padded(to: 2)
        let minutes = (rest / 60 % 60).padded(to: 2)
        let day = "\(date.year.padded(to: 4))-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))"
        return day + "T\(hours):\(minutes):\((rest % 60).padded(to: 2))\(fraction(nanoseconds))Z"
    }

    /// Reads RFC 3339 text with any offset; nil for anything else.
    static func date(from text: String) -> Date? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), scanner.skip(":"), let minute = scanner.number(digits: 2),
            scanner.skip(":"), let second = scanner.number(digits: 2),
            let civil = CivilDay(year: year, month: month, day: day), hour < 24, minute < 60, second <= 60,
            let nanoseconds = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        let whole = civil.daysSince1970 * secondsPerDay + hour * 3600 + minute * 60 + second
        // An offset reaches beyond the years that can be written: a value that is read can be written again.
        let date = Date(
            timeIntervalSinceReferenceDate: Double(whole - offset - secondsTo2001) + Double(nanoseconds) / 1e9)
        return writable.contains(date.timeIntervalSinceReferenceDate) ? date : nil
    }

    private static func fraction(_ nanoseconds: Int) -> String {
        guard nanoseconds > 0 else { return "" }
        var digits = nanoseconds.padded(to: 9)
        while digits.last == "0" { digits.removeLast() }
        return "." + digits
    }
}

/// Takes a date's text apart, byte by byte.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Exactly that many digits as a number.
    mutating func number(digits: Int) -> Int? {
        let taken = rest.prefix(digits)
        guard taken.count == digits, taken.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(digits)
        return taken.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    /// A fraction of 1 to 9 digits as nanoseconds; 0 where there is none.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        let count = rest.prefix(10).prefix { (0x30...0x39).contains($0) }.count
        guard (1...9).contains(count), let number = number(digits: count) else { return nil }
        return (count..<9).reduce(number) { value, _ in value * 10 }
    }

    /// `Z` or `±hh:mm` as seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), skip(":"), let minutes = number(digits: 2), hours < 24,
            minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
