import Glibc
import TestSupport
import Testing

/// Tests of ignore files, baselines and the key of their fingerprints.
@Suite struct AuditKnownFindingTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            let id: String
            let path: String
            let fingerprint: String?
        }
        struct Omissions: Decodable {
            let ignored: Int
            let inBaseline: Int
        }
        let findings: [Finding]
        let omissions: Omissions
        let notes: [String]
    }

    private static func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.directory.directory("files/tree")
        try sandbox.file("tree/token.json", Array("{\"token\":\"abc\"}".utf8))
        return sandbox
    }

    private static func audit(_ sandbox: Sandbox, _ options: [String] = []) throws -> Report {
        try decode(Report.self, try sandbox.sealctl(["audit", "--json", "tree"] + options).output)
    }

    private static func key(_ sandbox: Sandbox) -> String { sandbox.path("home/.config/sealedstate/audit.key") }

    @Test func theKeyIsMadeOnceForItsOwnerOnly() throws {
        let sandbox = try Self.sandbox()
        let first = try Self.audit(sandbox).findings.map(\.fingerprint)
        #expect(!first.isEmpty && first.allSatisfy { $0?.hasPrefix("v1:") == true })
        var status = stat()
        #expect(stat(Self.key(sandbox), &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(try SystemFile.read(Self.key(sandbox)).count == 65)
        #expect(try Self.audit(sandbox).findings.map(\.fingerprint) == first)
    }

    @Test func anotherKeyMakesOtherFingerprints() throws {
        let sandbox = try Self.sandbox()
        let first = try Self.audit(sandbox).findings.map(\.fingerprint)
        try sandbox.file("other.key", Array(String(repeating: "0f", count: 32).utf8))
        #expect(try Self.audit(sandbox, ["--fingerprint-key", "other.key"]).findings.map(\.fingerprint) != first)
    }

    /// The audit continues without fingerprints.
    @Test func withoutAPlaceForTheKeyThereAreNoFingerprints() throws {
        let sandbox = try Self.sandbox()
        try sandbox.file("file", [])
        let result = try sandbox.shell("XDG_CONFIG_HOME=$PWD/file \"$S\" audit --json tree")
        let report = try decode(Report.self, result.output)
        #expect(result.exitCode == 1 && !report.findings.isEmpty)
        #expect(
            report.findings.allSatisfy { $0.fingerprint == nil }
                && report.notes.contains { $0.contains("fingerprints") })
    }

    @Test(arguments: [0o644, 0o600] as [mode_t])
    func aKeyThatOthersReadIsReported(mode: mode_t) throws {
        let sandbox = try Self.sandbox()
        _ = try Self.audit(sandbox)
        #expect(chmod(Self.key(sandbox), mode) == 0)
        #expect(try Self.audit(sandbox).notes.contains { $0.contains("chmod 600") } == (mode == 0o644))
    }

    @Test(arguments: ["tree/.sealauditignore", ".sealauditignore", "named"])
    func aFingerprintInAnIgnoreFileIsLeftOut(file: String) throws {
        let sandbox = try Self.sandbox()
        let target = try #require(try Self.audit(sandbox).findings.first { $0.path == "token.json" })
        try sandbox.file(file, Array("# known\n\(try #require(target.fingerprint))  looked at\n".utf8))
        let report = try Self.audit(sandbox, file == "named" ? ["--ignore-file", "named"] : [])
        #expect(report.omissions.ignored == 1)
        #expect(!report.findings.contains { $0.fingerprint == target.fingerprint })
    }

    @Test func aBaselineLeavesWhatIsNew() throws {
        let sandbox = try Self.sandbox()
        let written = try sandbox.sealctl(["audit", "--write-baseline", "known.json", "tree"])
        #expect(written.exitCode == 0)
        let known = try Self.audit(sandbox, ["--baseline", "known.json"])
        #expect(known.findings.isEmpty && known.omissions.inBaseline > 0)
        #expect(try sandbox.sealctl(["audit", "--baseline", "known.json", "tree"]).exitCode == 0)
        try sandbox.file("tree/new.json", Array("{\"token\":\"def\"}".utf8))
        let later = try Self.audit(sandbox, ["--baseline", "known.json"])
        #expect(Set(later.findings.map(\.path)) == ["new.json"])
        let text = try sandbox.sealctl(["audit", "--baseline", "known.json", "-f", "sarif", "tree"]).outputText
        #expect(text.contains("\"baselineState\":\"new\""))
    }

    // MARK: - The audit's own files

    /// What `docs/guides/audit.md` says, step by step, with everything in the audited directory.
    @Test func theWayOfTheDocumentEndsWithZero() throws {
        let sandbox = try Self.sandbox()
        let token = "AKIA" + "Q4ZB7MNTW2KRXHVJ"
        try sandbox.file("tree/app.log", Array("Authorization: Bearer \(token)\n".utf8))
        let shell = { (script: String) in try sandbox.shell("cd tree && \(script)") }
        #expect(try shell("\"$S\" audit .").exitCode == 1)
        #expect(try shell("\"$S\" audit --write-baseline known.json .").exitCode == 0)
        let baseline = try shell("\"$S\" audit --baseline known.json .")
        #expect(baseline.exitCode == 0, "\(baseline.outputText)")
        #expect(try shell("rm known.json && \"$S\" audit --write-ignore .sealauditignore .").exitCode == 0)
        let ignored = try shell("\"$S\" audit .")
        #expect(ignored.exitCode == 0, "\(ignored.outputText)")
        #expect(ignored.outputText.contains("own plaintext files"))
        #expect(!ignored.outputText.contains("matched no finding"))
        for format in ["html", "json", "sarif"] {
            for _ in 0..<2 {
                let result = try shell("\"$S\" audit -f \(format) -o report.\(format) .")
                #expect(result.exitCode == 0, "\(format): \(result.errorText)")
            }
            #expect(try shell("rm report.\(format)").exitCode == 0)
        }
        #expect(try shell("umask 077; \"$S\" audit -f json . > audit.json").exitCode == 0)
    }

    /// The name alone does not make a file the audit's own.
    @Test func aFileThatIsOnlyNamedSoIsAFinding() throws {
        let sandbox = try Self.sandbox()
        try sandbox.directory.directory("files/tree/inner")
        try sandbox.file("tree/inner/.sealauditignore", Array("# nothing\n".utf8))
        try sandbox.file("tree/known.json", Array("{\"a\":1}".utf8))
        let found = try Self.audit(sandbox).findings.map(\.path)
        #expect(found.contains("inner/.sealauditignore") && found.contains("known.json"))
    }

    @Test func anIgnoreFileIsItselfSearched() throws {
        let sandbox = try Self.sandbox()
        let token = "AKIA" + "Q4ZB7MNTW2KRXHVJ"
        try sandbox.file("tree/.sealauditignore", Array("# \(token)\n".utf8))
        let found = try Self.audit(sandbox).findings.filter { $0.path == ".sealauditignore" }
        #expect(found.map(\.id) == ["token.aws"])
    }

    @Test func writtenIgnoreListsKeepTheirContents() throws {
        let sandbox = try Self.sandbox()
        let list = { String(decoding: try SystemFile.read(sandbox.path("files/list")), as: UTF8.self) }
        let write = ["audit", "--ignore-file", "list", "--write-ignore", "list", "tree"]
        #expect(try sandbox.sealctl(["audit", "--write-ignore", "list", "tree"]).exitCode == 0)
        let first = try list()
        #expect(first.contains("\nkey: ") && first.contains("token.json"))
        try sandbox.file("list", Array((first + "# mine").utf8))
        try sandbox.file("tree/more.json", Array("{\"token\":\"def\"}".utf8))
        #expect(try sandbox.sealctl(write).exitCode == 0)
        let second = try list()
        #expect(second.hasPrefix(first + "# mine\n") && second.contains("more.json"))
        #expect(try Self.audit(sandbox, ["--ignore-file", "list"]).findings.isEmpty)
    }

    @Test func aListWithoutAKeyIsNeverCalledUnused() throws {
        let sandbox = try Self.sandbox()
        try sandbox.file("named", Array("v1:plaintext.file:\(String(repeating: "0", count: 32))\n".utf8))
        #expect(try !Self.audit(sandbox, ["--ignore-file", "named"]).notes.contains { $0.contains("removed") })
    }

    @Test func aNamedKeyThatOthersReadIsReportedToo() throws {
        let sandbox = try Self.sandbox()
        try sandbox.file("other.key", Array(String(repeating: "0f", count: 32).utf8))
        #expect(chmod(sandbox.path("files/other.key"), 0o644) == 0)
        #expect(
            try Self.audit(sandbox, ["--fingerprint-key", "other.key"]).notes.contains { $0.contains("chmod 600") })
    }

    @Test func nothingInTheTreeChanges() throws {
        let sandbox = try Self.sandbox()
        for _ in 0..<2 { _ = try Self.audit(sandbox) }
        #expect(try SystemFile.names(sandbox.path("files/tree")) == ["token.json"])
    }
}
