internal import PropertyLists

/// Dates of profiles for people: the day in UTC.
enum ProfileDay {
    /// `2026-11-21`.
    static func text(_ date: PropertyListDate) -> String { String(CivilTime(date).text.prefix(10)) }

    /// Whole days from one moment to another; below zero where it lies before.
    static func count(from start: PropertyListDate, to end: PropertyListDate) -> Int {
        Int(((end.secondsSince2001 - start.secondsSince2001) / 86_400).rounded(.down))
    }
}
