import Glibc
import TestSupport
import Testing

/// Tests of operations that require a person, and of the terminal output.
@Suite struct ItemsLockTests {
    private static let person = ["--passphrase-file", "pass"]
    private static let find = ["vault", "find", "-s", "db", "-a", "ada"]

    private func withItem(_ accessibility: String) throws -> Sandbox {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        try sandbox.add("db", "ada", "value", ["--accessible", accessibility] + Self.person)
        return sandbox
    }

    @Test(arguments: ["when-unlocked", "when-unlocked-this-device-only"])
    func anUnattendedProgramSeesOnlyThatThereIsSuchAnItem(accessibility: String) throws {
        let sandbox = try withItem(accessibility)
        let result = try sandbox.sealctl(Self.find + ["-w", "--json"])
        #expect(result.exitCode == 36 && result.output.isEmpty)
        #expect(try decode(MachineError.self, result.errors).code == "locked")
        // A caller that knows the name gets the error `locked`. Only persons can list such items.
        #expect(try sandbox.items().isEmpty)
        #expect(try sandbox.value("db", "ada", Self.person) == Array("value".utf8))
        try sandbox.succeed(["vault", "delete", "-s", "db", "-a", "ada"] + Self.person)
    }

    @Test(arguments: ["after-first-unlock", "after-first-unlock-this-device-only"])
    func anUnattendedProgramReadsWhatIsAfterFirstUnlock(accessibility: String) throws {
        let sandbox = try withItem(accessibility)
        #expect(try sandbox.value("db", "ada") == Array("value".utf8))
    }

    @Test func anUnattendedProgramAddsNothingThatNeedsAPerson() throws {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        let add = ["vault", "add", "-s", "db", "-a", "ada", "--accessible", "when-unlocked"]
        #expect(try sandbox.sealctl(add, input: [1]).exitCode == 36)
        #expect(try sandbox.items().isEmpty)
    }

    @Test func anItemMovesBetweenTheClasses() throws {
        let sandbox = try withItem("after-first-unlock")
        let update = ["vault", "update", "-s", "db", "-a", "ada", "--accessible"]
        try sandbox.succeed(update + ["when-unlocked"] + Self.person)
        #expect(try sandbox.sealctl(Self.find + ["-w"]).exitCode == 36)
        #expect(try sandbox.sealctl(update + ["after-first-unlock"]).exitCode == 36)
        try sandbox.succeed(update + ["after-first-unlock"] + Self.person)
        #expect(try sandbox.value("db", "ada") == Array("value".utf8))
    }

    @Test(.enabled(if: Sandbox.canUnlock, "needs a place for unlocked keys"))
    func anUnlockedVaultGivesItAndALockedOneNoLonger() throws {
        let sandbox = try withItem("when-unlocked")
        try sandbox.unlocked(Self.person) {
            #expect(try sandbox.value("db", "ada") == Array("value".utf8))
            try sandbox.succeed(["vault", "lock"])
            #expect(try sandbox.sealctl(Self.find + ["-w"]).exitCode == 36)
        }
    }

    @Test func aVaultWithoutAWorkingSlotIsReported() throws {
        let sandbox = try Sandbox.withPassphrase()
        for command in [Self.find, ["vault", "list"], ["vault", "add", "-s", "db", "-a", "ada"]] {
            #expect(try sandbox.sealctl(command, input: [1]).exitCode == 36)
        }
    }

    @Test func theValueIsNowhereOnDiskAndInNoMessage() throws {
        let sandbox = try withItem("when-unlocked")
        let canary = "canary-6fd1c2"
        var shown = ""
        for arguments in [
            ["vault", "add", "-s", "db", "-a", "eve", "--json"], ["vault", "add", "-s", "db", "-a", "eve"],
            ["vault", "update", "-s", "db", "-a", "eve"], ["vault", "update", "-s", "db", "-a", "none"],
            ["exec", "--env", "A=db/eve", "--fd", "3=db/eve", "--", "./none"],
            ["vault", "find", "-s", "db", "-a", "eve"],
            ["vault", "export", "backup", "--backup-passphrase-file", "pass", "--unlock-time", "1ms"] + Self.person,
        ] {
            let result = try sandbox.sealctl(arguments, input: Array(canary.utf8))
            shown += result.outputText + result.errorText
        }
        #expect(!shown.contains("canary"))
        #expect(try sandbox.value("db", "eve") == Array(canary.utf8))
        let search = try sandbox.shell("grep -ra '\(canary)' \(sandbox.directory.path)")
        #expect(search.exitCode == 1, "\(search.outputText)")
    }

    @Test func aTerminalGetsTextWithALineEndAndBinaryOnlyWhenAsked() throws {
        let sandbox = try Sandbox.initialised()
        let terminal = try PseudoTerminal()
        try sandbox.add("db", "text", "pâss wörd")
        try sandbox.add("db", "escape", "\u{1B}[2J")
        try sandbox.add("db", "control", [0xC2, 0x9B, 0x32, 0x4A])
        try sandbox.add("db", "bytes", [0xFF, 0xFE])
        #expect(try sandbox.shell("$S vault find -s db -a text -w > \(terminal.path)").exitCode == 0)
        #expect(terminal.readRest() == "pâss wörd\r\n")
        for account in ["escape", "control", "bytes"] {
            #expect(try sandbox.shell("$S vault find -s db -a \(account) -w > \(terminal.path)").exitCode == 64)
            #expect(terminal.readRest().isEmpty)
        }
        #expect(try sandbox.shell("$S vault find -s db -a escape -w -o - > \(terminal.path)").exitCode == 0)
        #expect(terminal.readRest() == "\u{1B}[2J")
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"), arguments: ["add", "update"])
    func aPersonIsAskedTwiceAndSeesNothing(command: String) throws {
        let sandbox = try Sandbox.initialised()
        if command == "update" { try sandbox.add("db", "ada", "old") }
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["vault", command, "-s", "db", "-a", "ada"])
        var shown = try terminal.read(until: "Value for ada at db: ")
        terminal.type("hunter2\n")
        shown += try terminal.read(until: "again: ")
        terminal.type("hunter2\n")
        let result = try child.finish()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(!(shown + terminal.readRest()).contains("hunter"))
        #expect(try sandbox.value("db", "ada") == Array("hunter2".utf8))
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func twoDifferentValuesAddNothing() throws {
        let sandbox = try Sandbox.initialised()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["vault", "add", "-s", "db", "-a", "ada"])
        _ = try terminal.read(until: "Value for ada at db: ")
        terminal.type("one\n")
        _ = try terminal.read(until: "again: ")
        terminal.type("two\n")
        #expect(try child.finish().exitCode == 65)
        #expect(try sandbox.items().isEmpty)
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aValueIsNotAskedForIfItCannotBeStored() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "v")
        let terminal = try PseudoTerminal()
        #expect(try terminal.start(sandbox, ["vault", "add", "-s", "db", "-a", "ada"]).finish().exitCode == 45)
        #expect(try terminal.start(sandbox, ["vault", "update", "-s", "db", "-a", "bob"]).finish().exitCode == 44)
        #expect(!terminal.readRest().contains("Value"))
    }
}
