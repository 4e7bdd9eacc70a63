import FoundationEssentials
import TestSupport
import Testing

/// Tests of the tools with a record that is larger than the usual limit, in a container that allows it.
@Suite(.timeLimit(.minutes(10))) struct LargeRecordTests {
    private static let json = "{\"a\":\"" + String(repeating: "x", count: 3 << 20) + "\"}"

    private struct Answer: Decodable {
        let isSound: Bool
    }

    private func filled(_ backend: String) throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.succeed(["init", "--backend", backend])
        try sandbox.succeed(["container", "record-limit", "4M"])
        try sandbox.succeed(["put", "large", "-"], input: Array(Self.json.utf8))
        return sandbox
    }

    @Test(arguments: ["files", "sqlite"])
    func everyToolAcceptsWhatTheContainerAllows(backend: String) throws {
        let sandbox = try filled(backend)
        #expect(try sandbox.succeed(["get", "large"]).outputText == Self.json)
        let listed = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(listed.map(\.name) == ["large"] && listed.map(\.state) == ["current"])
        #expect(try sandbox.succeed(["inspect", "large"]).outputText.contains("verified"))
        try sandbox.succeed(["explain", "large"])
        let audit = try sandbox.succeed(["audit", "--json"]).outputText
        #expect(!audit.contains("blob.oversized"))
        let snapshot = try decode(
            MachineSnapshot.self, sandbox.succeed(["snapshot", "-o", "copy", "--json"]).output)
        #expect(snapshot.records == 1 && snapshot.refused == 0 && snapshot.isVerified)
        #expect(try decode(Answer.self, sandbox.succeed(["doctor", "--json"]).output).isSound)
        try sandbox.succeed(["vault", "rotate"])
        #expect(try sandbox.succeed(["get", "large"]).outputText == Self.json)
        try sandbox.succeed(["container", "backend", backend == "files" ? "sqlite" : "files"])
        #expect(try sandbox.succeed(["get", "large"]).outputText == Self.json)
        #expect(try sandbox.succeed(["put", "large", "-"], input: Array("{}".utf8)).outputText == "large sequence 2\n")
    }

    @Test func beyondTheLimitTheAdviceIsToRaiseIt() throws {
        let sandbox = try filled("files")
        try sandbox.succeed(["container", "record-limit", "default"])
        for words in [["get", "large"], ["explain", "large"], ["inspect", "large"]] {
            let result = try sandbox.sealctl(words)
            #expect(result.exitCode == 65, "\(words)")
            let text = result.outputText + result.errorText
            #expect(text.contains("sealctl container record-limit") && !text.contains("emove"), "\(text)")
        }
        let audit = try sandbox.sealctl(["audit"]).outputText
        #expect(audit.contains("blob.oversized") && audit.contains("sealctl container record-limit"), "\(audit)")
        let refused = try sandbox.sealctl(["put", "other", "-", "--json"], input: Array(Self.json.utf8))
        #expect(refused.exitCode == 65)
        #expect(try decode(MachineError.self, refused.errors).hint.contains("sealctl container record-limit"))
        #expect(SystemFile.exists(sandbox.record("large")))
    }
}
