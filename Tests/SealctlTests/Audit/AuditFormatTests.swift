import TestSupport
import Testing

/// Tests of every format of the report with the same findings, which contain arbitrary text.
@Suite struct AuditFormatTests {
    static let formats = ["table", "json", "jsonl", "sarif", "junit", "csv", "html"]

    /// The path of a second reader of each format, in Python.
    static let checker =
        #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures/sarif/check.py"

    private static func write(_ report: HandReport, in sandbox: Sandbox) throws {
        try sandbox.file("report.json", try report.json())
    }

    @Test(arguments: formats, ReportCase.allCases)
    func everyReaderOfTheFormatTakesIt(format: String, report: ReportCase) throws {
        let sandbox = try Sandbox()
        try Self.write(report.report, in: sandbox)
        let result = try sandbox.sealctl(["audit", "--from", "report.json", "-f", format, "-o", "out", "--quiet"])
        #expect(result.exitCode == (report == .empty ? 0 : 1), "\(result.errorText)")
        #expect(result.output.isEmpty && result.errors.isEmpty)
        let check = try ChildProcess.run(
            Python.pathWithSchemas, [Self.checker, format, "report.json", "out"], directory: sandbox.path("files"))
        #expect(check.exitCode == 0, "\(check.outputText)\(check.errorText)")
        #expect(!check.errorText.contains("jsonschema is not installed"))
    }

    @Test(arguments: formats)
    func printedTextMatchesWrittenText(format: String) throws {
        let sandbox = try Sandbox()
        try Self.write(.usual, in: sandbox)
        let arguments = ["audit", "--from", "report.json", "-f", format]
        let printed = try sandbox.sealctl(arguments)
        _ = try sandbox.sealctl(arguments + ["-o", "out"])
        #expect(try SystemFile.read(sandbox.path("files/out")) == printed.output)
        #expect(try sandbox.sealctl(arguments + ["-o", "-"]).output == printed.output)
    }

    /// The other formats are generated from JSON, so nothing may be lost in it.
    @Test(arguments: [ReportCase.empty, .usual, .hostile])
    func jsonReadsBackToTheSame(report: ReportCase) throws {
        let sandbox = try Sandbox()
        try Self.write(report.report, in: sandbox)
        let first = try sandbox.sealctl(["audit", "--from", "report.json", "--json"]).output
        try sandbox.file("second.json", first)
        #expect(try sandbox.sealctl(["audit", "--from", "second.json", "--json"]).output == first)
    }

    @Test(arguments: formats)
    func aSeverityLeavesOutWhatIsBelow(format: String) throws {
        let sandbox = try Sandbox()
        try Self.write(.usual, in: sandbox)
        let arguments = ["audit", "--from", "report.json", "-f", format]
        let all = try sandbox.sealctl(arguments).outputText
        let grave = try sandbox.sealctl(arguments + ["--severity", "high"]).outputText
        #expect(all.contains("chmod o-rwx") && grave.contains("Records/b.sealed"))
        #expect(!grave.contains("chmod o-rwx x"))
    }

    @Test func sarifPathsAreBelowTheCurrentDirectory() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.directory("files/many")
        try sandbox.file("many/new\u{1B}\nline.txt", Array("key: AKIAQ4ZB7MNTW2KRXHVJ\né AKIAQ4ZB7MNTW2KRXHVK\n".utf8))
        let text = try sandbox.sealctl(["audit", "-f", "sarif", "many"]).outputText
        let log = try decode(MachineSARIF.self, Array(text.utf8))
        let run = try #require(log.runs.first)
        #expect(run.originalUriBaseIds["%SRCROOT%"]?.uri == "file://" + sandbox.path("files") + "/")
        let places = run.results.map(\.locations[0].physicalLocation)
        #expect(places.contains { $0.artifactLocation.uri == "many/new%1B%0Aline.txt" && $0.region?.startColumn == 3 })
        #expect(run.results.allSatisfy { $0.message.text.contains(". ") })
        #expect(run.invocations[0].startTimeUtc.hasSuffix("Z") && run.invocations[0].endTimeUtc.hasSuffix("Z"))
        let outside = try sandbox.shell("mkdir other && cd other && \"$S\" audit -f sarif ../many")
        let base = try decode(MachineSARIF.self, outside.output).runs[0].originalUriBaseIds["%SRCROOT%"]?.uri
        #expect(base == "file://" + sandbox.path("files/many") + "/")
    }

    @Test(arguments: formats.filter { $0 != "csv" })
    func everyFormSaysWhenItWasMade(format: String) throws {
        let sandbox = try Sandbox()
        try Self.write(.usual, in: sandbox)
        let text = try sandbox.sealctl(["audit", "--from", "report.json", "-f", format]).outputText
        let isForPeople = format == "table" || format == "html"
        #expect(text.contains(isForPeople ? "2026-11-21 03:30:00Z" : "2026-11-21T03:30:00.500Z"))
    }

    @Test func aTableFitsEightyColumns() throws {
        let sandbox = try Sandbox()
        try Self.write(.usual, in: sandbox)
        let text = try sandbox.sealctl(["audit", "--from", "report.json"]).outputText
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test(arguments: formats)
    func coloursAreForTerminals(format: String) throws {
        let sandbox = try Sandbox()
        try Self.write(.usual, in: sandbox)
        let result = try sandbox.sealctl(["audit", "--from", "report.json", "-f", format])
        #expect(!result.output.contains(0x1B))
    }

    /// Planted values of a real container must not appear in any report, not even their beginning.
    @Test(arguments: formats)
    func noReportHoldsAValue(format: String) throws {
        let sandbox = try Sandbox.initialised()
        let token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
        let password = "vZ7qTnpL2xWfKd"
        try sandbox.put("mine", "{\"password\":\"\(password)\"}")
        try SystemFile.write(
            sandbox.container + "/settings.json", Array("{\"apiToken\":\"\(token)\",\"password\":\"\(password)\"}".utf8)
        )
        try SystemFile.write(
            sandbox.container + "/app.log",
            Array("GET / Authorization: Bearer \(token)\nlogin password=\(password)\n".utf8))
        let result = try sandbox.sealctl(["audit", "-f", format, "--all-files", "--verbose"])
        #expect(result.exitCode == 1, "\(result.errorText)")
        for secret in [token.dropFirst(4).prefix(8), password.prefix(6)] {
            #expect(!result.outputText.contains(secret) && !result.errorText.contains(secret))
        }
    }
}

/// The parts of a SARIF report that these tests read.
private struct MachineSARIF: Decodable {
    struct Base: Decodable { let uri: String }
    struct Text: Decodable { let text: String }
    struct Region: Decodable { let startColumn: Int? }
    struct Artifact: Decodable { let uri: String }
    struct Physical: Decodable {
        let artifactLocation: Artifact
        let region: Region?
    }
    struct Location: Decodable { let physicalLocation: Physical }
    struct Result: Decodable {
        let message: Text
        let locations: [Location]
    }
    struct Invocation: Decodable {
        let startTimeUtc: String
        let endTimeUtc: String
    }
    struct Run: Decodable {
        let originalUriBaseIds: [String: Base]
        let invocations: [Invocation]
        let results: [Result]
    }
    let runs: [Run]
}
