internal import ArgumentParser
internal import AuditReports
internal import FoundationEssentials

/// A length of time as people type it: `90s`, `15m`, `1h`, `2d`, `1w`.
struct Lifetime: Sendable, Equatable {
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

    /// - Throws: `ValidationError` with the accepted forms.
    init(parsing text: String) throws {
        guard let lifetime = Lifetime(argument: text) else {
            throw ValidationError("a length of time is a number and its unit: 30s, 15m, 8h, 2d or 1w")
        }
        self = lifetime
    }
}

/// A moment that has been: a length of time before now, a day, or a time as RFC 3339 has it.
struct PastTime: Sendable {
    let timestamp: Timestamp

    /// - Throws: `ValidationError` with the accepted forms.
    init(parsing text: String) throws {
        guard let time = PastTime(argument: text) else {
            throw ValidationError("a time is 15m, 8h, 2d or 1w ago, 2026-11-21, or 2026-11-21T03:30:00Z")
        }
        self = time
    }

    private init?(argument: String) {
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
