internal import ContainerAudit

/// One object a line: first the container, then a line for each finding and each file, at last what was counted.
///
/// Each has a `type`: `audit`, `finding`, `file`, `note`, `summary`. Without a `summary` the output was cut off.
struct AuditJSONLines {
    private let view: AuditView

    init(_ view: AuditView) { self.view = view }

    func write(to sink: any ReportSink) {
        let report = view.report
        line(
            "audit",
            [
                ("auditedAt", .string(Timestamp(report.auditedAt).rfc3339)),
                ("finishedAt", .string(Timestamp(report.finishedAt).rfc3339)),
                ("containerPath", .string(report.containerPath)), ("group", .optional(report.group)),
                ("withKeys", .bool(report.withKeys)),
            ], to: sink)
        for finding in view.findings { line("finding", FindingJSON.fields(finding), to: sink) }
        for file in report.files { line("file", AuditedFileJSON.fields(file), to: sink) }
        for note in view.notes { line("note", [("text", .string(note))], to: sink) }
        line("summary", summary, to: sink)
    }

    private var summary: [(String, JSONText)] {
        let counts = Severity.allCases.map { ($0.rawValue, JSONText.number(view.report.counts[$0] ?? 0)) }
        return [
            ("isClean", .bool(view.report.isClean)), ("failing", .number(view.failing)),
            ("counts", .object(counts)), ("omissions", OmissionsJSON.json(view.report.omissions)),
        ]
    }

    private func line(_ type: String, _ fields: [(String, JSONText)], to sink: any ReportSink) {
        sink.writeLine(JSONText.object([("type", .string(type))] + fields).text)
    }
}
