internal import SharedFiles
internal import XcodeEntitlements

/// The findings of a check for code hosts.
struct ProjectReportSARIF {
    private let report: ProjectReport

    init(_ report: ProjectReport) { self.report = report }

    var text: String {
        let report = SARIFReport(
            rules: ProjectRule.all.map(Self.rule), results: report.findings.map(Self.result),
            notes: report.notes.map(\.printable),
            root: report.root)
        // Printing adds the line's end.
        return String(report.text.dropLast())
    }

    private static func rule(_ rule: ProjectRule) -> SARIFRule {
        SARIFRule(
            id: rule.id, name: rule.name, level: level(rule.severity), title: rule.title, meaning: rule.meaning,
            remedy: rule.remedy)
    }

    private static func result(_ finding: ProjectFinding) -> SARIFResult {
        let configurations = finding.configurations.joined(separator: ", ")
        let detail = finding.detail + (configurations.isEmpty ? "" : " (\(configurations))")
        return SARIFResult(
            rule: finding.rule.id, level: level(finding.severity), message: "\(detail) \(finding.remedy)".printable,
            path: finding.path, line: finding.line,
            fingerprint: [finding.rule.id, finding.path, finding.target ?? "", finding.subject].joined(separator: "|"))
    }

    private static func level(_ severity: FindingSeverity) -> SARIFLevel {
        switch severity {
        case .note: .note
        case .warning: .warning
        case .error: .error
        }
    }
}
