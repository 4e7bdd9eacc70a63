import TestSupport
import Testing

/// Tests of the audit's options and exit statuses.
@Suite struct AuditOptionTests {
    private static func sandbox(_ report: HandReport = .usual) throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.file("report.json", try report.json())
        return sandbox
    }

    // MARK: - Exit status

    @Test(
        arguments: [
            (["--fail-on", "critical"], 1), (["--fail-on", "info"], 1), (["--exit-zero"], 0), ([], 1),
            (["--exit-zero", "-f", "sarif"], 0),
        ] as [([String], Int32)])
    func theStatusFollowsTheThreshold(options: [String], status: Int32) throws {
        #expect(try Self.sandbox().sealctl(["audit", "--from", "report.json"] + options).exitCode == status)
    }

    @Test(
        arguments: [("info", "low", 0), ("info", "info", 1), ("medium", "high", 0), ("medium", "medium", 1)]
            as [(String, String, Int32)])
    func aFindingBelowTheThresholdIsNotAFailure(severity: String, threshold: String, status: Int32) throws {
        var report = HandReport()
        report.findings = [.init(severity: severity, path: "a")]
        let result = try Self.sandbox(report).sealctl(["audit", "--from", "report.json", "--fail-on", threshold])
        #expect(result.exitCode == status)
    }

    /// Findings that are not listed because of the limit still count.
    @Test func unlistedFindingsCount() throws {
        var report = HandReport()
        // This is not the check's usual severity, which is medium.
        report.omissions.unlisted = [.init(severity: "low", count: 1)]
        let sandbox = try Self.sandbox(report)
        #expect(try sandbox.sealctl(["audit", "--from", "report.json"]).exitCode == 1)
        #expect(try sandbox.sealctl(["audit", "--from", "report.json", "--fail-on", "medium"]).exitCode == 0)
        let counts = try decode(
            MachineCounts.self, try sandbox.sealctl(["audit", "--from", "report.json", "--json"]).output)
        #expect(counts.counts["low"] == 1 && !counts.isClean)
    }

    /// The audit writes one note, and the grid counts the findings as well.
    @Test func aLimitIsReportedOnce() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.directory("files/tree")
        for number in 0..<5 { try sandbox.file("tree/f\(number)", Array("text".utf8)) }
        let result = try sandbox.sealctl(["audit", "--max-findings", "1", "tree"])
        #expect(result.outputText.components(of: "beyond the limits") == 1, "\(result.outputText)")
        let page = try sandbox.sealctl(["audit", "--max-findings", "1", "-f", "html", "tree"]).outputText
        #expect(page.components(of: "beyond the limits") == 1)
        struct Report: Decodable {
            let counts: [String: Int]
        }
        let all = try decode(Report.self, try sandbox.sealctl(["audit", "--json", "tree"]).output).counts
        let cut = ["audit", "--json", "--max-findings", "1", "tree"]
        #expect(try decode(Report.self, try sandbox.sealctl(cut).output).counts == all)
    }

    @Test(arguments: [["--passphrase-file", "x"], ["--key-file", "x"], ["--credential"]])
    func credentialsAreForAnAuditThatOpensTheVault(options: [String]) throws {
        let sandbox = try Sandbox.initialised()
        #expect(try sandbox.sealctl(["audit", "--without-keys"] + options).exitCode == 64)
    }

    @Test func withoutKeysTheGroupIsStillTheGroup() throws {
        struct Report: Decodable {
            let group: String?
            let notes: [String]
        }
        let sandbox = try Sandbox.initialised()
        let report = try decode(Report.self, try sandbox.succeed(["audit", "--without-keys", "--json"]).output)
        #expect(report.group == Sandbox.group)
        #expect(
            !report.notes.contains { $0.contains("no group") } && report.notes.contains { $0.contains("not used") })
        #expect(try !sandbox.succeed(["audit", "--without-keys"]).outputText.contains("no group"))
    }

    @Test func findingsOfAnEarlierReportAreNotWrittenToABaseline() throws {
        let sandbox = try Self.sandbox()
        for option in ["--write-baseline", "--write-ignore"] {
            #expect(try sandbox.sealctl(["audit", "--from", "report.json", option, "new"]).exitCode == 64)
        }
    }

    @Test(
        arguments: [
            (["--from", "missing"], 66), (["--from", "damaged"], 65), (["/nowhere"], 66), (["-f", "xml", "."], 64),
            (["--severity", "grave", "."], 64), (["--json", "-f", "html", "."], 64),
            (["--from", "report.json", "."], 64),
            (["--with-keys", "."], 64), (["--with-keys", "--without-keys"], 64), (["--jobs", "0", "."], 64),
            (["--max-findings", "0", "."], 64), (["--explain", "no.such-check"], 64), (["-o", "/nowhere/x", "."], 73),
            (["--ignore-file", "missing", "."], 66), (["--ignore-file", "damaged", "."], 65),
            (["--baseline", "missing", "."], 66), (["--baseline", "damaged", "."], 65),
            (["--baseline", "a", "--write-baseline", "b", "."], 64), (["--fingerprint-key", "damaged", "."], 65),
            (["--fingerprint-key", "missing", "."], 66),
        ] as [([String], Int32)])
    func aFailureIsNotAFinding(options: [String], status: Int32) throws {
        let sandbox = try Self.sandbox()
        try sandbox.file("damaged", Array("no such thing".utf8))
        let result = try sandbox.sealctl(["audit"] + options)
        #expect(result.exitCode == status, "\(result.errorText)")
        #expect(result.output.isEmpty && !result.errors.isEmpty)
    }

    @Test func aLockedVaultIsAnErrorWhereKeysAreAskedFor() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "pass", "--unlock-time", "1ms"])
        #expect(try sandbox.sealctl(["audit"]).exitCode == 0)
        #expect(try sandbox.sealctl(["audit", "--with-keys"]).exitCode == 36)
        #expect(try sandbox.sealctl(["audit", "--with-keys", "--passphrase-file", "pass"]).exitCode == 0)
    }

    @Test func withoutKeysTheVaultStaysClosed() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let result = try sandbox.succeed(["audit", "--without-keys", "--json"])
        #expect(try !decode(MachineAudit.self, result.output).withKeys)
        #expect(try decode(MachineAudit.self, try sandbox.succeed(["audit", "--json"]).output).withKeys)
    }

    // MARK: - Explanations

    @Test func everyCheckIsExplained() throws {
        struct Check: Decodable { let id: String }
        let sandbox = try Sandbox()
        let list = try decode([Check].self, try sandbox.succeed(["audit", "--explain", "all", "--json"]).output)
        #expect(list.count >= 40 && Set(list.map(\.id)).count == list.count)
        let text = try sandbox.succeed(["audit", "--explain", "all"]).outputText
        for check in list { #expect(text.contains(check.id)) }
        let one = try sandbox.succeed(["audit", "--explain", "plaintext.file"]).outputText
        #expect(one.hasPrefix("plaintext.file\n") && one.split(separator: "\n").allSatisfy { $0.count <= 78 })
    }

    // MARK: - Output files

    @Test func aReportReplacesAnOlderOneWhole() throws {
        let sandbox = try Self.sandbox()
        try sandbox.file("out", Array("older".utf8))
        let result = try sandbox.sealctl(["audit", "--from", "report.json", "-f", "csv", "-o", "out"])
        #expect(result.output.isEmpty && result.errorText.contains("out: "))
        #expect(try SystemFile.read(sandbox.path("files/out")).starts(with: Array("severity,".utf8)))
        #expect(try Set(sandbox.files()) == ["out", "report.json"])
    }
}

private struct MachineCounts: Decodable {
    let counts: [String: Int]
    let isClean: Bool
}

extension String {
    /// Returns the number of occurrences of a text.
    func components(of text: String) -> Int { ranges(of: text).count }
}
