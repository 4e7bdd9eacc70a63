internal import ArgumentParser

/// A form of the audit's report.
enum AuditFormat: String, CaseIterable, ExpressibleByArgument {
    /// For a person at a terminal.
    case table
    /// One object with everything.
    case json
    /// One object a line, for pipes.
    case jsonl
    /// SARIF 2.1.0, for code hosts.
    case sarif
    /// For servers that show tests.
    case junit
    /// RFC 4180, for spreadsheets.
    case csv
    /// One page for a browser.
    case html

    func write(_ view: AuditView, to sink: any ReportSink) {
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
