import Glibc
import TestSupport
import Testing

/// Tests of a snapshot into a directory that is killed at any system call: its place stays empty or has the whole copy,
/// and the next snapshot removes the rest.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(10)))
struct SnapshotKillFaultTests {
    private static let prefix = ".sealctl-snapshot."

    private func names(_ sandbox: Sandbox) throws -> [String] { try SystemFile.names(sandbox.path("files/out")) }

    @Test func killedAnywhereItLeavesNothingInItsPlace() throws {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "b"] { try sandbox.put(name, "1") }
        try SystemFile.write(sandbox.container + "/plain", noise(3000))
        try sandbox.shell("mkdir out")
        let place = sandbox.path("files/out/d")
        let traced = TracedProcess(["snapshot", "-o", place], of: "sealctl", log: sandbox.path("strace"))
        try #require(traced.run(environment: sandbox.environment).exitCode == 0)
        let calls = try traced.calls(from: Self.prefix).filter { $0.isChange || $0.name == "renameat2" }
        let whole = try sandbox.shell("cd out/d; find . -type f | sort | xargs cat | wc -c").outputText
        try sandbox.shell("rm -r out/d")
        var ends: Set<String> = []
        for call in calls {
            let result = try traced.run(killedAt: call, environment: sandbox.environment)
            #expect(result.status == .signalled(SIGKILL), "\(call)")
            let left = try names(sandbox)
            if left.contains("d") {
                #expect(try sandbox.shell("cd out/d; find . -type f | sort | xargs cat | wc -c").outputText == whole)
            }
            ends.insert(left.map { $0.hasPrefix(Self.prefix) ? "rest" : $0 }.joined(separator: " "))
            try sandbox.succeed(["snapshot", "-o", "out/e"])
            #expect(try names(sandbox) == left.filter { $0 == "d" } + ["e"], "\(call)")
            try sandbox.shell("rm -r out/*")
        }
        // The sweep crossed the creation, the writes and the rename.
        #expect(ends == ["", "rest", "d"])
    }

    /// The name was free when the command began.
    @Test func aNameThatIsTakenMeanwhileIsLeftAlone() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.shell("mkdir out")
        let place = sandbox.path("files/out/d")
        let traced = TracedProcess(["snapshot", "-o", place], of: "sealctl", log: sandbox.path("strace"))
        // Stopped before the rename, until the name is taken.
        let child = try traced.start(
            injecting: ["renameat2:delay_enter=3000000"], environment: sandbox.environment)
        while try names(sandbox).isEmpty { usleep(10_000) }
        try sandbox.shell("mkdir out/d")
        let result = try child.finish()
        #expect(result.exitCode == 73, "\(result.errorText)")
        #expect(try names(sandbox) == ["d"])
        #expect(try SystemFile.names(place).isEmpty)
    }

    // snapshot                        | another snapshot
    // writes .sealctl-snapshot.X ...  | removes leftovers: X is locked
    // completes it                    |
    @Test func theCopyOfARunningCommandIsNoLeftover() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        // Not this user's command, by its name or its mode.
        try sandbox.shell(
            """
            mkdir out; cd out
            mkdir -m 700 .sealctl-snapshot.0123456789abcde
            mkdir -m 755 .sealctl-snapshot.0123456789abcdef
            """)
        let traced = TracedProcess(
            ["snapshot", "-o", sandbox.path("files/out/d")], of: "sealctl", log: sandbox.path("strace"))
        let child = try traced.start(
            injecting: ["renameat2:delay_enter=2000000"], environment: sandbox.environment)
        while try names(sandbox).count < 3 { usleep(10_000) }
        try sandbox.succeed(["snapshot", "-o", "out/e"])
        #expect(try child.finish().exitCode == 0)
        #expect(
            try names(sandbox) == [
                ".sealctl-snapshot.0123456789abcde", ".sealctl-snapshot.0123456789abcdef", "d", "e",
            ])
    }
}
