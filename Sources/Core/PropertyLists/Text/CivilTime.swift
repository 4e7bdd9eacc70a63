/// A time of the proleptic Gregorian calendar in UTC, to the second, as in XML property lists.
package struct CivilTime: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    private static let secondsPerDay = 86_400

    /// Creates the time of the second that contains a date.
    package init(_ date: PropertyListDate) {
        let whole = Int(date.secondsSince2001.rounded(.down))
        var (days, rest) = whole.quotientAndRemainder(dividingBy: Self.secondsPerDay)
        if rest < 0 { (days, rest) = (days - 1, rest + Self.secondsPerDay) }
        let date = CivilDay(daysSince1970: days + CivilDay.daysTo2001)
        (year, month, day) = (date.year, date.month, date.day)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// Parses exactly the format `2026-11-21T03:30:00Z`.
    package init?(_ text: UnsafeRawBufferPointer) {
        guard text.count == 20 else { return nil }
        for (position, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z")]
            as [(Int, Unicode.Scalar)]
        {
            guard text[position] == UInt8(ascii: mark) else { return nil }
        }
        func number(_ start: Int, _ count: Int) -> Int {
            text[start..<start + count].reduce(0) { 0x30...0x39 ~= $1 ? $0 * 10 + Int($1) - 0x30 : -100_000 }
        }
        (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
        guard year >= 0, CivilDay(year: year, month: month, day: day) != nil, 0..<24 ~= hour, 0..<60 ~= minute,
            0..<60 ~= second
        else { return nil }
    }

    package var date: PropertyListDate? {
        guard let days = CivilDay(year: year, month: month, day: day)?.daysSince1970 else { return nil }
        let seconds = (days - CivilDay.daysTo2001) * Self.secondsPerDay + hour * 3600 + minute * 60 + second
        return PropertyListDate(secondsSince2001: Double(seconds))
    }

    /// The time in the format `2026-11-21T03:30:00Z`.
    package var text: String {
        let day = "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))"
        return day + "T\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDay: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// The days from 1970 to 2001, the epoch of property lists and `Date`.
    package static let daysTo2001 = 11_323

    /// Creates a day, or `nil` if its month does not have it.
    package init?(year: Int, month: Int, day: Int) {
        guard 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates a day from the days since 1970, negative before it (H. Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", civil_from_days).
    package init(daysSince1970: Int) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// The days since 1970. Years are counted from March (the same source, days_from_civil).
    package var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}

extension Int {
    /// Returns the digits with leading zeros.
    package func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
