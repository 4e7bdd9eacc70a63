internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import ContainerAudit
internal import FoundationEssentials

/// `sealctl audit`: lists a container's files and reports what is wrong with them.
struct AuditCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Report the contents and the faults of a container.",
        discussion: """
            With a group, the audit opens every sealed blob with the group's vault. With a PATH, it examines any \
            directory without keys. It changes nothing in the directory. Exit status 1 means that there are findings \
            of the severity of --fail-on or above.

            Examples:
              sealctl audit --group group.com.example.app
              sealctl audit -f html -o ~/report.html ~/old-container
              sealctl audit -f sarif --fail-on high container > audit.sarif
              sealctl audit --write-baseline known.json container
              sealctl audit --baseline known.json container
              sealctl audit --explain plaintext.file
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "A directory to audit instead of a group's container.", completion: .directory)
    var path: String?
    @OptionGroup(title: "Report options") var reporting: AuditReportOptions
    @OptionGroup(title: "Search options") var search: AuditSearchOptions
    @OptionGroup(title: "Options for known findings") var suppression: SuppressionOptions
    @Option(
        help: ArgumentHelp("Read an earlier report, written by -f json, instead of a container.", valueName: "FILE"),
        completion: .file())
    var from: String?
    @Option(
        help: ArgumentHelp("Explain a check and its remedy; all lists the checks.", valueName: "ID"),
        completion: .custom { _, _, _ in [CheckExplanation.everything] + AuditCheck.all.map(\.id) })
    var explain: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        if path != nil, groupOptions.group != nil {
            throw ValidationError("Give a PATH or --group, not both.")
        }
        if from != nil, path != nil || groupOptions.group != nil {
            throw ValidationError("--from replaces a PATH or --group.")
        }
        if path != nil || from != nil, search.withKeys {
            throw ValidationError("--with-keys needs the vault of a group: give --group.")
        }
        if search.withoutKeys, !keyOptions.isUnstated {
            throw ValidationError("--without-keys excludes the options that open the vault.")
        }
        if from != nil, suppression.writesAnything {
            throw ValidationError(
                "--write-baseline and --write-ignore need an audit, not an earlier report.")
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
        ConsoleMessages.note("\(name): \(total), \(view.failing) at or above \(view.threshold)")
    }

    private enum Findings {
        /// The failure of a run with findings; silent, because the report has already shown them.
        static let failure = Failure(.findings, "findings", "there are findings", hint: "", isSilent: true)
    }
}

/// The options for the format of an audit's report and for its exit status.
struct AuditReportOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Form of the report: table, json, jsonl, sarif, junit, csv or html.", valueName: "format"))
    var format: AuditFormat?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write the report to FILE; - is standard output.", valueName: "FILE"), completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The lowest severity that is listed: info, low, medium, high or critical.", valueName: "severity"))
    var severity = SeverityArgument(.info)

    @Option(help: ArgumentHelp("The lowest severity that ends with status 1.", valueName: "severity"))
    var failOn = SeverityArgument(.low)

    @Flag(help: "End with status 0 regardless of the findings.")
    var exitZero = false

    @Flag(help: "In a table, list every file, not only those with findings.")
    var allFiles = false

    func format(json: Bool) -> AuditFormat { format ?? (json ? .json : .table) }
}

/// A severity on the command line.
struct SeverityArgument: ExpressibleByArgument {
    let severity: Severity

    init(_ severity: Severity) { self.severity = severity }

    init?(argument: String) {
        guard let severity = Severity(rawValue: argument) else { return nil }
        self.severity = severity
    }

    var defaultValueDescription: String { severity.rawValue }
    static var allValueStrings: [String] { Severity.allCases.map(\.rawValue) }
}

/// A report that an earlier run wrote and that is shown in another form.
enum StoredReport {
    private static let limit = 1 << 30

    static func read(_ path: String) throws(Failure) -> AuditJob.Result {
        let bytes = try SmallFile.read(path, limit: limit)
        guard let report = try? AuditReport(json: Data(bytes)) else {
            throw Failure(
                .dataError, "notAReport", "\(path) is not a report of an audit",
                hint: "Name a file that sealctl audit -f json has written.")
        }
        return AuditJob.Result(report: report, notes: [])
    }
}

/// The text that `--explain` prints.
enum CheckExplanation {
    /// The argument for every check.
    static let everything = "all"

    static func text(_ id: String, json: Bool) throws(Failure) -> String {
        if id == everything { return json ? JSONText.array(AuditCheck.all.map(fields)).text : list }
        guard let check = AuditCheck.named(id), let text = AuditCheck.explanation(of: id) else {
            throw Failure(
                .usage, "noSuchCheck", "there is no check \(id)",
                hint: "sealctl audit --explain \(everything) lists them.")
        }
        // Printing adds the line end.
        return json ? fields(check).text : String(text.dropLast())
    }

    private static var list: String {
        var table = TextTable([.init(title: "ID"), .init(title: "SEVERITY"), .init(title: "TITLE")])
        for check in AuditCheck.all { table.add([check.id, check.severity.rawValue, check.title]) }
        return table.text
    }

    private static func fields(_ check: AuditCheck) -> JSONText {
        .object([
            ("id", .string(check.id)), ("severity", .string(check.severity.rawValue)), ("title", .string(check.title)),
            ("meaning", .string(check.meaning)), ("remedy", .string(check.remedyText)),
            ("references", .array(check.references.map { .string($0) })),
        ])
    }
}
