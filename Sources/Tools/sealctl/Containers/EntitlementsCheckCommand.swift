internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import PropertyLists
internal import SharedFiles
internal import XcodeEntitlements

/// `sealctl entitlements check`: prints a matrix of targets and groups, and the findings about it.
struct EntitlementsCheckCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report the groups that a project's targets share, and their faults.",
        discussion: """
            Finds projects, entitlements and profiles below each PATH, and compares each target's groups with the \
            other parts of its app, with its other configurations and with its profile. The command changes nothing. \
            Exit status 1 means that there are findings of the severity of --fail-on or above.

            Examples:
              sealctl entitlements check .
              sealctl entitlements check --sarif ios > entitlements.sarif
              sealctl entitlements check App.xcodeproj --profile App.mobileprovision
            """)

    @Argument(
        help:
            "Folders, .xcodeproj, Info.plist, .entitlements and profile files; the current directory by default.",
        completion: .file())
    var paths: [String] = []
    @Option(help: ArgumentHelp("A provisioning profile to compare with; can be repeated.", valueName: "file"))
    var profile: [String] = []
    @Option(help: ArgumentHelp("The signing team, instead of the projects' own.", valueName: "team"))
    var team: String?
    @Option(
        help: ArgumentHelp(
            "The lowest severity that ends with status 1: error, warning or note.", valueName: "severity")
    )
    var failOn: LeastSeverity = .warning
    @Option(
        help: ArgumentHelp(
            "Omit a finding, such as ENT001, or that of one target, such as ENT001:Widget; can be repeated.",
            valueName: "id[:target]"))
    var ignore: [String] = []
    @Flag(help: "The findings as SARIF 2.1.0, for code hosts.")
    var sarif = false
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        if sarif, output.json { throw ValidationError("Give --json or --sarif, not both.") }
        for entry in ignore where IgnoredFinding(entry) == nil {
            throw ValidationError("No finding has the id \(entry): see sealctl entitlements explain.")
        }
    }

    func perform() throws(Failure) {
        let report = try check()
        guard
            !report.targets.isEmpty || !report.findings.isEmpty || !report.profiles.isEmpty || !report.projects.isEmpty
        else {
            throw Failure(
                .noInput, "nothingFound", "found no project, entitlements or profile below \(report.root)",
                hint: "Give the folder that contains the .xcodeproj or the .entitlements files.")
        }
        let isClean = report.worst.map { $0 < failOn.severity } ?? true
        try StandardStreams.print(text(report, isClean: isClean))
        if !isClean { throw Failure(.findings, "findings", "there are findings", hint: "", isSilent: true) }
    }

    private func check() throws(Failure) -> ProjectReport {
        var check = ProjectCheck()
        check.profiles = profile
        if let team {
            check.team = try Failure.onGroup { () throws(AppGroupError) in try TeamIdentifier(team).identifier }
        }
        let now = try Self.now()
        do throws(ProvisioningError) {
            return leaveOut(from: try check.run(paths.isEmpty ? ["."] : paths, at: now))
        } catch { throw Failure(error) }
    }

    /// Leaves out the ignored findings. An entry that covers no finding is outdated or misspelled.
    private func leaveOut(from report: ProjectReport) -> ProjectReport {
        let ignored = ignore.compactMap { text in IgnoredFinding(text).map { (text, $0) } }
        let idle = ignored.filter { !report.findings.contains(where: $0.1.covers) }
        return report.ignoring { finding in ignored.contains { $0.1.covers(finding) } }
            .adding(notes: idle.map { "--ignore \($0.0) matched no finding".printable })
    }

    /// - Throws: `Failure` if the clock's time is outside the calendar's range.
    static func now() throws(Failure) -> PropertyListDate {
        guard let date = PropertyListDate(secondsSince1970: Double(Timestamp.now.milliseconds) / 1000) else {
            throw Failure(.systemError, "clock", "the clock is beyond the year 9999", hint: "Set it: timedatectl.")
        }
        return date
    }

    private func text(_ report: ProjectReport, isClean: Bool) -> String {
        if sarif { return ProjectReportSARIF(report).text }
        return output.json ? ProjectReportJSON(report, isClean: isClean).json.text : ProjectReportText(report).text
    }
}

/// The argument of `--fail-on`.
enum LeastSeverity: String, CaseIterable, ExpressibleByArgument {
    case error, warning, note

    var severity: FindingSeverity {
        switch self {
        case .error: .error
        case .warning: .warning
        case .note: .note
        }
    }
}

/// The argument of `--ignore`: a rule, or a rule for one target.
struct IgnoredFinding {
    private let rule: ProjectRule
    private let target: Substring?

    /// Returns `nil` if no rule has that id or name, or if the target is empty.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.last?.isEmpty == false, let first = parts.first, let rule = ProjectRule.named(String(first)) else {
            return nil
        }
        self.rule = rule
        target = parts.dropFirst().first
    }

    func covers(_ finding: ProjectFinding) -> Bool {
        finding.rule == rule && (target == nil || target.map { String($0) } == finding.target)
    }
}
