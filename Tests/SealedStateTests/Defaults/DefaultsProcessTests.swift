import Glibc
import SealedState
import TestSupport
import Testing

@Suite("SealedDefaults across processes", .timeLimit(.minutes(30))) struct DefaultsProcessTests {
    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws { sandbox = try DefaultsSandbox() }

    // here:  get … 1      get … 2
    // other:        set 2
    @Test func aReadSeesWhatAnotherProcessHasWritten() throws {
        let other = try sandbox.other()
        for number in 1...50 {
            #expect(try other.ask("set key \(number)") == "done")
            #expect(try defaults.integer(forKey: "key") == number)
            try defaults.set(-number, forKey: "key")
            #expect(try other.ask("get key") == "\(-number)")
        }
        #expect(try other.ask("clear") == "done")
        #expect(try defaults.string(forKey: "key") == nil)
    }

    @Test func changesOfOtherKeysAreNeverWrittenOver() throws {
        let other = try sandbox.other()
        #expect(try other.ask("set theirs 1") == "done")
        // This process knows the value; then the other process changes it.
        #expect(try defaults.integer(forKey: "theirs") == 1)
        #expect(try other.ask("set theirs 2") == "done")
        try defaults.set(1, forKey: "ours")
        #expect(try other.ask("get theirs") == "2")
        #expect(try other.ask("get ours") == "1")
    }

    @Test func noAdditionToOneValueIsLost() throws {
        let others = try (0..<4).map { _ in try sandbox.other() }
        for other in others { try other.child.write(String(repeating: "add count\n", count: 50)) }
        for other in others { for _ in 0..<50 { _ = try other.child.readLine() } }
        #expect(try defaults.integer(forKey: "count") == 200)
    }

    @Test func acknowledgedStatesSurviveAKill() throws {
        for round in 1...5 {
            let writer = try ChildProcess(
                "sealed-probe",
                ["defaults-count", sandbox.fixture.place.path, sandbox.fixture.group.identifier, "k", "1", "1000000"])
            #expect(try writer.readLine(timeLimit: .seconds(600)) == "acknowledged 100")
            writer.kill(SIGKILL)
            _ = try? writer.finish()
            #expect(try defaults.integer(forKey: "k0") >= 100)
            try defaults.set(round, forKey: "round")
            #expect(try sandbox.again().integer(forKey: "round") == round)
        }
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged)) func anotherUserReadsNothing() throws {
        try defaults.set("x", forKey: "key")
        chmod(sandbox.fixture.place.path, 0o755)
        let result = try ChildProcess.runUnprivileged("/bin/cat", [sandbox.file])
        #expect(result.exitCode != 0)
    }
}
