public import ContainerAudit

/// A format of the audit's report.
public enum AuditFormat: String, Sendable, CaseIterable {
    /// A table for a person at a terminal.
    case table
    /// A single JSON object with everything.
    case json
    /// A JSON object per line, for pipes.
    case jsonl
    /// SARIF 2.1.0, for code hosts.
    case sarif
    /// JUnit XML, for servers that show tests.
    case junit
    /// CSV (RFC 4180), for spreadsheets.
    case csv
    /// A single HTML page for a browser.
    case html

    /// Writes the report piece by piece.
    public func write(_ view: AuditView, to sink: any ReportSink) {
        switch self {
        case .table: AuditTable(view).write(to: sink)
        case .json: AuditJSON(view).write(to: sink)
        case .jsonl: AuditJSONLines(view).write(to: sink)
        case .sarif: AuditSARIF(view).write(to: sink)
        case .junit: AuditJUnit(view).write(to: sink)
        case .csv: AuditCSV(view).write(to: sink)
        case .html: AuditPage(view).write(to: sink)
        }
    }
}

/// A report with the settings that all formats share: the listed findings, the threshold, and additional notes.
public struct AuditView: Sendable {
    /// The report.
    public let report: AuditReport
    /// The least severity of listed findings; findings below it are only counted.
    public let least: Severity
    /// The least severity at which a finding ends the command with status 1.
    public let threshold: Severity
    /// A Boolean value that indicates whether findings of an earlier state were omitted.
    public var hasBaseline = false
    /// A Boolean value that indicates whether files without findings are listed as well.
    public var listsFiles = false
    /// A Boolean value that indicates whether the output is a terminal with colours.
    public var usesColor = false
    /// Notes in addition to the report's own.
    public var ownNotes: [String] = []

    /// Creates a view of a report.
    ///
    /// - Parameters:
    ///   - least: The least severity of listed findings; findings below it are only counted.
    ///   - threshold: The least severity at which a finding counts as a failure.
    public init(report: AuditReport, least: Severity = .info, threshold: Severity = .low) {
        self.report = report
        self.least = least
        self.threshold = threshold
    }

    /// The listed findings: the most severe first, then by path.
    public var findings: [Finding] {
        least == .info ? report.findings : report.findings.filter { $0.severity >= least }
    }

    /// The report's notes and the notes of this run.
    var notes: [String] { report.notes + ownNotes }

    /// The number of all findings, listed or not.
    public var total: Int { report.counts.values.reduce(0, +) }

    /// The number of findings at the threshold or above, listed or not.
    public var failing: Int { report.counts.reduce(0) { $0 + ($1.key >= threshold ? $1.value : 0) } }

    /// The number of findings that are counted but not listed, because they are below the least severity.
    var hidden: Int { least == .info ? 0 : report.findings.count { $0.severity < least } }

    var plaintextShare: Double? { Self.share(of: report.plaintextBytes, in: totalBytes) }
    var sealedShare: Double? { Self.share(of: report.sealedBytes, in: totalBytes) }
    var totalBytes: Int64 { report.kinds.reduce(0) { $0 + $1.bytes } }

    static func share(of part: Int64, in whole: Int64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

extension Severity {
    /// The severities from the highest down, as every format lists them.
    static let descending: [Severity] = allCases.reversed()
}

/// The destination of a report, piece by piece: a report of 250,000 files is never one string.
public protocol ReportSink {
    /// Takes the next piece.
    func write(_ text: String)
}

extension ReportSink {
    func writeLine(_ text: String) { write(text + "\n") }
}

/// A sink that collects a report in one string.
public final class ReportText: ReportSink {
    /// The text so far.
    public private(set) var text = ""

    /// Creates an empty sink.
    public init() {}

    /// Adds a piece.
    public func write(_ text: String) { self.text += text }
}
