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
