package import FoundationEssentials
internal import Glibc

/// A header's time: milliseconds since 1970.
package struct Timestamp: Comparable, Sendable {
    package let milliseconds: UInt64

    package init(_ milliseconds: UInt64) { self.milliseconds = milliseconds }

    package init(_ date: Date) { milliseconds = UInt64(max(0, (date.timeIntervalSince1970 * 1000).rounded())) }

    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000)
    }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// `2026-11-21T03:30:00.000Z` (RFC 3339), for machines.
    package var rfc3339: String { text(separator: "T", fraction: true) }

    /// `2026-11-21 03:30:00Z`, for people.
    package var short: String { text(separator: " ", fraction: false) }

    /// `12 s ago`, `in 59 min`.
    package func relative(to now: Timestamp) -> String {
        let isPast = self <= now
        let distance = (isPast ? now.milliseconds - milliseconds : milliseconds - now.milliseconds) / 1000
        let text =
            switch distance {
            case ..<120: "\(distance) s"
            case ..<7200: "\(distance / 60) min"
            case ..<172_800: "\(distance / 3600) h"
            default: "\(distance / 86_400) days"
            }
        return isPast ? "\(text) ago" : "in \(text)"
    }

    private func text(separator: String, fraction: Bool) -> String {
        // Anything beyond the year 9999 is a damaged header's; it is shown as the number that it is.
        guard milliseconds < 253_402_300_800_000 else { return "\(milliseconds) ms" }
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date =
            "\(Self.padded(parts.tm_year + 1900, 4))-\(Self.padded(parts.tm_mon + 1, 2))-\(Self.padded(parts.tm_mday, 2))"
        let time = "\(Self.padded(parts.tm_hour, 2)):\(Self.padded(parts.tm_min, 2)):\(Self.padded(parts.tm_sec, 2))"
        let rest = fraction ? ".\(Self.padded(Int32(milliseconds % 1000), 3))" : ""
        return "\(date)\(separator)\(time)\(rest)Z"
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
