import FoundationEssentials
import TestSupport
import Testing

@Suite struct EntitlementsCommandTests {
    private struct Report: Decodable {
        struct Target: Decodable {
            let name: String
            let groups: [String]
            let missingGroups: [String]
        }
        struct Finding: Decodable {
            let id: String
            let severity: String
            let target: String?
            let path: String
            let line: Int?
        }
        let targets: [Target]
        let findings: [Finding]
        let counts: [String: Int]
        let isClean: Bool
        let notes: [String]
    }

    private static let fixtures =
        #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures"

    private static func check(_ fixture: String, _ options: [String] = []) throws -> ChildResult {
        try Sandbox().sealctl(["entitlements", "check", "\(fixtures)/xcode/\(fixture)"] + options)
    }

    @Test func aCleanProjectIsClean() throws {
        let result = try Self.check("clean", ["--fail-on", "note"])
        #expect(result.exitCode == 0 && result.errors.isEmpty)
        #expect(result.outputText.contains("no findings") && result.outputText.contains("group.com.example.notes"))
    }

    @Test func findingsAreStatusOneAndInEveryForm() throws {
        let text = try Self.check("faulty")
        #expect(text.exitCode == 1 && text.errors.isEmpty)
        #expect(text.outputText.contains("ENT003  Share/Share.entitlements:7"))
        let result = try Self.check("faulty", ["--json"])
        #expect(result.exitCode == 1)
        let report = try decode(Report.self, result.output)
        #expect(!report.isClean && report.counts["error"] == report.findings.count { $0.severity == "error" })
        #expect(report.findings.contains { $0.id == "ENT020" && $0.target == "Lost" && $0.line != nil })
        #expect(report.targets.contains { $0.name == "Widget" && $0.missingGroups.count == 2 })
    }

    @Test func theLeastSeverityThatCountsCanBeChosen() throws {
        let all = try decode(Report.self, try Self.check("faulty", ["--json"]).output)
        let errors = Set(all.findings.filter { $0.severity == "error" }.map(\.id)).sorted()
        let ignored = errors.flatMap { ["--ignore", $0] }
        #expect(try Self.check("faulty", ["--fail-on", "error"]).exitCode == 1)
        #expect(try Self.check("faulty", ["--fail-on", "error"] + ignored).exitCode == 0)
        #expect(try Self.check("faulty", ignored).exitCode == 1)
    }

    @Test func aFindingOfOneTargetCanBeLeftOut() throws {
        let result = try Self.check("faulty", ["--json", "--ignore", "ENT001:Widget", "--ignore", "other-team"])
        let report = try decode(Report.self, result.output)
        let places = report.findings.filter { $0.id == "ENT001" }.compactMap(\.target)
        #expect(places.contains("Keyboard") && !places.contains("Widget"))
        #expect(!report.findings.contains { $0.id == "ENT015" } && report.notes.count == 1)
    }

    @Test(arguments: [
        ["--ignore", "ENT999"], ["--ignore", "ENT001:"], ["--fail-on", "grave"], ["--json", "--sarif"],
        ["--team", "short"],
    ])
    func wrongOptionsAreUsage(options: [String]) throws {
        #expect(try Self.check("clean", options).exitCode == 64)
    }

    @Test func anotherTeamCanBeStated() throws {
        let report = try decode(Report.self, try Self.check("clean", ["--json", "--team", "ZZZZZ99999"]).output)
        #expect(report.isClean && report.targets.count == 3)
    }

    @Test func aProfileIsCompared() throws {
        let profile = "\(Self.fixtures)/profiles/expired.mobileprovision"
        let result = try Self.check("clean", ["--json", "--profile", profile])
        #expect(result.exitCode == 1)
        #expect(try decode(Report.self, result.output).findings.contains { $0.id == "ENT033" })
    }

