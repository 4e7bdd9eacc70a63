import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The parts of a line of `watch --json` that these tests read.
private struct MachineChange: Decodable {
    let time: String
    let name: String
    let event: String
    let initial: Bool
    let sequence: UInt64?
    let epoch: UInt32?
    let code: String?
    let value: [String: Int]?
}

@Suite(.timeLimit(.minutes(10))) struct WatchTests {
    private func change(_ child: ChildProcess) throws -> MachineChange {
        try decode(MachineChange.self, Array(try #require(try child.readLine()).utf8))
    }

    @Test func presentStatesComeFirstAndThenEveryChange() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let child = try sandbox.start(["watch", "--json"])
        let first = try change(child)
        #expect(first.name == "a" && first.event == "present" && first.initial && first.sequence == 1)
        try sandbox.put("b/c", "{}")
        let second = try change(child)
        #expect(second.name == "b/c" && second.event == "written" && !second.initial && second.epoch == 1)
        try sandbox.succeed(["delete", "a"])
        let third = try change(child)
        #expect(third.name == "a" && third.event == "deleted" && third.sequence == 2)
        try sandbox.succeed(["delete", "a", "--purge"])
        #expect(try change(child).event == "absent")
        child.kill(SIGINT)
        #expect(try child.finish().status == .exited(0))
    }

    @Test func aRefusalHasItsReason() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let old = try SystemFile.read(sandbox.record("a"))
        try sandbox.put("a", "2")
        let child = try sandbox.start(["watch", "a", "--json"])
        #expect(try change(child).sequence == 2)
        try SystemFile.write(sandbox.record("a"), old)
        // The file is written in place, so it is truncated before it is whole.
        var refused = try change(child)
        while refused.code == "malformed" { refused = try change(child) }
        #expect(refused.event == "refused" && refused.code == "replayed" && refused.sequence == nil)
        try sandbox.put("a", "3")
        #expect(try change(child).event == "written")
        child.kill(SIGTERM)
        #expect(try child.finish().status == .exited(0))
    }

    @Test func aRotationIsNotANewValue() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let child = try sandbox.start(["watch", "--json"])
        #expect(try change(child).epoch == 1)
        try sandbox.succeed(["vault", "rotate"])
        let resealed = try change(child)
        #expect(resealed.event == "resealed" && resealed.epoch == 2 && resealed.sequence == 1)
        child.kill(SIGINT)
        _ = try child.finish()
    }

    @Test func namedRecordsOnlyAndAbsentOnesToo() throws {
        let sandbox = try Sandbox.initialised()
        let child = try sandbox.start(["watch", "z", "--json", "--once"])
        let first = try change(child)
        #expect(first.name == "z" && first.event == "absent" && first.code == "absent" && first.initial)
        try sandbox.put("other", "1")
        try sandbox.put("z", "1")
        #expect(try change(child).name == "z")
        // The child ends by itself.
        #expect(try child.finish().status == .exited(0))
    }

    @Test func itEndsAfterSoManyChanges() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let child = try sandbox.start(["watch", "--count", "2", "--changes-only", "--json"])
        var sequence: UInt64?
        // The watch has begun at the first line. Earlier changes may precede its beginning.
        while sequence == nil {
            try sandbox.put("a", "1")
            let line = try? child.readLine(timeLimit: .seconds(5))
            sequence = line.flatMap { try? decode(MachineChange.self, Array($0.utf8)).sequence }
        }
        try sandbox.put("a", "1")
        #expect(try change(child).name == "a")
        #expect(try child.finish().status == .exited(0))
    }

    @Test func valuesAreShownOnlyWhereAskedFor() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\n\"canary\": 41\n}")
        for (options, isShown) in [([String](), false), (["--values"], true)] {
            for format in [[], ["--json"]] {
                let child = try sandbox.start(["watch"] + options + format)
                let line = try #require(try child.readLine())
                #expect(line.contains("canary") == isShown)
                #expect(!isShown || line.contains(#"{"canary":41}"#))
                child.kill(SIGINT)
                _ = try child.finish()
            }
        }
    }

    @Test func linesAreColumnsBetweenTabs() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try SystemFile.write(sandbox.record("b c"), [1])
        let child = try sandbox.start(["watch"])
        let first = try #require(try child.readLine()).split(separator: "\t").map { String($0) }
        #expect(first.count == 4 && Array(first[1...]) == ["present", "1", "a"])
        let second = try #require(try child.readLine()).split(separator: "\t").map { String($0) }
        #expect(second.count == 5 && Array(second[1...3]) == ["refused", "-", "b c"])
        #expect(second[4].hasPrefix("invalidName: "))
        child.kill(SIGINT)
        _ = try child.finish()
    }

    @Test func theContainerMayGoAndComeBack() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let child = try sandbox.start(["watch", "--json"])
        #expect(try change(child).event == "present")
        try sandbox.moveContainerAway()
        #expect(try change(child).event == "absent")
        #expect(rename(sandbox.path("container"), sandbox.container) == 0)
        #expect(try change(child).event == "valid")
        try sandbox.put("a", "2")
        #expect(try change(child).event == "written")
        child.kill(SIGINT)
        #expect(try child.finish().status == .exited(0))
    }

    @Test func aReaderThatClosesThePipeEndsItWithoutAMessage() throws {
        let sandbox = try Sandbox.initialised()
        let child = try sandbox.start(["watch"])
        child.closeOutput()
        try sandbox.put("a", "1")
        let result = try child.finish()
        #expect(result.status == .exited(74) && result.errors.isEmpty)
    }

    @Test func aReaderThatIsGoneIsNoticedWithoutAChange() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let child = try sandbox.start(["watch"])
        #expect(try child.readLine() != nil)
        child.closeOutput()
        let result = try child.finish()
        #expect(result.status == .exited(74) && result.errors.isEmpty)
    }

    @Test(
        arguments: [
            (["a b"], 64), (["--count", "0"], 64), (["--count", "-1"], 64), (["--once", "--count", "2"], 64),
            (["--group", "group.none"], 44),
        ] as [([String], Int32)])
    func unwatchablePathsAreReported(arguments: [String], status: Int32) throws {
        #expect(try Sandbox.initialised().sealctl(["watch"] + arguments).exitCode == status)
    }
}
