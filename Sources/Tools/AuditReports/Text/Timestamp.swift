package import FoundationEssentials
internal import Glibc
internal import PropertyLists

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

    /// The time as `2026-11-21T03:30:00.000Z` (RFC 3339), for machines.
    package var rfc3339: String { text { $0.text(milliseconds: Int(milliseconds % 1000)) } }

    /// The time as `2026-11-21 03:30:00Z`, for people.
    package var short: String { text { "\($0.dayText) \($0.clockText)Z" } }

    /// Returns `12 s ago`, `in 59 min`.
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

    /// Returns the number for a time beyond the year 9999, which only a damaged header has.
    private func text(_ form: (CivilTime) -> String) -> String {
        guard milliseconds < 253_402_300_800_000 else { return "\(milliseconds) ms" }
        return form(CivilTime(secondsSince1970: Int(milliseconds / 1000)))
    }
}