    @Test func aFolderWithoutAnythingIsNotClean() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.sealctl(["entitlements", "check", "--json"])
        #expect(result.exitCode == 66 && result.output.isEmpty)
        #expect(try decode(MachineError.self, result.errors).code == "nothingFound")
        #expect(try sandbox.sealctl(["entitlements", "check", "missing"]).exitCode == 66)
        try sandbox.file("notes.txt", [])
        #expect(try sandbox.sealctl(["entitlements", "check", "notes.txt"]).exitCode == 64)
    }

    @Test func aProjectOfLibrariesIsClean() throws {
        let sandbox = try Sandbox()
        let text = """
            { objects = { P = { targets = (T); }; T = { name = Core; productType = "com.apple.product-type.framework"; }; };
              rootObject = P; }
            """
        try sandbox.file("project.pbxproj", Array(text.utf8))
        let output = try sandbox.succeed(["entitlements", "check", "project.pbxproj"]).outputText
        #expect(output.contains("nothing in it is signed"))
    }

    @Test func unusedIgnoreEntriesAreReported() throws {
        let options = ["--json", "--ignore", "ENT001:Nowhere"]
        let report = try decode(Report.self, try Self.check("clean", options).output)
        #expect(report.notes.contains { $0.contains("ENT001:Nowhere") })
    }

    @Test func unknownFactsOfATargetAreReported() throws {
        let text = try Self.check("faulty").outputText
        #expect(text.contains("? not known") && text.contains("  ?"))
    }

    @Test(arguments: ["ENT001", "ent001", "group-not-on-extension"])
    func aFindingIsExplained(id: String) throws {
        let text = try Sandbox().succeed(["entitlements", "explain", id]).outputText
        #expect(text.contains("ENT001") && text.contains("containerURL"))
    }

    @Test func allFindingsAreListed() throws {
        let text = try Sandbox().succeed(["entitlements", "explain"]).outputText
        #expect(text.contains("ENT001") && text.contains("ENT039"))
        #expect(try Sandbox().sealctl(["entitlements", "explain", "ENT999"]).exitCode == 64)
    }
}

@Suite struct EntitlementsShowTests {
    private struct Shown: Decodable {
        let applicationGroups: [String]?
        let keychainAccessGroups: [String]?
        let isSandboxed: Bool?
    }
    private struct ShownProfile: Decodable {
        let name: String
        let signature: String
        let entitlements: Shown
    }

    private static let fixtures =
        #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures"

    @Test func anEntitlementsFileIsShownUnexpanded() throws {
        let path = "\(Self.fixtures)/xcode/clean/Widget/Widget-mac.entitlements"
        let sandbox = try Sandbox()
        let shown = try decode(Shown.self, try sandbox.succeed(["entitlements", "show", path, "--json"]).output)
        #expect(shown.applicationGroups == ["$(APP_GROUP)"] && shown.isSandboxed == true)
        #expect(try sandbox.succeed(["entitlements", "show", path]).outputText.contains("$(APP_GROUP)"))
    }

    @Test func aProfileIsShownWithWhatIsNotKnownOfIt() throws {
        let path = "\(Self.fixtures)/profiles/app-store.mobileprovision"
        let sandbox = try Sandbox()
        let text = try sandbox.succeed(["entitlements", "show", path]).outputText
        #expect(text.contains("Example Store"))
        let shown = try decode(ShownProfile.self, try sandbox.succeed(["entitlements", "show", path, "--json"]).output)
        #expect(shown.name == "Example Store" && !shown.signature.isEmpty)
        #expect(shown.entitlements.applicationGroups == ["group.com.example.app", "group.com.example.shared"])
    }

    @Test func aFileOfAnotherKindIsRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.file("a.entitlements", Array("nothing".utf8))
        try sandbox.file("a.mobileprovision", Array("nothing".utf8))
        #expect(try sandbox.sealctl(["entitlements", "show", "a.entitlements"]).exitCode == 65)
        #expect(try sandbox.sealctl(["entitlements", "show", "a.mobileprovision"]).exitCode == 65)
        #expect(try sandbox.sealctl(["entitlements", "show", "missing.entitlements"]).exitCode == 66)
    }
}
