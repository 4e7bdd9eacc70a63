/// What a check of projects, entitlements and profiles has found.
public struct ProjectReport: Sendable {
    /// The directory that all paths in the report are below.
    public let root: String
    /// The projects that were read.
    public let projects: [String]
    /// The profiles that were read.
    public let profiles: [String]
    /// A row for each target; more than one where its configurations or platforms differ in what they hold.
    public let targets: [ReportedTarget]
    /// The gravest first, then by path and line.
    public let findings: [ProjectFinding]
    /// What was not looked at.
    public let notes: [String]

    /// The report without some findings; a note says how many there were.
    public func ignoring(_ isIgnored: (ProjectFinding) -> Bool) -> ProjectReport {
        let kept = findings.filter { !isIgnored($0) }
        let count = findings.count - kept.count
        return ProjectReport(
            root: root, projects: projects, profiles: profiles, targets: targets, findings: kept,
            notes: notes + (count == 0 ? [] : ["\(count) finding\(count == 1 ? "" : "s") ignored, as asked"]))
    }

    /// The report with more notes.
    public func adding(notes more: [String]) -> ProjectReport {
        ProjectReport(
            root: root, projects: projects, profiles: profiles, targets: targets, findings: findings,
            notes: notes + more)
    }

    /// The gravest finding; nil without any.
    public var worst: FindingSeverity? { findings.map(\.severity).max() }

    /// How many findings have a severity.
    public func count(of severity: FindingSeverity) -> Int { findings.count { $0.severity == severity } }
}

/// A row of the matrix: what a target holds.
public struct ReportedTarget: Sendable, Hashable {
    /// The target's name, or the file's without a project.
    public let name: String
    /// The name of its project; nil without one.
    public let project: String?
    /// What it makes.
    public let kind: TargetKind
    /// The target that it lies in; nil for an app of its own.
    public let app: String?
    /// What it is built for.
    public let platforms: [BuildPlatform]
    /// The configurations of this row; empty where it is all of them.
    public let configurations: [String]
    /// The bundle identifiers.
    public let bundleIdentifiers: [String]
    /// The team; nil where the project leaves it open.
    public let team: String?
    /// The entitlements files, below the report's root.
    public let entitlements: [String]
    /// Its app groups. `<team>` stands for a team that is not known.
    public let groups: [String]
    /// Its keychain access groups.
    public let accessGroups: [String]
    /// Its key-value store.
    public let keyValueStore: String?
    /// Whether it runs in the sandbox of macOS; nil where nothing says so.
    public let isSandboxed: Bool?
    /// The groups that its app holds and it does not; of an app, those that one of its extensions holds.
    public let missingGroups: [String]
    /// The keychain access groups that its app holds and it does not, without the app's own.
    public let missingAccessGroups: [String]
    /// Whether its entitlements are known: false where the file is not there or cannot be read.
    public let isReadable: Bool
}

/// One mistake, and where it is.
public struct ProjectFinding: Sendable, Hashable {
    /// Which kind of mistake.
    public let rule: ProjectRule
    /// How much it matters here.
    public let severity: FindingSeverity
    /// The target's name; nil for what concerns no single one.
    public let target: String?
    /// The configurations that have it; empty where it is all of them, or there are none.
    public let configurations: [String]
    /// The file, below the report's root.
    public let path: String
    /// The line in it, counted from 1, where it is known.
    public let line: Int?
    /// What it is about: a group, a setting, a profile. May be empty.
    public let subject: String
    /// What was found, as a sentence.
    public let detail: String
    /// What to do, as a sentence.
    public let remedy: String
}

/// How much a finding matters; the words are those of SARIF's levels.
public enum FindingSeverity: String, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
    /// Worth knowing; often on purpose.
    case note
    /// Most likely a mistake: programs will not see what they expect.
    case warning
    /// It does not work: signing, installing or sharing fails.
    case error

    /// The word.
    public var description: String { rawValue }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }

    /// By how much it matters.
    public static func < (first: Self, second: Self) -> Bool { first.rank < second.rank }
}
