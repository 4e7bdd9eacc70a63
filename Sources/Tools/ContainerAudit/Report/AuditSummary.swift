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
