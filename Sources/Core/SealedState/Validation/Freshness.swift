internal import FoundationEssentials

/// Whether a value is of the present: the only thing that time decides.
struct Freshness {
    let now: Date
    /// How far in the future a stamp may lie.
    let skew: Duration

    func check(sealedAt: Date, expiresAt: Date?, maximumAge: Duration?, named name: String) throws(StoreError) {
        let period = ValidityPeriod(sealedAt: sealedAt, expiresAt: expiresAt, maximumAge: maximumAge)
        try requireBegun(period, named: name)
        if period.isOver(at: now) { throw stale(period, named: name) }
    }

    /// - Throws: `StoreError` `.notYetValid`, also where the clock shows no time at all.
    func requireBegun(_ period: ValidityPeriod, named name: String) throws(StoreError) {
        let age = now.timeIntervalSince(period.sealedAt)
        guard age >= -skew.seconds else {
            throw StoreError(.notYetValid, "read", name, "It was sealed \(Self.text(-age)) in the future.")
        }
    }

    /// The rejection of a value that is over by now.
    func stale(_ period: ValidityPeriod, named name: String) -> StoreError {
        if let expiresAt = period.expiresAt, now >= expiresAt {
            return StoreError(.stale, "read", name, "It expired \(Self.text(now.timeIntervalSince(expiresAt))) ago.")
        }
        let age = Self.text(now.timeIntervalSince(period.sealedAt))
        let allowed = period.maximumAge.map { "; \(Self.text($0.seconds)) are allowed" } ?? ""
        return StoreError(.stale, "read", name, "It is \(age) old\(allowed).")
    }

    private static func text(_ seconds: Double) -> String {
        // A clock may show anything, and not every number is a count of seconds.
        guard seconds.isFinite else { return "an unknown time" }
        return seconds < 120 ? "\(Int(max(seconds, 0).rounded())) s" : "\(Int(min(seconds / 60, 1e12).rounded())) min"
    }
}
