import Glibc
import TestSupport
import Testing

/// Tests of pipes, links and other files in the place of a file with a secret.
@Suite(.timeLimit(.minutes(5))) struct SecretSourceTests {
    /// Runs commands concurrently, each of which may take the whole time limit of a silent pipe.
    private func statuses(_ sandbox: Sandbox, _ commands: [String]) throws -> [String] {
        let jobs = commands.enumerated().map { index, command in
            "(\(command)) > out\(index) 2> err\(index) < /dev/null; echo $? > status\(index)"
        }
        try sandbox.shell(jobs.map { "{ \($0); } &" }.joined(separator: "\n") + "\nwait")
        return try commands.indices.map { index in
            let status = String(decoding: try SystemFile.read(sandbox.path("files/status\(index)")), as: UTF8.self)
            let errors = String(decoding: try SystemFile.read(sandbox.path("files/err\(index)")), as: UTF8.self)
            let code = errors.split(separator: "\"code\":\"").dropFirst().first?.prefix { $0 != "\"" } ?? "-"
            return "\(status.prefix { $0 != "\n" }) \(code)"
        }
    }

    @Test func aPipeWithoutAWriterIsATimeoutForEveryCommand() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let commands = [
            "$S get a --json --key-file PIPE", "echo '{}' | $S put b - --json --key-file PIPE",
            "$S list --json --identity PIPE", "$S list --json --passphrase-file PIPE",
            "sleep 15 | $S list --json --passphrase-file -", "$S list --json --passphrase-fd 3 3<>PIPE",
            "sleep 15 | $S list --json --key-file /dev/stdin",
            "$S encrypt --json -o x PIPE", "$S encrypt --json -o PIPE /etc/hostname",
        ].enumerated().map { index, command in
            let words = command.split(separator: " ", omittingEmptySubsequences: false)
            return words.map { $0.hasSuffix("PIPE") ? "\($0.dropLast(4))pipe\(index)" : "\($0)" }.joined(separator: " ")
        }
        for index in commands.indices { #expect(mkfifo(sandbox.path("files/pipe\(index)"), 0o600) == 0) }
        for (command, outcome) in zip(commands, try statuses(sandbox, commands)) {
            #expect(outcome == "75 inputTimeout", "\(command)")
        }
    }

    /// A file in the usual place is not a stated input, so doctor and audit continue and report it.
    @Test(arguments: ["get a", "put b x", "doctor", "audit"])
    func aPipeInPlaceOfTheKeyFileBlocksNothing(command: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.file("x", Array("{}".utf8))
        #expect(unlink(sandbox.keyFile) == 0 && mkfifo(sandbox.keyFile, 0o600) == 0)
        let result = try sandbox.sealctl(command.split(separator: " ").map(String.init))
        #expect(result.exitCode != 0 || command == "audit", "\(result.outputText)")
    }

    @Test func aStatedPathMayBeALinkOrAPipe() throws {
        let sandbox = try Sandbox.initialised()
        let key = sandbox.keyFile
        try sandbox.shell("ln -s '\(key)' ..data && ln -s ..data link && mkfifo pipe && chmod 600 pipe")
        for command in [
            "$S list --key-file link", "cat '\(key)' | $S list --key-file /dev/stdin",
            "cat '\(key)' | $S list --key-file /proc/self/fd/0",
            "{ sleep 1; cat '\(key)'; } > pipe & $S list --key-file pipe",
        ] {
            let result = try sandbox.shell(command)
            #expect(result.exitCode == 0, "\(command): \(result.errorText)")
        }
    }

    @Test func aKeyFileThatOthersMayReadIsRefusedBehindALink() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.shell("cp '\(sandbox.keyFile)' key && chmod 644 key && ln -s key link")
        #expect(try sandbox.sealctl(["list", "--key-file", "link"]).exitCode == 78)
    }

    @Test func aFileWithSeveralLinesIsNotAPassphrase() throws {
        let sandbox = try Sandbox()
        try sandbox.file("one", Array("correct horse\r\n".utf8))
        try sandbox.file("two", Array("correct horse\nbattery\n".utf8))
        try sandbox.file("blank", Array("correct horse\n\n".utf8))
        #expect(try sandbox.sealctl(["init", "--passphrase-file", "two"]).exitCode == 64)
        #expect(try sandbox.sealctl(["init", "--passphrase-file", "blank"]).exitCode == 64)
        #expect(!SystemFile.exists(sandbox.vault))
        try sandbox.succeed(["init", "--passphrase-file", "one"])
        try sandbox.succeed(["list", "--passphrase-file", "-"], input: Array("correct horse\n".utf8))
    }

    /// One person's keyboard composes characters, and the other's does not.
    @Test func theSamePassphraseInAnotherFormOpensTheVault() throws {
        let sandbox = try Sandbox()
        try sandbox.file("composed", Array("Schl\u{FC}ssel\u{A0}\u{E9}".utf8))
        try sandbox.file("decomposed", Array("Schlu\u{308}ssel e\u{301}\n".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "composed"])
        try sandbox.succeed(["list", "--passphrase-file", "decomposed"])
    }
}
