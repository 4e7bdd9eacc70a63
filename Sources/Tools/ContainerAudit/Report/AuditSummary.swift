/// What an audit left out of its list of findings, and why.
public struct AuditOmissions: Codable, Sendable, Hashable {
    /// Findings that an ignore file names by their fingerprint.
    public var ignored = 0
    /// Findings that the baseline already has.
    public var inBaseline = 0
    /// Findings on a line that says `sealaudit:allow`.
    public var allowedInline = 0
    /// Findings beyond the limit of one file or of the whole report, the gravest first; they count for `counts`, `isClean` and
    /// the exit status as those in the list do.
    public var unlisted: [UnlistedFindings] = []

    /// Nothing was left out.
    public init() {}

    /// How many were suppressed on purpose.
    public var suppressed: Int { ignored + inBaseline + allowedInline }
}

/// How many files of a kind there are, and how large they are together.
public struct KindTotal: Sendable, Hashable {
    /// The kind.
    public let kind: FileClass
    /// How many files.
    public let files: Int
    /// Their stored bytes together: holes are none.
    public let bytes: Int64
}

extension AuditReport {
    /// The files by kind, the most bytes first.
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
    /// The stored bytes of files that anybody can read who reads the disk, quarantined copies of such files among them.
    public var plaintextBytes: Int64 { files.reduce(0) { $0 + ($1.isPlaintext ? $1.storedSize : 0) } }
}

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
