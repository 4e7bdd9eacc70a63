internal import ArgumentParser
internal import ContainerAudit

/// How an audit is reported, and what its exit status says.
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
            "The least severity that is listed: info, low, medium, high or critical.", valueName: "severity"))
    var severity = SeverityArgument(.info)

    @Option(help: ArgumentHelp("The least severity that ends with status 1.", valueName: "severity"))
    var failOn = SeverityArgument(.low)

    @Flag(help: "End with status 0 whatever was found.")
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
