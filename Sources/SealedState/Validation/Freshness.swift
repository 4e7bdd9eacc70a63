internal import FoundationEssentials

/// Whether a value is of the present: the only thing that the wall clock decides.
struct Freshness {
    let now: Date
    /// How far in the future a stamp may lie.
    let skew: Duration

    func check(sealedAt: Date, expiresAt: Date?, maximumAge: Duration?, named name: String) throws(StoreError) {
        let age = now.timeIntervalSince(sealedAt)
        guard age >= 0 || age >= -skew.seconds else {
            throw StoreError(.notYetValid, "read", name, "It was sealed \(Self.text(-age)) in the future.")
        }
        if let expiresAt, now >= expiresAt {
            throw StoreError(.stale, "read", name, "It expired \(Self.text(now.timeIntervalSince(expiresAt))) ago.")
        }
        if let maximumAge, age > maximumAge.seconds {
            throw StoreError(
                .stale, "read", name, "It is \(Self.text(age)) old; \(Self.text(maximumAge.seconds)) are allowed.")
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds < 120 ? "\(Int(seconds.rounded())) s" : "\(Int(min(seconds / 60, 1e12).rounded())) min"
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
