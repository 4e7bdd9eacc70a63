import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The output of `history --json`.
private struct MachineHistory: Decodable {
    struct Event: Decodable {
        let event: String
        let time: String?
        let sequence: UInt64?
        let epoch: UInt32?
        let detail: String
        let path: String?
    }
    let name: String
    let keepsOldValues: Bool
    let events: [Event]
}

@Suite struct HistoryTests {
    private func history(_ sandbox: Sandbox, _ name: String = "a") throws -> [MachineHistory.Event] {
        let answer = try decode(MachineHistory.self, sandbox.succeed(["history", name, "--json"]).output)
        #expect(answer.name == name && !answer.keepsOldValues)
        return answer.events
    }

    @Test func aRecordThatWasJustWritten() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1", ["--expires-in", "1h"])
        let events = try history(sandbox)
        #expect(events.map(\.event) == ["present", "accepted", "expires", "written"])
        #expect(events[0].detail == "current" && events[0].sequence == 1 && events[0].epoch == 1)
        #expect(events[1].time == nil && events[1].sequence == 1)
    }

    @Test func aDeletionAndItsPurge() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.succeed(["delete", "a"])
        let deleted = try history(sandbox)
        #expect(deleted.map(\.event) == ["present", "accepted", "deleted"])
        #expect(deleted[0].detail == "deleted" && deleted[2].sequence == 2)
        try sandbox.succeed(["delete", "a", "--purge"])
        let purged = try history(sandbox)
        #expect(purged.map(\.event) == ["present", "accepted"])
        #expect(purged[0].detail.contains("purged"))
    }

    @Test func aRotationIsInIt() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.succeed(["vault", "rotate"])
        let events = try history(sandbox)
        #expect(Set(events.map(\.event)) == ["present", "accepted", "rotated", "resealed", "written"])
        #expect(events.last?.event == "written" && events[0].epoch == 2)
    }

    @Test func refusedCopiesAreInItWithTheirReason() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.put("b", "1")
        let old = try SystemFile.read(sandbox.record("a"))
        try sandbox.put("a", "2")
        try SystemFile.write(sandbox.record("a"), old)
        let refused = try history(sandbox)
        #expect(refused.map(\.event) == ["present", "accepted"])
        #expect(refused[0].detail.contains("replayed") && refused[1].sequence == 2)
        // The next write keeps a copy.
        try sandbox.put("a", "3")
        let kept = try #require(try history(sandbox).first { $0.event == "quarantined" })
        #expect(kept.sequence == 1 && kept.detail.contains("replayed"))
        #expect(SystemFile.exists("\(sandbox.container)/\(try #require(kept.path))"))
        #expect(try history(sandbox, "b").allSatisfy { $0.event != "quarantined" })
    }

    @Test func abandonedRecordsAreInIt() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        unlink(sandbox.keyFile)
        unlink(sandbox.vault)
        try sandbox.succeed(["init", "--abandon", "--yes"])
        let events = try history(sandbox)
        let abandoned = try #require(events.first { $0.event == "abandoned" })
        #expect(abandoned.sequence == 1 && abandoned.time != nil)
    }

    @Test func nothingIsAcceptedByLooking() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let marks = try sandbox.shell("cat \"$SEALED_GROUPS_HOME\"/Watermarks/*").output
        _ = try history(sandbox)
        #expect(try sandbox.shell("cat \"$SEALED_GROUPS_HOME\"/Watermarks/*").output == marks)
    }

    @Test func anUnusedNameIsNotFound() throws {
        let sandbox = try Sandbox.initialised()
        let result = try sandbox.sealctl(["history", "never", "--json"])
        #expect(result.exitCode == 44)
        #expect(try decode(MachineError.self, result.errors).code == "absent")
        #expect(try sandbox.sealctl(["history", "no name"]).exitCode == 64)
    }

    @Test func theTextStatesThatOldValuesAreNotKept() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let result = try sandbox.succeed(["history", "a"])
        #expect(result.errorText.contains("older values are not kept"))
        #expect(result.outputText.hasPrefix("TIME"))
        #expect(try sandbox.succeed(["history", "a", "--quiet"]).errors.isEmpty)
    }
}
