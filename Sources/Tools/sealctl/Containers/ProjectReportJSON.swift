internal import XcodeEntitlements

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
