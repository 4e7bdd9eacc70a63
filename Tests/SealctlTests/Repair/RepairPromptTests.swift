import Glibc
import TestSupport
import Testing

/// Tests of the questions that `repair` asks before it acts.
@Suite struct RepairPromptTests {
    /// Creates a container whose lock file is missing.
    private func damaged() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        unlink(sandbox.container + "/.sealedstate.lock")
        return sandbox
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"), arguments: ["y", "yes", "YES"])
    func yesDoesIt(answer: String) throws {
        let sandbox = try damaged()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["repair"])
        _ = try terminal.read(until: "[y/N] ")
        terminal.type("\(answer)\n")
        let result = try child.finish()
        #expect(result.exitCode == 0 && result.outputText.hasPrefix("done"), "\(result.errorText)")
        #expect(SystemFile.exists(sandbox.container + "/.sealedstate.lock"))
    }

    @Test(
        .enabled(if: PseudoTerminal.canControl, "setsid of util-linux"), arguments: ["", "n", "no", "perhaps", "yyy"])
    func anythingElseDoesNothing(answer: String) throws {
        let sandbox = try damaged()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["repair"])
        _ = try terminal.read(until: "[y/N] ")
        terminal.type("\(answer)\n")
        #expect(try child.finish().exitCode == 69)
        #expect(!SystemFile.exists(sandbox.container + "/.sealedstate.lock"))
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func withoutATerminalTheWayOutIsNamed() throws {
        let sandbox = try damaged()
        let result = try sandbox.shell("setsid -w $S repair --json")
        #expect(result.exitCode == 64)
        let last = result.errors.split(separator: 0x0A).last.map { Array($0) } ?? []
        #expect(try decode(MachineError.self, last).hint.contains("--yes"))
    }

    /// The file of a live writer is locked and remains, at any age.
    @Test func aHeldTemporaryStays() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let records = sandbox.container + "/Library/Application Support/Records"
        let name = ".a.sealed.0123456789abcdef.new"
        try SystemFile.write("\(records)/\(name)", [1])
        try sandbox.shell("touch -d '2 hours ago' '\(records)/\(name)'")
        let holder = try ChildProcess("sealed-probe", ["lock", records, name, "whole", "exclusive", "1000"])
        #expect(try holder.readLine() == "held")
        #expect(try sandbox.sealctl(["repair", "--yes"]).exitCode == 75)
        #expect(SystemFile.exists("\(records)/\(name)"))
        holder.closeInput()
        _ = try holder.finish()
        try sandbox.succeed(["repair", "--yes"])
        #expect(!SystemFile.exists("\(records)/\(name)"))
    }
}
