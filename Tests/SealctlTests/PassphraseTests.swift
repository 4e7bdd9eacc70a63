import Glibc
import TestSupport
import Testing

@Suite struct PassphraseTests {
    private static let passphrase = "correct horse battery staple"

    /// A sandbox whose vault opens with the passphrase in `files/pass` only.
    private func locked() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("\(Self.passphrase)\n".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "pass", "--unlock-time", "1ms"])
        return sandbox
    }

    @Test func aVaultOpensWithItsPassphraseOnly() throws {
        let sandbox = try locked()
        #expect(!SystemFile.exists(sandbox.keyFile))
        try sandbox.file("wrong", Array("wrong".utf8))
        let vault = try SystemFile.read(sandbox.vault)
        #expect(try sandbox.sealctl(["list"]).exitCode == 36)
        #expect(try sandbox.sealctl(["list", "--passphrase-file", "wrong"]).exitCode == 51)
        try sandbox.succeed(["list", "--passphrase-file", "pass"])
        try sandbox.succeed(["list", "--passphrase-file", "-"], input: Array(Self.passphrase.utf8))
        #expect(try SystemFile.read(sandbox.vault) == vault)
    }

    @Test func everyCommandThatOpensAVaultTakesThePassphrase() throws {
        let sandbox = try locked()
        let pass = ["--passphrase-file", "pass"]
        try sandbox.file("plain", [1, 2, 3])
        try sandbox.put("a", "{\"n\":1}", pass)
        #expect(try sandbox.succeed(["get", "a"] + pass).outputText == "{\"n\":1}")
        try sandbox.succeed(["encrypt", "-o", "sealed", "plain"] + pass)
        #expect(try sandbox.succeed(["decrypt", "sealed"] + pass).output == [1, 2, 3])
        let seen = try decode(MachineInspection.self, sandbox.succeed(["inspect", "a", "--json"] + pass).output)
        #expect(seen.verdict == "verified")
        try sandbox.succeed(["audit"] + pass)
        try sandbox.succeed(["delete", "a"] + pass)
    }

    @Test func inspectShowsTheHeaderOfALockedRecord() throws {
        let sandbox = try locked()
        try sandbox.put("a", "{\"n\":1}", ["--passphrase-file", "pass"])
        let seen = try decode(MachineInspection.self, sandbox.succeed(["inspect", "a", "--json"]).output)
        #expect(seen.verdict == "unverified" && seen.sequence == 1 && seen.payload == nil)
        try sandbox.file("wrong", Array("wrong".utf8))
        #expect(try sandbox.sealctl(["inspect", "a", "--passphrase-file", "wrong"]).exitCode == 51)
    }

    @Test func nothingSecretIsInAnyFile() throws {
        let sandbox = try locked()
        unlink(sandbox.path("files/pass"))
        let canary = "canary-6fd1c2"
        let pass = Array(Self.passphrase.utf8)
        try sandbox.file("state.json", Array("{\"c\": \"\(canary)\"}".utf8))
        try sandbox.succeed(["put", "a", "state.json", "--passphrase-file", "-"], input: pass)
        try sandbox.succeed(["encrypt", "-o", "sealed", "state.json", "--passphrase-file", "-"], input: pass)
        unlink(sandbox.path("files/state.json"))
        _ = try sandbox.sealctl(["put", "a", "sealed", "--passphrase-file", "-"], input: pass)
        let search = try sandbox.shell("grep -raE '\(canary)|\(Self.passphrase)' \(sandbox.directory.path)")
        #expect(search.exitCode == 1, "\(search.outputText)")
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func thePromptShowsNothingOfWhatIsTyped() throws {
        let sandbox = try locked()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["list", "--passphrase", "--json"])
        var shown = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("\(Self.passphrase)\n")
        let result = try child.finish()
        shown += terminal.readRest()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.outputText == "[]\n")
        #expect(!shown.contains("horse"))
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aNewPassphraseIsAskedForTwice() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["init", "--passphrase"])
        _ = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("\(Self.passphrase)\n")
        _ = try terminal.read(until: "again: ")
        terminal.type("\(Self.passphrase)\n")
        #expect(try child.finish().exitCode == 0)
        try sandbox.succeed(["list", "--passphrase-file", "-"], input: Array(Self.passphrase.utf8))
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func twoDifferentNewPassphrasesMakeNoVault() throws {
        let sandbox = try Sandbox()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["init", "--passphrase"])
        _ = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("one\n")
        _ = try terminal.read(until: "again: ")
        terminal.type("two\n")
        #expect(try child.finish().exitCode == 65)
        #expect(!SystemFile.exists(sandbox.vault))
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func anInterruptAtThePromptEndsIt() throws {
        let sandbox = try locked()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["list", "--passphrase"])
        _ = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("\u{3}")
        #expect(try child.finish().exitCode == 128 + SIGINT)
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func withoutATerminalTheWayOutIsNamed() throws {
        let sandbox = try locked()
        let result = try sandbox.shell("setsid -w $S list --passphrase")
        #expect(result.exitCode == 69)
        #expect(result.errorText.contains("--passphrase-file"))
    }
}
