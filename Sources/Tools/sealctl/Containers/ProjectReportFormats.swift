internal import AuditReports
internal import SharedFiles
internal import XcodeEntitlements

/// The report of a check for people: the matrix, a legend of its columns, and the findings.
struct ProjectReportText {
    private let report: ProjectReport
    private let columns: [ReportColumn]

    init(_ report: ProjectReport) {
        self.report = report
        columns = ReportColumn.all(of: report)
    }

    var text: String {
        let notes = report.notes.map { "note: \($0)" }
        let parts = [head, matrix, legend, findings] + notes
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var head: String {
        let counts = [
            Self.count(report.projects.count, "project"), Self.count(report.profiles.count, "profile"),
        ].compactMap { $0 }
        return report.root.printable + (counts.isEmpty ? "" : ": " + counts.joined(separator: ", "))
    }

    private static func count(_ number: Int, _ noun: String) -> String? {
        number == 0 ? nil : "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private var matrix: String {
        guard !report.targets.isEmpty else { return "" }
        var table = TextTable(
            ["TARGET", "KIND", "PLATFORM", "CONFIGURATION", "TEAM"].map { .init(title: $0) }
                + columns.map { .init(title: $0.title) })
        for target in report.targets { table.add(cells(of: target)) }
        return table.text
    }

    private func cells(of target: ReportedTarget) -> [String] {
        let platforms = target.platforms.map(\.rawValue).joined(separator: ", ")
        let configurations = target.configurations.joined(separator: ", ")
        return [
            (target.app == nil ? "" : "  ") + target.name, target.kind.rawValue, platforms.isEmpty ? "-" : platforms,
            configurations.isEmpty ? "all" : configurations, target.team ?? "-",
        ] + columns.map { $0.mark(target) }
    }

    private var legend: String {
        guard !columns.isEmpty else { return report.targets.isEmpty ? "" : "no target holds a group" }
        let fields = FieldList(columns.map { ($0.title, "\($0.kind.words) \($0.identifier)") })
        return fields.text + "\n\nx held, - missing: another part of the app holds it, . not held" + unknown
    }

    private var unknown: String {
        report.targets.allSatisfy(\.isReadable) ? "" : ", ? not known: its entitlements cannot be read"
    }

    private var findings: String {
        guard !report.findings.isEmpty else { return "no findings" }
        let total = report.findings.count
        let counts = FindingSeverity.allCases.reversed().compactMap { Self.count(report.count(of: $0), $0.rawValue) }
        let lines = report.findings.map { finding in
            let place = finding.path + (finding.line.map { ":\($0)" } ?? "")
            let configurations = finding.configurations.joined(separator: ", ")
            let head =
                "\(finding.severity)  \(finding.rule.id)  \(place)\(configurations.isEmpty ? "" : " (\(configurations))")"
            return "\(head.printable)\n  \(finding.detail.printable)\n  \(finding.remedy.printable)"
        }
        return "\(total) finding\(total == 1 ? "" : "s"): \(counts.joined(separator: ", "))\n\n"
            + lines.joined(separator: "\n\n")
    }
}

/// A column of the matrix: an identifier that a target has.
struct ReportColumn {
    enum Kind: String {
        case group = "G", accessGroup = "K", store = "S"

        var words: String {
            switch self {
            case .group: "app group"
            case .accessGroup: "keychain access group"
            case .store: "key-value store"
            }
        }
    }

    let kind: Kind
    let identifier: String
    /// The short title, such as `G1`, because identifiers are too long for the head of a column.
    let title: String

    /// Returns the columns. Each kind is numbered separately, in the order of the targets.
    static func all(of report: ProjectReport) -> [ReportColumn] {
        let kinds: [(Kind, (ReportedTarget) -> [String])] = [
            (.group, { $0.groups }), (.accessGroup, { $0.accessGroups }),
            (.store, { [$0.keyValueStore].compactMap { $0 } }),
        ]
        return kinds.flatMap { kind, held in
            var seen: Set<String> = []
            let identifiers = report.targets.flatMap(held).filter { seen.insert($0).inserted }
            return identifiers.enumerated().map { index, identifier in
                ReportColumn(kind: kind, identifier: identifier, title: "\(kind.rawValue)\(index + 1)")
            }
        }
    }

    func mark(_ target: ReportedTarget) -> String {
        guard target.isReadable else { return "?" }
        return switch kind {
        case .group:
            target.groups.contains(identifier) ? "x" : target.missingGroups.contains(identifier) ? "-" : "."
        case .accessGroup:
            target.accessGroups.contains(identifier) ? "x" : target.missingAccessGroups.contains(identifier) ? "-" : "."
        case .store: target.keyValueStore == identifier ? "x" : "."
        }
    }
}

/// The report of a check for machines; `docs/entitlements-check.md` lists the fields.
struct ProjectReportJSON {
    private let report: ProjectReport
    private let isClean: Bool

    init(_ report: ProjectReport, isClean: Bool) {
        self.report = report
        self.isClean = isClean
    }

    var json: JSONText {
        .object([
            ("root", .string(report.root)), ("projects", Self.list(report.projects)),
            ("profiles", Self.list(report.profiles)), ("targets", .array(report.targets.map(Self.target))),
            ("findings", .array(report.findings.map(Self.finding))), ("notes", Self.list(report.notes)),
            ("counts", .object(FindingSeverity.allCases.map { ($0.rawValue, .number(report.count(of: $0))) })),
            ("isClean", .bool(isClean)),
        ])
    }

    private static func list(_ texts: [String]) -> JSONText { .array(texts.map { .string($0) }) }

    private static func target(_ target: ReportedTarget) -> JSONText {
        .object([
            ("name", .string(target.name)), ("project", .optional(target.project)),
            ("kind", .string(target.kind.rawValue)), ("app", .optional(target.app)),
            ("platforms", list(target.platforms.map(\.rawValue))), ("configurations", list(target.configurations)),
            ("bundleIdentifiers", list(target.bundleIdentifiers)), ("team", .optional(target.team)),
            ("entitlements", list(target.entitlements)), ("groups", list(target.groups)),
            ("accessGroups", list(target.accessGroups)), ("keyValueStore", .optional(target.keyValueStore)),
            ("isSandboxed", target.isSandboxed.map { .bool($0) } ?? .null),
            ("missingGroups", list(target.missingGroups)), ("missingAccessGroups", list(target.missingAccessGroups)),
            ("isReadable", .bool(target.isReadable)),
        ])
    }

    private static func finding(_ finding: ProjectFinding) -> JSONText {
        .object([
            ("id", .string(finding.rule.id)), ("name", .string(finding.rule.name)),
            ("severity", .string(finding.severity.rawValue)), ("target", .optional(finding.target)),
            ("configurations", list(finding.configurations)), ("path", .string(finding.path)),
            ("line", finding.line.map { .number($0) } ?? .null), ("subject", .string(finding.subject)),
            ("detail", .string(finding.detail)), ("remedy", .string(finding.remedy)),
        ])
    }
}

/// The findings of a check for code hosts.
struct ProjectReportSARIF {
    private let report: ProjectReport

    init(_ report: ProjectReport) { self.report = report }

    var text: String {
        let report = SARIFReport(
            rules: ProjectRule.all.map(Self.rule), results: report.findings.map(Self.result),
            notes: report.notes.map(\.printable),
            root: report.root)
        // Printing adds the line end.
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
