/// One thing that is wrong, or worth knowing, about a container.
public struct Finding: Codable, Sendable, Hashable {
    /// The check's stable id, such as `blob.tampered`; `docs/audit-checks.md` lists them all.
    public let id: String
    /// How much it matters here; it may differ from the check's usual severity.
    public let severity: Severity
    /// How sure the audit is.
    public let confidence: Confidence
    /// The file's path below the container, `.` for the container itself; an absolute path for what lies outside. Safe to
    /// print.
    public let path: String
    /// What was found, in a few words; the same for each finding of the check.
    public let title: String
    /// What was found here, in a sentence or two; never contents of files. Safe to print.
    public let detail: String
    /// What to do, with the command where there is one. Safe to print.
    public let remedy: String
    /// Where in the file; nil for what concerns the whole file.
    public var location: FindingLocation?
    /// Names this finding in ignore files and baselines; nil where the audit had no fingerprint key.
    public var fingerprint: String?
    /// The controls and tests of OWASP MASVS and MASTG that it answers, such as `MASVS-STORAGE-1`.
    public var references: [String] = []
}
