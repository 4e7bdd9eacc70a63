import TestSupport
import Testing

/// Tests of words in the place of a command.
@Suite struct UnknownCommandTests {
    /// Runs the words and returns the refusal, which is a usage error without output.
    private func refusal(_ words: String) throws -> MachineError {
        let result = try Sandbox().sealctl(words.split(separator: " ").map { String($0) } + ["--json"])
        #expect(result.exitCode == 64 && result.output.isEmpty, "\(result.errorText)")
        let error = try decode(MachineError.self, result.errors)
        #expect(error.code == "usage")
        return error
    }

    @Test(arguments: [
        ("ls --group group.a", "sealctl list"), ("lsit", "sealctl list"), ("rm a", "sealctl delete"),
        ("set a -", "sealctl put"), ("lock", "sealctl vault lock"), ("unlock --for 5m", "sealctl vault unlock"),
        ("add -s db -a ada", "sealctl vault add"), ("vault ls", "sealctl vault list"),
        ("vault slot rm 3", "sealctl vault slot remove"), ("vault put a -", "sealctl put"),
        ("-q container trash lst", "sealctl container trash list"),
    ])
    func theMeantCommandIsNamed(words: String, meant: String) throws {
        #expect(try refusal(words).hint.hasPrefix("Is \(meant) meant? "))
    }

    @Test(arguments: [("frobnicate --group group.a", "sealctl --help"), ("vault frobnicate", "sealctl vault --help")])
    func aWordThatIsCloseToNoneLeadsToTheHelp(words: String, help: String) throws {
        let error = try refusal(words)
        #expect(error.message.contains("frobnicate") && error.hint == "See \(help).")
    }

    @Test func allCommandsOfTheSameNameAreNamed() throws {
        let hint = try refusal("find x").hint
        #expect(hint.contains("sealctl vault find") && hint.contains("sealctl defaults find"))
    }

    @Test func argumentsOfACommandAreNotCommands() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("ls", "{}")
        #expect(try sandbox.succeed(["get", "ls"]).outputText.contains("{}"))
        #expect(try sandbox.succeed(["help", "vault"]).outputText.contains("SUBCOMMANDS"))
    }
}
