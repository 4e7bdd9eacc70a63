import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of a writer that is killed at any moment: the old or the new value remains, and the next write removes litter.
@Suite(.timeLimit(.minutes(10))) struct CrashTests {
    private static let size = 300_000

    @Test(arguments: strategies, ["durable", "unsynced"])
    func killingAWriterLeavesAWholeValue(_ strategy: TemporaryStrategy, _ durability: String) throws {
        let sandbox = try Sandbox()
        for round in 0..<25 {
            let writer = try ChildProcess(
                "sealed-probe",
                ["replace", sandbox.path(""), "x", "\(Self.size)", "\(strategy)", durability])
            #expect(try writer.readLine() == "started")
            usleep(UInt32(round * 137 % 3000))
            writer.kill(SIGKILL)
            #expect(try writer.finish().status == .signalled(SIGKILL))

            let value = try sandbox.inside.read("x", limit: 1 << 20)
            #expect(value.count == Self.size)
            #expect(Set(value).count == 1)
            // At most one file left over, at any moment.
            #expect(try sandbox.names().count <= 2)
            try sandbox.inside.replace("x", with: [7], mode: 0o600, durability: .unsynced, strategy: strategy)
            #expect(try sandbox.names() == ["x"])
        }
    }

    @Test(
        .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"),
        arguments: ["anonymous", "named"])
    func killingAWriterAtEverySystemCallLeavesOldOrNew(_ strategy: String) throws {
        let sandbox = try Sandbox()
        let traced = sandbox.traced(strategy)
        _ = try traced.run()
        let calls = try traced.calls(from: sandbox.place.path("inside\""))
        #expect(Set(calls.map(\.name)).isSuperset(of: ["write", "fdatasync", "renameat", "fsync"]))
        var outcomes: Set<String> = []
        for call in calls where call.name != "exit_group" {
            try sandbox.file("x", "old")
            _ = try traced.run(killedAt: call)
            outcomes.insert(try sandbox.text("x"))
            #expect(try sandbox.names().count <= 2)
            #expect(try traced.run().outputText == "done\n")
            #expect(try sandbox.names() == ["x"])
        }
        // Both outcomes occurred, so the sweep crossed the rename.
        #expect(outcomes == ["old", Sandbox.newValue])
    }
}
