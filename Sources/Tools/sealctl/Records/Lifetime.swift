internal import ArgumentParser

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
