/// A day of the proleptic Gregorian calendar.
package struct CivilDay: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// From 1970 to 2001, where property lists and `Date` count from.
    package static let daysTo2001 = 11_323

    /// Nil for a day that its month does not have.
    package init?(year: Int, month: Int, day: Int) {
        guard 1...12 ~= month, 1...Self.days(in: month, of: year) ~= day else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Days since 1970, before it below zero (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
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

    /// The inverse; years are counted from March (the same source, days_from_civil).
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
    /// Its digits, with zeros in front.
    package func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
