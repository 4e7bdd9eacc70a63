internal import AppGroups
internal import ArgumentParser
internal import ContainerAudit
internal import FoundationEssentials

/// `sealctl audit`: what lies in a container and what is wrong with it.
struct AuditCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Say what lies in a container and what is wrong with it.",
        discussion: """
            With a group, its vault opens every sealed blob; with a PATH, any directory is looked at without keys. \
            Nothing in it is changed. Exit status 1 says that there are findings of the severity of --fail-on or above.

            Examples:
              sealctl audit --group group.com.example.app
              sealctl audit -f html -o ~/report.html ~/old-container
              sealctl audit -f sarif --fail-on high container > audit.sarif
              sealctl audit --write-baseline known.json container
              sealctl audit --baseline known.json container
              sealctl audit --explain plaintext.file
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "A directory to look at instead of a group's container.", completion: .directory)
    var path: String?
    @OptionGroup(title: "Report options") var reporting: AuditReportOptions
    @OptionGroup(title: "Search options") var search: AuditSearchOptions
    @OptionGroup(title: "Options for known findings") var suppression: SuppressionOptions
    @Option(
        help: ArgumentHelp("Take an earlier report, as -f json wrote it, instead of a container.", valueName: "FILE"),
        completion: .file())
    var from: String?
    @Option(
        help: ArgumentHelp("Say what a check means and what to do; all lists them.", valueName: "ID"),
        completion: .custom { _, _, _ in [CheckExplanation.everything] + AuditCheck.all.map(\.id) })
    var explain: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        if path != nil, groupOptions.group != nil {
            throw ValidationError("Give a PATH or --group, not both.")
        }
        if from != nil, path != nil || groupOptions.group != nil {
            throw ValidationError("--from takes the place of a PATH or --group.")
        }
        if path != nil || from != nil, search.withKeys {
            throw ValidationError("--with-keys needs the vault of a group: give --group.")
        }
        if search.withoutKeys, !keyOptions.isUnstated {
            throw ValidationError("--without-keys needs nothing that opens the vault.")
        }
        if from != nil, suppression.writesAnything {
            throw ValidationError(
                "--write-baseline and --write-ignore take what an audit finds, not an earlier report.")
        }
        if output.json, let format = reporting.format, format != .json {
            throw ValidationError("--json is -f json: give one format.")
        }
    }

    func perform() throws(Failure) {
        if let explain { return try StandardStreams.print(try CheckExplanation.text(explain, json: output.json)) }
        let run = AuditJob(
            path: path, groupOptions: groupOptions, keyOptions: keyOptions, search: search, suppression: suppression,
            reportFile: reporting.file)
        let result = try result(of: run)
        let view = view(of: result)
        try write(view)
        if let file = suppression.writeBaseline { try run.writeBaseline(result, to: file) }
        if let file = suppression.writeIgnore { try run.writeIgnoreList(view.findings, to: file) }
        if suppression.writesAnything { return }
        if view.failing > 0, !reporting.exitZero { throw Findings.failure }
    }

    private func result(of run: AuditJob) throws(Failure) -> AuditJob.Result {
        guard let from else { return try run.result() }
        return try StoredReport.read(from)
    }

    private var format: AuditFormat { reporting.format(json: output.json) }

    private func view(of result: AuditJob.Result) -> AuditView {
        var view = AuditView(
            report: result.report, least: reporting.severity.severity, threshold: reporting.failOn.severity)
        view.hasBaseline = suppression.baseline != nil
        view.listsFiles = reporting.allFiles
        view.ownNotes = result.notes
        view.usesColor = reporting.file == nil && Appearance.outputUsesColor
        return view
    }

    private func write(_ view: AuditView) throws(Failure) {
        let file = ReportFile(try OutputFile(reporting.file, mode: ordinaryFileMode()))
        format.write(view, to: file)
        try file.finish()
        guard let name = reporting.file, name != "-" else { return }
        let total = FindingText.count(view.total, "finding")
        Talk.note("\(name): \(total), \(view.failing) at or above \(view.threshold)")
    }

    private enum Findings {
        /// The report has said it all.
        static let failure = Failure(.findings, "findings", "there are findings", hint: "", isSilent: true)
    }
}
