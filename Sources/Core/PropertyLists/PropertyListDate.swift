/// A moment as a property list counts it: seconds since 1 January 2001, 00:00 UTC, leap seconds not counted.
public struct PropertyListDate: Hashable, Sendable {
    /// Seconds since 2001, before it below zero; always one of `representable`.
    public let secondsSince2001: Double

    /// The years 0 to 9999: what four digits can say. Beyond them calendars and conversions fail in a reader's own code.
    public static let representable = -63_145_526_400.0..<252_423_993_600.0

    /// Nil outside the years 0 to 9999.
    public init?(secondsSince2001 seconds: Double) {
        guard Self.representable.contains(seconds) else { return nil }
        secondsSince2001 = seconds
    }
}
