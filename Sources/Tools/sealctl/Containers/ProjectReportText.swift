internal import SharedFiles
internal import XcodeEntitlements

/// The report of a check for people: the matrix, what its columns are, and the findings.
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

/// A column of the matrix: an identifier that some target holds.
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
    /// `G1`: identifiers are too long for the head of a column.
    let title: String

    /// Each kind numbered by itself, in the order in which targets hold them.
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
