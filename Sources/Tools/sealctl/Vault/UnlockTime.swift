internal import ArgumentParser
internal import KeyVault

/// How long one try of a passphrase is to take on this machine: `500ms`, `2s`.
struct UnlockTime: ExpressibleByArgument, Sendable, Equatable {
    /// As much as the calibration takes.
    private static let longest: UInt64 = 60_000

    private let milliseconds: UInt64

    init?(argument: String) {
        let (unit, factor): (String, UInt64) = argument.hasSuffix("ms") ? ("ms", 1) : ("s", 1000)
        let digits = argument.dropLast(unit.count)
        guard argument.hasSuffix(unit), !digits.isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = UInt64(digits), count > 0, count <= Self.longest / factor
        else { return nil }
        milliseconds = count * factor
    }

    /// Costs that take that long; measuring them takes about twice as long.
    func costs() throws(Failure) -> PassphraseCosts {
        try Failure.onVault { () throws(VaultError) in
            try PassphraseCosts.calibrated(for: .milliseconds(Int64(milliseconds)))
        }
    }
}
