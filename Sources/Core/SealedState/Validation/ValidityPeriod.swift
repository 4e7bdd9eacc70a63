internal import FoundationEssentials
internal import Sealing

/// The period in which a value is valid.
struct ValidityPeriod {
    let sealedAt: Date
    /// The time from which the value is stale; nil for never.
    let expiresAt: Date?
    /// The age above which the value is stale; nil for any age.
    let maximumAge: Duration?

    var hasEnd: Bool { expiresAt != nil || maximumAge != nil }

    /// Returns `true` if the period has ended.
    func isOver(at now: Date) -> Bool {
        if let expiresAt, now >= expiresAt { return true }
        guard let maximumAge else { return false }
        return now.timeIntervalSince(sealedAt) > maximumAge.seconds
    }

    /// The end, by the earlier limit; nil for never.
    var end: Date? { Self.earlier(expiresAt, maximumAge.map { sealedAt + $0.seconds }) }

    private static func earlier(_ first: Date?, _ second: Date?) -> Date? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

extension ValidityPeriod {
    /// Creates the period of a value, from its header's end and its type's limits.
    init<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>) {
        self.init(
            sealedAt: snapshot.provenance.sealedAt,
            expiresAt: Self.earlier(snapshot.value.expiresAt, snapshot.provenance.notAfter),
            maximumAge: Record.maximumAge)
    }
}

extension ValidityPeriod {
    /// Creates the period from a header alone. A deletion has no end.
    init(_ header: BlobHeader) {
        let hasEnd = header.notAfter != 0 && !header.flags.contains(.tombstone)
        self.init(
            sealedAt: Date(milliseconds: header.sealedAt),
            expiresAt: hasEnd ? Date(milliseconds: header.notAfter) : nil, maximumAge: nil)
    }
}

extension Duration {
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// The check that a value is currently valid: the only decision that depends on time.
struct Freshness {
    let now: Date
    /// The tolerance for times in the future.
    let skew: Duration

    func check(sealedAt: Date, expiresAt: Date?, maximumAge: Duration?, named name: String) throws(StoreError) {
        let period = ValidityPeriod(sealedAt: sealedAt, expiresAt: expiresAt, maximumAge: maximumAge)
        try requireBegun(period, named: name)
        if period.isOver(at: now) { throw stale(period, named: name) }
    }

    /// - Throws: `StoreError` `.notYetValid`, also if the clock shows no valid time.
    func requireBegun(_ period: ValidityPeriod, named name: String) throws(StoreError) {
        let age = now.timeIntervalSince(period.sealedAt)
        guard age >= -skew.seconds else {
            throw StoreError(.notYetValid, "read", name, "It was sealed \(Self.text(-age)) in the future.")
        }
    }

    /// Returns the rejection of a value that has ended.
    func stale(_ period: ValidityPeriod, named name: String) -> StoreError {
        if let expiresAt = period.expiresAt, now >= expiresAt {
            return StoreError(.stale, "read", name, "It expired \(Self.text(now.timeIntervalSince(expiresAt))) ago.")
        }
        let age = Self.text(now.timeIntervalSince(period.sealedAt))
        let allowed = period.maximumAge.map { "; \(Self.text($0.seconds)) are allowed" } ?? ""
        return StoreError(.stale, "read", name, "It is \(age) old\(allowed).")
    }

    private static func text(_ seconds: Double) -> String {
        // A clock may show any number, and not every number is a count of seconds.
        guard seconds.isFinite else { return "an unknown time" }
        return seconds < 120 ? "\(Int(max(seconds, 0).rounded())) s" : "\(Int(min(seconds / 60, 1e12).rounded())) min"
    }
}
