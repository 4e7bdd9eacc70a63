/// The findings that an audit left out of its list, by reason.
public struct AuditOmissions: Codable, Sendable, Hashable {
    /// The number of findings that an ignore file names by their fingerprint.
    public var ignored = 0
    /// The number of findings that the baseline contains.
    public var inBaseline = 0
    /// The number of findings on a line with `sealaudit:allow`.
    public var allowedInline = 0
    /// The findings beyond the limit of one file or of the whole report, most severe first. They affect `counts`,
    /// `isClean` and the exit status like those in the list.
    public var unlisted: [UnlistedFindings] = []

    /// Creates omissions without findings.
    public init() {}

    /// The number of intentionally suppressed findings.
    public var suppressed: Int { ignored + inBaseline + allowedInline }
}

/// The number of files of a kind and their total size.
public struct KindTotal: Sendable, Hashable {
    /// The kind.
    public let kind: FileClass
    /// The number of files.
    public let files: Int
    /// The total of their stored bytes, without holes.
    public let bytes: Int64
}

extension AuditReport {
    /// The files by kind, with the most bytes first.
    public var kinds: [KindTotal] {
        var totals: [FileClass: (Int, Int64)] = [:]
        for file in files {
            let old = totals[file.kind] ?? (0, 0)
            totals[file.kind] = (old.0 + 1, old.1 + file.storedSize)
        }
        return totals.map { KindTotal(kind: $0.key, files: $0.value.0, bytes: $0.value.1) }
            .sorted { ($1.bytes, $0.kind.rawValue) < ($0.bytes, $1.kind.rawValue) }
    }

    /// The stored bytes of sealed blobs.
    public var sealedBytes: Int64 { files.reduce(0) { $0 + ($1.kind.isSealed ? $1.storedSize : 0) } }
    /// The stored bytes of files that every reader of the disk can read, including quarantined copies of such files.
    public var plaintextBytes: Int64 { files.reduce(0) { $0 + ($1.isPlaintext ? $1.storedSize : 0) } }
}

/// Findings of one check and severity that a report only counts.
public struct UnlistedFindings: Codable, Sendable, Hashable {
    /// The check's id.
    public let id: String
    /// The severity of each finding.
    public let severity: Severity
    /// The number of findings.
    public let count: Int

    init(id: String, severity: Severity, count: Int) {
        self.id = id
        self.severity = severity
        self.count = count
    }
}

/// The number of findings of each check and severity.
struct FindingTally: Sendable, Hashable {
    private struct Kind: Hashable {
        let id: String
        let severity: Severity
    }

    private var counts: [Kind: Int] = [:]

    /// The number of all findings.
    var total: Int { counts.values.reduce(0, +) }

    mutating func add(_ id: String, _ severity: Severity, _ count: Int = 1) {
        if count > 0 { counts[Kind(id: id, severity: severity), default: 0] += count }
    }

    mutating func add(_ other: FindingTally) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The counts as in a report: most severe first, then by id.
    var entries: [UnlistedFindings] {
        counts.map { UnlistedFindings(id: $0.key.id, severity: $0.key.severity, count: $0.value) }
            .sorted { ($1.severity, $0.id) < ($0.severity, $1.id) }
    }
}
