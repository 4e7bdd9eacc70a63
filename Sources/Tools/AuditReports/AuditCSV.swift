internal import ContainerAudit
internal import SharedFiles

/// The report as CSV (RFC 4180): one row for each finding. Cells are written so that a spreadsheet calculates nothing.
struct AuditCSV {
    private static let columns = [
        "severity", "confidence", "id", "title", "path", "place", "line", "column", "offset", "length", "detail",
        "remedy", "references", "fingerprint",
    ]

    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        sink.write(CSVText.row(Self.columns))
        for finding in view.findings { sink.write(CSVText.row(Self.cells(finding))) }
    }

    private static func cells(_ finding: Finding) -> [String] {
        let location = finding.location ?? FindingLocation()
        let numbers = [
            location.line.map { String($0) }, location.column.map { String($0) }, location.offset.map { String($0) },
            location.length.map { String($0) },
        ]
        return [
            finding.severity.rawValue, finding.confidence.rawValue, finding.id, finding.title, finding.path,
            location.place ?? "",
        ] + numbers.map { $0 ?? "" } + [
            finding.detail, finding.remedy, finding.references.joined(separator: " "), finding.fingerprint ?? "",
        ]
    }
}

/// Comma-separated values (RFC 4180).
enum CSVText {
    /// The characters, in both widths, that make a spreadsheet treat a cell as a formula and run it when it opens the
    /// file.
    private static let formulaMarks: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]

    /// Returns a row with its line end.
    static func row(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// Returns the text of a cell. An apostrophe in front makes a would-be formula text. Control characters are
    /// escaped, so a row is one line.
    private static func cell(_ text: String) -> String {
        let plain = text.printable
        let first = plain.unicodeScalars.first { $0 != " " }
        let safe = first.map(formulaMarks.contains) == true ? "'" + plain : plain
        guard safe.unicodeScalars.contains(where: { ",\"".unicodeScalars.contains($0) }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
