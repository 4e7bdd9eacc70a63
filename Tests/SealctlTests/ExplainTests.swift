import TestSupport
import Testing

/// The output of `explain --json` for a record.
private struct MachineExamination: Decodable {
    struct Check: Decodable {
        let check: String
        let result: String
    }
    struct Refusal: Decodable {
        let code: String
        let isRejection: Bool
        let check: String?
        let explanation: String
        let reason: String
        let advice: String
    }
    let name: String
    let checks: [Check]
    let error: Refusal?

    func result(_ check: String) -> String? { checks.first { $0.check == check }?.result }
}

/// The output of `explain --json` for a rejection.
private struct MachineExplanation: Decodable {
    let code: String
    let isRejection: Bool
    let check: String?
    let explanation: String
    let advice: String
    let status: Int32
}

@Suite struct ExplainTests {
    private func explained(
        _ sandbox: Sandbox, _ name: String, status: Int32 = 0, _ options: [String] = []
    ) throws -> MachineExamination {
        let result = try sandbox.sealctl(["explain", name, "--json"] + options)
        #expect(result.exitCode == status, "\(result.errorText)")
        return try decode(MachineExamination.self, result.output)
    }

    @Test func aSoundRecordPassesWhatNeedsNoType() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\": 1}")
        let seen = try explained(sandbox, "a")
        #expect(seen.name == "a" && seen.error == nil)
        #expect(Set(seen.checks.map(\.result)) == ["ok", "needsType"])
        #expect(seen.checks.first?.check == "size" && seen.checks.last?.check == "rules")
    }

    @Test(arguments: [
        (8, "commitment"), (20, "place"), (72, "commitment"), (0, "shape"), (48, "key"), (190, "contents"),
    ])
    func theFirstCheckThatFailsEndsIt(offset: Int, check: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\": 1}")
        try sandbox.flip(sandbox.record("a"), at: offset)
        let seen = try explained(sandbox, "a", status: 65)
        #expect(seen.error?.check == check && seen.error?.isRejection == true)
        let index = try #require(seen.checks.firstIndex { $0.check == check })
        #expect(seen.checks[..<index].allSatisfy { $0.result == "ok" })
        #expect(seen.checks[index].result == "refused")
        #expect(seen.checks[(index + 1)...].allSatisfy { $0.result == "notReached" })
    }

    @Test func theStatusIsThatOfGet() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("old", "1")
        let old = try SystemFile.read(sandbox.record("old"))
        try sandbox.put("old", "2")
        try SystemFile.write(sandbox.record("old"), old)
        try sandbox.put("format", "1")
        try sandbox.flip(sandbox.record("format"), at: 4)
        try sandbox.put("gone", "1")
        try sandbox.succeed(["delete", "gone"])
        for name in ["old", "format", "gone", "never"] {
            let get = try sandbox.sealctl(["get", name, "--json"])
            let explain = try sandbox.sealctl(["explain", name, "--json"])
            #expect(explain.exitCode == get.exitCode && get.exitCode != 0, "\(name)")
            let codes = try [get, explain].map { try decode(MachineError.self, $0.errors).code }
            #expect(codes[0] == codes[1], "\(name)")
        }
    }

    @Test func anExpiredRecordIsRefusedForItsFreshness() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}", ["--expires-in", "1s"])
        // The record expires a second after the write, so it has expired after the pause.
        _ = try ChildProcess.run("/bin/sleep", ["1.1"])
        let seen = try explained(sandbox, "a", status: 69)
        #expect(seen.error?.code == "stale" && seen.result("freshness") == "refused")
        #expect(seen.result("structure") == "ok" && seen.result("decoding") == "needsType")
        #expect(seen.result("rules") == "notReached")
    }

    @Test func theTextHasTheMeaningTheReasonAndTheAdvice() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.flip(sandbox.record("a"), at: 190)
        let text = try sandbox.sealctl(["explain", "a"]).outputText
        let lines = text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("contents ") && $0.contains("refused") })
        #expect(lines.contains { $0.hasPrefix("order ") && $0.contains("not reached") })
        for word in ["refused", "meaning", "reason", "advice"] {
            #expect(lines.contains { $0.hasPrefix("\(word) ") })
        }
    }

    @Test func explainingRemembersNothing() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let first = try SystemFile.read(sandbox.record("a"))
        try sandbox.put("a", "2")
        try sandbox.shell("rm ../groups/Watermarks/*")
        _ = try explained(sandbox, "a")
        try SystemFile.write(sandbox.record("a"), first)
        #expect(try explained(sandbox, "a").error == nil)
        #expect(try SystemFile.read(sandbox.record("a")) == first)
    }

    @Test func aLockedVaultIsNotARejection() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.shell("mv ../groups/Keys/* .")
        #expect(try sandbox.sealctl(["explain", "a"]).exitCode == 36)
    }

    @Test func aRejectionIsExplainedWithoutAGroup() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.sealctl(["explain", "replayed", "--json"], group: "")
        #expect(result.exitCode == 0)
        let seen = try decode(MachineExplanation.self, result.output)
        #expect(seen.code == "replayed" && seen.check == "order" && seen.isRejection && seen.status == 65)
        #expect(try sandbox.succeed(["explain", "replayed"]).outputText.contains(seen.explanation))
    }

    @Test func aRecordOfARejectionsNameNeedsTheOption() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("stale", "{}")
        #expect(
            try decode(MachineExplanation.self, sandbox.succeed(["explain", "stale", "--json"]).output).code == "stale")
        #expect(try explained(sandbox, "stale", ["--record"]).name == "stale")
    }

    @Test func withoutANameAllRejectionsAreListed() throws {
        let sandbox = try Sandbox()
        let seen = try decode([MachineExplanation].self, sandbox.succeed(["explain", "--json"]).output)
        let codes = seen.map(\.code)
        for code in ["malformed", "tampered", "forked", "stale", "invalid", "locked", "absent"] {
            #expect(codes.contains(code))
        }
        #expect(seen.filter { !$0.isRejection }.map(\.code) == ["locked", "absent"])
        #expect(seen.first { $0.code == "locked" }?.status == 36)
        #expect(try sandbox.succeed(["explain"]).outputText.split(separator: "\n").count == seen.count + 1)
    }

    @Test func theOptionNeedsAName() throws {
        #expect(try Sandbox().sealctl(["explain", "--record"]).exitCode == 64)
    }
}
