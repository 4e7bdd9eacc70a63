internal import FoundationEssentials
internal import Sealing

/// From when to when a value is of the present.
struct ValidityPeriod {
    let sealedAt: Date
    /// From here on it is stale; nil for never.
    let expiresAt: Date?
    /// Older than that it is stale; nil for any age.
    let maximumAge: Duration?

    var hasEnd: Bool { expiresAt != nil || maximumAge != nil }

    /// Whether its end has come.
    func isOver(at now: Date) -> Bool {
        if let expiresAt, now >= expiresAt { return true }
        guard let maximumAge else { return false }
        return now.timeIntervalSince(sealedAt) > maximumAge.seconds
    }

    /// When it ends, whichever limit comes first; nil for never.
    var end: Date? { Self.earlier(expiresAt, maximumAge.map { sealedAt + $0.seconds }) }

    private static func earlier(_ first: Date?, _ second: Date?) -> Date? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}

extension ValidityPeriod {
    /// Of a value, with its header's end and its type's limits.
    init<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>) {
        self.init(
            sealedAt: snapshot.provenance.sealedAt,
            expiresAt: Self.earlier(snapshot.value.expiresAt, snapshot.provenance.notAfter),
            maximumAge: Record.maximumAge)
    }
}

extension ValidityPeriod {
    /// Of what a header says alone. A deletion has no end.
    init(_ header: BlobHeader) {
        let hasEnd = header.notAfter != 0 && !header.flags.contains(.tombstone)
        self.init(
            sealedAt: Date(milliseconds: header.sealedAt),
            expiresAt: hasEnd ? Date(milliseconds: header.notAfter) : nil, maximumAge: nil)
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
