/// The result of a check of projects, entitlements and profiles.
public struct ProjectReport: Sendable {
    /// The directory that all paths in the report are relative to.
    public let root: String
    /// The projects that were read.
    public let projects: [String]
    /// The profiles that were read.
    public let profiles: [String]
    /// The rows by target. A target has more than one row if its configurations or platforms differ in their items.
    public let targets: [ReportedTarget]
    /// The findings, most severe first, then by path and line.
    public let findings: [ProjectFinding]
    /// The notes on unchecked parts.
    public let notes: [String]

    /// Returns the report without some findings, with a note on their number.
    public func ignoring(_ isIgnored: (ProjectFinding) -> Bool) -> ProjectReport {
        let kept = findings.filter { !isIgnored($0) }
        let count = findings.count - kept.count
        return ProjectReport(
            root: root, projects: projects, profiles: profiles, targets: targets, findings: kept,
            notes: notes + (count == 0 ? [] : ["\(count) finding\(count == 1 ? "" : "s") ignored, as asked"]))
    }

    /// Returns the report with more notes.
    public func adding(notes more: [String]) -> ProjectReport {
        ProjectReport(
            root: root, projects: projects, profiles: profiles, targets: targets, findings: findings,
            notes: notes + more)
    }

    /// The greatest severity of the findings, or `nil` without findings.
    public var worst: FindingSeverity? { findings.map(\.severity).max() }

    /// Returns the number of findings with a severity.
    public func count(of severity: FindingSeverity) -> Int { findings.count { $0.severity == severity } }
}

/// A row of the matrix: the items of a target.
public struct ReportedTarget: Sendable, Hashable {
    /// The target's name, or the file's without a project.
    public let name: String
    /// The project's name, or `nil` without a project.
    public let project: String?
    /// The kind of the target's product.
    public let kind: TargetKind
    /// The target that contains it, or `nil` for an independent app.
    public let app: String?
    /// The platforms that the target is built for.
    public let platforms: [BuildPlatform]
    /// The configurations of this row; empty for all.
    public let configurations: [String]
    /// The bundle identifiers.
    public let bundleIdentifiers: [String]
    /// The team, or `nil` if the project does not define it.
    public let team: String?
    /// The entitlements files, relative to the report's root.
    public let entitlements: [String]
    /// The app groups. `<team>` represents an unknown team.
    public let groups: [String]
    /// The keychain access groups.
    public let accessGroups: [String]
    /// The key-value store.
    public let keyValueStore: String?
    /// True if it runs in the sandbox of macOS, or `nil` if unknown.
    public let isSandboxed: Bool?
    /// The groups of its app that it lacks; for an app, those of one of its extensions.
    public let missingGroups: [String]
    /// The keychain access groups of its app that it lacks, without the app's own.
    public let missingAccessGroups: [String]
    /// True if its entitlements are known, false if the file is missing or unreadable.
    public let isReadable: Bool
}

/// A mistake and its place.
public struct ProjectFinding: Sendable, Hashable {
    /// The kind of the mistake.
    public let rule: ProjectRule
    /// The severity in this case.
    public let severity: FindingSeverity
    /// The target's name, or `nil` if it concerns several or none.
    public let target: String?
    /// The configurations with the mistake; empty for all, or if there are no configurations.
    public let configurations: [String]
    /// The file, relative to the report's root.
    public let path: String
    /// The line in the file from 1, if known.
    public let line: Int?
    /// The subject: a group, a setting, a profile. May be empty.
    public let subject: String
    /// The finding as a sentence.
    public let detail: String
    /// The remedy as a sentence.
    public let remedy: String
}

/// The severity of a finding, in the words of SARIF's levels.
public enum FindingSeverity: String, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
    /// A fact worth knowing, often intended.
    case note
    /// A probable mistake: programs will not see what they expect.
    case warning
    /// A failure: signing, installing or sharing fails.
    case error

    /// The severity as a word.
    public var description: String { rawValue }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }

    /// Returns whether the first severity is less than the second.
    public static func < (first: Self, second: Self) -> Bool { first.rank < second.rank }
}
