/// Findings of one check and severity that a report only counts.
public struct UnlistedFindings: Codable, Sendable, Hashable {
    /// The check's id.
    public let id: String
    /// How much each of them matters.
    public let severity: Severity
    /// How many.
    public let count: Int

    init(id: String, severity: Severity, count: Int) {
        self.id = id
        self.severity = severity
        self.count = count
    }
}

/// How many findings there are of each check and severity.
struct FindingTally: Sendable, Hashable {
    private struct Kind: Hashable {
        let id: String
        let severity: Severity
    }

    private var counts: [Kind: Int] = [:]

    /// All of them.
    var total: Int { counts.values.reduce(0, +) }

    mutating func add(_ id: String, _ severity: Severity, _ count: Int = 1) {
        if count > 0 { counts[Kind(id: id, severity: severity), default: 0] += count }
    }

    mutating func add(_ other: FindingTally) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// As a report has them: the gravest first, then by id.
    var entries: [UnlistedFindings] {
        counts.map { UnlistedFindings(id: $0.key.id, severity: $0.key.severity, count: $0.value) }
            .sorted { ($1.severity, $0.id) < ($0.severity, $1.id) }
    }
}
