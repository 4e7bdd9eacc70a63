/// A moment of the proleptic Gregorian calendar in UTC, to the second.
///
/// All dates that this package writes or reads as text go through this type.
package struct CivilTime: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    /// 60 in a leap second, if the text that was read has one.
    package let second: Int

    private static let secondsPerDay = 86_400

    /// The calendar's name of a second; the number is negative before 1970.
    package init(secondsSince1970 seconds: Int) {
        var (days, rest) = seconds.quotientAndRemainder(dividingBy: Self.secondsPerDay)
        if rest < 0 { (days, rest) = (days - 1, rest + Self.secondsPerDay) }
        (year, month, day) = Calendar.date(daysSince1970: days)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// The second that a date falls into.
    package init(_ date: PropertyListDate) {
        self.init(secondsSince1970: Int(date.secondsSince2001.rounded(.down)) + PropertyListDate.secondsTo2001)
    }

    /// Returns `nil` for a day that its month does not have and a time that no day has.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard year >= 0, 1...12 ~= month, 1...Calendar.days(in: month, of: year) ~= day, 0..<24 ~= hour,
            0..<60 ~= minute, 0...60 ~= second
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    package var secondsSince1970: Int {
        Calendar.daysSince1970(year, month, day) * Self.secondsPerDay + hour * 3600 + minute * 60 + second
    }

    package var date: PropertyListDate? { PropertyListDate(secondsSince1970: Double(secondsSince1970)) }
}

// Text.
extension CivilTime {
    /// `2026-11-21`.
    package var dayText: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }

    /// `03:30:00`.
    package var clockText: String { "\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))" }

    /// `2026-11-21T03:30:00Z`, as XML property lists have it.
    package var text: String { "\(dayText)T\(clockText)Z" }

    /// `20261121T033000Z`, the basic form of ISO 8601: sorts by time, and is valid in a file's name.
    package var compactText: String {
        "\(year.padded(to: 4))\(month.padded(to: 2))\(day.padded(to: 2))T"
            + "\(hour.padded(to: 2))\(minute.padded(to: 2))\(second.padded(to: 2))Z"
    }

    /// RFC 3339 with a fraction only if there is one, and without zeros at its end: `2026-11-21T03:30:00.5Z`.
    package func text(nanoseconds: Int) -> String {
        guard nanoseconds > 0 else { return text }
        var digits = nanoseconds.padded(to: 9)
        while digits.last == "0" { digits.removeLast() }
        return "\(dayText)T\(clockText).\(digits)Z"
    }

    /// RFC 3339 with three digits of a fraction: `2026-11-21T03:30:00.500Z`.
    package func text(milliseconds: Int) -> String { "\(dayText)T\(clockText).\(milliseconds.padded(to: 3))Z" }

    /// Reads `2026-11-21T03:30:00Z` and nothing else.
    package init?(_ text: UnsafeRawBufferPointer) {
        guard text.count == 20, text[10] == UInt8(ascii: "T"), text[19] == UInt8(ascii: "Z") else { return nil }
        var scanner = DateScanner(text)
        guard let time = scanner.time(), time.second < 60 else { return nil }
        self = time
    }
}

/// Reads the parts of a date in RFC 3339.
package struct DateScanner {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    package init(_ text: UnsafeRawBufferPointer) { self.text = text }

    package var isAtEnd: Bool { position == text.count }

    /// Reads `2026-11-21T03:30:00`; the `T` may be small.
    package mutating func time() -> CivilTime? {
        guard let year = number(digits: 4), skip("-"), let month = number(digits: 2), skip("-"),
            let day = number(digits: 2), skip("T") || skip("t"), let hour = number(digits: 2), skip(":"),
            let minute = number(digits: 2), skip(":"), let second = number(digits: 2)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Reads a fraction of 1 to 9 digits as nanoseconds; 0 without a fraction.
    package mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        let count = text[position...].prefix(10).prefix { 0x30...0x39 ~= $0 }.count
        guard 1...9 ~= count, let number = number(digits: count) else { return nil }
        return (count..<9).reduce(number) { value, _ in value * 10 }
    }

    /// Reads `Z` or `±hh:mm` as seconds east of UTC.
    package mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), skip(":"), let minutes = number(digits: 2), hours < 24,
            minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, UInt32(text[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Reads exactly that many digits.
    private mutating func number(digits count: Int) -> Int? {
        guard count <= text.count - position else { return nil }
        let digits = text[position..<position + count]
        guard digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        position += count
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
}

/// Days and dates of the proleptic Gregorian calendar.
private enum Calendar {
    /// Days are counted from 1970 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
    static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// The inverse; years are counted from March (the same source, days_from_civil).
    static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}

extension Int {
    /// Its digits, with zeros in front.
    fileprivate func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
