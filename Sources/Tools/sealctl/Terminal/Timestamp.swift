internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import PropertyLists

/// A header's time: milliseconds since 1970.
struct Timestamp: Comparable, Sendable {
    let milliseconds: UInt64

    init(_ milliseconds: UInt64) { self.milliseconds = milliseconds }

    init(_ date: Date) { milliseconds = UInt64(max(0, (date.timeIntervalSince1970 * 1000).rounded())) }

    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000)
    }

    static func < (a: Timestamp, b: Timestamp) -> Bool { a.milliseconds < b.milliseconds }

    /// `2026-11-21T03:30:00.000Z` (RFC 3339), for machines.
    var rfc3339: String { text { $0.text(milliseconds: Int(milliseconds % 1000)) } }

    /// `2026-11-21 03:30:00Z`, for people.
    var short: String { text { "\($0.dayText) \($0.clockText)Z" } }

    /// `12 s ago`, `in 59 min`.
    func relative(to now: Timestamp) -> String {
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

    /// Anything beyond the year 9999 is a damaged header's; it is shown as the number that it is.
    private func text(_ form: (CivilTime) -> String) -> String {
        guard milliseconds < 253_402_300_800_000 else { return "\(milliseconds) ms" }
        return form(CivilTime(secondsSince1970: Int(milliseconds / 1000)))
    }
}

/// A length of time as people type it: `90s`, `15m`, `1h`, `2d`, `1w`.
struct Lifetime: ExpressibleByArgument, Sendable, Equatable {
    /// A thousand years: beyond it a typing error is likelier than an intention.
    private static let longest: UInt64 = 1000 * 365 * 86_400

    let seconds: UInt64

    init?(argument: String) {
        let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        let digits = argument.dropLast()
        guard let unit = argument.last.flatMap({ units[$0] }), !digits.isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = UInt64(digits), count > 0, count <= Self.longest / unit
        else { return nil }
        seconds = count * unit
    }
}

/// A moment that has been: a length of time before now, a day, or a time as RFC 3339 has it.
struct PastTime: ExpressibleByArgument, Sendable {
    let timestamp: Timestamp

    init?(argument: String) {
        if let distance = Lifetime(argument: argument) {
            let now = Timestamp.now.milliseconds
            timestamp = Timestamp(now - min(now, distance.seconds * 1000))
            return
        }
        let text = argument.utf8.count == 10 ? argument + "T00:00:00Z" : argument
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        timestamp = Timestamp(date)
    }
}
