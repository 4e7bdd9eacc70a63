internal import ContainerAudit

/// A row for each finding, as RFC 4180 has it, that a spreadsheet opens without calculating anything.
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
