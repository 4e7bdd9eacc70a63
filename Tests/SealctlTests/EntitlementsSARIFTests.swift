import FoundationEssentials
import TestSupport
import Testing

/// Tests of the findings as SARIF, for the parts that code hosts read.
@Suite struct EntitlementsSARIFTests {
    private struct Log: Decodable {
        let version: String
        let runs: [Run]
    }
    private struct Run: Decodable {
        struct Tool: Decodable { let driver: Driver }
        struct Driver: Decodable {
            struct Rule: Decodable { let id: String }
            let name: String
            let rules: [Rule]
        }
        struct Base: Decodable { let uri: String }
        let tool: Tool
        struct Invocation: Decodable {
            let executionSuccessful: Bool
            let toolExecutionNotifications: [Notification]
        }
        struct Notification: Decodable { let message: Result.Message }
        let invocations: [Invocation]
        let originalUriBaseIds: [String: Base]
        let results: [Result]
    }
    private struct Result: Decodable {
        struct Message: Decodable { let text: String }
        struct Location: Decodable { let physicalLocation: Physical }
        struct Physical: Decodable {
            let artifactLocation: Artifact
            let region: Region?
        }
        struct Artifact: Decodable {
            let uri: String
            let uriBaseId: String?
        }
        struct Region: Decodable { let startLine: Int }
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]
    }

    private static let fixture =
        #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures/xcode/faulty"

    private static func log(_ path: String) throws -> Log {
        try decode(Log.self, try Sandbox().sealctl(["entitlements", "check", path, "--sarif"]).output)
    }

    @Test func everyResultNamesItsRuleAndItsPlace() throws {
        let log = try Self.log(Self.fixture)
        let run = try #require(log.runs.first)
        #expect(log.version == "2.1.0" && log.runs.count == 1 && run.tool.driver.name == "sealctl")
        let base = try #require(run.originalUriBaseIds["%SRCROOT%"])
        #expect(base.uri.hasPrefix("file:///") && base.uri.hasSuffix("/faulty/"))
        #expect(!run.results.isEmpty)
        for result in run.results {
            #expect(run.tool.driver.rules[result.ruleIndex].id == result.ruleId)
            #expect(["error", "warning", "note"].contains(result.level) && !result.message.text.isEmpty)
            let place = try #require(result.locations.first).physicalLocation
            #expect(place.artifactLocation.uriBaseId == "%SRCROOT%" && !place.artifactLocation.uri.hasPrefix("/"))
            #expect(place.region.map { $0.startLine > 0 } ?? true)
        }
        #expect(Set(run.results.map { $0.partialFingerprints["sealctl/v1"] }).count == run.results.count)
    }

    @Test func pathsAreEscapedAsURIs() throws {
        let sandbox = try Sandbox()
        try sandbox.file("My App.entitlements", Array("<plist version=\"1.0\"><array/></plist>".utf8))
        let result = try #require(try Self.log(sandbox.path("files")).runs.first?.results.first)
        #expect(result.locations[0].physicalLocation.artifactLocation.uri == "My%20App.entitlements")
    }

    @Test func notesAreNotifications() throws {
        let arguments = ["entitlements", "check", Self.fixture, "--sarif", "--ignore", "ENT001"]
        let run = try #require(try decode(Log.self, try Sandbox().sealctl(arguments).output).runs.first)
        let invocation = try #require(run.invocations.first)
        #expect(invocation.executionSuccessful && invocation.toolExecutionNotifications.count == 1)
    }

    @Test func withoutFindingsTheResultsAreEmpty() throws {
        let run = try #require(try Self.log(Self.fixture + "/../clean").runs.first)
        #expect(run.results.isEmpty && !run.tool.driver.rules.isEmpty)
    }
}
