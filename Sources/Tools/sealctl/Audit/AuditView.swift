internal import ContainerAudit

/// A report as every format shows it: which findings are listed, which of them count, and what is said besides.
struct AuditView {
    let report: AuditReport
    /// Findings below it are counted and not listed.
    let least: Severity
    /// From here on a finding ends the command with status 1.
    let threshold: Severity
    /// Whether findings of an earlier state were left out.
    var hasBaseline = false
    /// Whether files without findings are listed as well.
    var listsFiles = false
    /// Whether a terminal gets it that shows colours.
    var usesColor = false
    /// What has to be known besides the report's own notes.
    var ownNotes: [String] = []

    /// What is listed: the gravest first, then by path.
    var findings: [Finding] { least == .info ? report.findings : report.findings.filter { $0.severity >= least } }

    /// The report's notes and ours.
    var notes: [String] { report.notes + ownNotes }

    /// All findings, listed or not.
    var total: Int { report.counts.values.reduce(0, +) }

    /// How many findings are at the threshold or above, listed or not.
    var failing: Int { report.counts.reduce(0) { $0 + ($1.key >= threshold ? $1.value : 0) } }

    /// Findings that are counted and not listed, being below the least severity.
    var hidden: Int { least == .info ? 0 : report.findings.count { $0.severity < least } }

    var plaintextShare: Double? { Self.share(of: report.plaintextBytes, in: totalBytes) }
    var sealedShare: Double? { Self.share(of: report.sealedBytes, in: totalBytes) }
    var totalBytes: Int64 { report.kinds.reduce(0) { $0 + $1.bytes } }

    static func share(of part: Int64, in whole: Int64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

extension Severity {
    /// From the gravest down, as every format lists them.
    static let descending: [Severity] = allCases.reversed()
}
