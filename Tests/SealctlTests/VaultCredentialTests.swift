import Glibc
import TestSupport
import Testing

/// Tests of every way to state a vault's credential.
@Suite struct VaultCredentialTests {
    private static let line = "sealed-key-1 \(String(repeating: "0123456789abcdef", count: 4))\n"

    @Test func aDescriptorIsReadOnceAndOnlyItsFirstLine() throws {
        let sandbox = try Sandbox.withPassphrase()
        let result = try sandbox.shell(
            "{ cat pass; echo rest; } | { $S vault keys --passphrase-fd 5 5<&0 >/dev/null && cat; }")
        #expect(result.exitCode == 0 && result.outputText == "rest\n", "\(result.errorText)")
    }

    @Test(arguments: ["5", "0"])
    func aClosedDescriptorIsAnErrorOfInput(number: String) throws {
        let result = try Sandbox.withPassphrase().shell("$S vault keys --passphrase-fd \(number) <&-")
        #expect(result.exitCode == 74, "\(result.errorText)")
    }

    @Test func theUnitsCredentialOpensItWithoutARequest() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.directory("creds")
        try SystemFile.write(sandbox.path("creds/sealedstate.\(Sandbox.group)"), Array(Self.line.utf8), mode: 0o400)
        let variables = "export CREDENTIALS_DIRECTORY='\(sandbox.path("creds"))'"
        for command in ["vault create --credential", "vault keys", "vault keys --credential"] {
            let result = try sandbox.shell("\(variables); $S \(command)")
            #expect(result.exitCode == 0, "\(command): \(result.errorText)")
        }
        #expect(try sandbox.slots().map(\.kind) == ["credential"])
        #expect(try sandbox.sealctl(["vault", "keys"]).exitCode == 36)
        #expect(try sandbox.sealctl(["vault", "keys", "--credential"]).exitCode == 66)
        let named = try sandbox.shell("\(variables); $S vault keys --credential=another.name")
        #expect(named.exitCode == 66)
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func protectedIdentityOpensItWithItsPassphrase() throws {
        let sandbox = try Sandbox()
        try sandbox.file("words", Array("correct horse\n".utf8))
        try sandbox.file("others", Array("battery staple\n".utf8))
        let words = ["--identity-passphrase-file", "words"]
        let made = try sandbox.succeed(["vault", "identity"] + words + ["mine"]).outputText
        let read = ["vault", "identity", "--recipient", "mine", "--identity-passphrase-file"]
        #expect(try sandbox.succeed(read + ["words"]).outputText == made)
        #expect(try sandbox.sealctl(read + ["others"]).exitCode == 51)
        // No terminal is available for the question.
        let unasked = try sandbox.sealctl(["init", "--identity", "mine", "--no-input", "--json"])
        #expect(unasked.errorText.contains("inputNeeded"))
        let terminal = try PseudoTerminal()
        let command = try terminal.start(sandbox, ["init", "--identity", "mine"])
        _ = try terminal.read(until: "assphrase")
        terminal.type("correct horse\n")
        #expect(try command.finish().exitCode == 0)
        let doctor = try sandbox.shell("SEALCTL_IDENTITY=mine $S doctor").outputText
        #expect(doctor.contains("whose passphrase was not asked for"), "\(doctor)")
    }

    /// A pipe passes its contents once, so the file is read once, before the passphrase.
    @Test func aProtectedKeyIsReadFromAPipe() throws {
        let sandbox = try Sandbox()
        try sandbox.file("words", Array("correct horse\n".utf8))
        let made = try sandbox.succeed(["vault", "identity", "--identity-passphrase-file", "words", "mine"]).outputText
        let read = try sandbox.shell(
            "$S vault identity --recipient /dev/fd/5 --identity-passphrase-file words 5<<END\n$(cat mine)\nEND")
        #expect(read.outputText == made, "\(read.errorText)")
        let piped = try sandbox.shell(
            "cat mine | $S vault identity --recipient /dev/fd/0 --identity-passphrase-file words")
        #expect(piped.outputText == made, "\(piped.errorText)")
        let writer = ["writer", "new", "--writer-passphrase-file", "words"]
        let key = try sandbox.succeed(writer + ["signer"]).outputText
        let signer = try sandbox.shell(
            "cat signer | $S writer new --public --writer-passphrase-file words /dev/fd/5 5<&0")
        #expect(signer.outputText == key, "\(signer.errorText)")
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aProtectedIdentityOfAPipeIsAskedItsPassphraseOnTheTerminal() throws {
        let sandbox = try Sandbox()
        try sandbox.file("words", Array("correct horse\n".utf8))
        _ = try sandbox.succeed(["vault", "identity", "--identity-passphrase-file", "words", "mine"])
        for (command, passphrase, status) in [
            ("init", "correct horse", 0), ("vault keys", "correct horse", 0), ("vault keys", "battery staple", 51),
        ] as [(String, String, Int32)] {
            let terminal = try PseudoTerminal()
            let child = try terminal.start(
                sandbox, command.split(separator: " ").map(String.init) + ["--identity", "/dev/fd/5"],
                script: #"cat mine | { exec setsid -cw "$@" 5<&0 <"$0"; }"#)
            _ = try terminal.read(until: "assphrase")
            terminal.type("\(passphrase)\n")
            let result = try child.finish()
            #expect(result.exitCode == status, "\(command): \(result.errorText)")
        }
        // No terminal is available for the question.
        let unasked = try sandbox.shell("cat mine | $S vault keys --identity /dev/fd/5 --no-input --json 5<&0")
        #expect(unasked.errorText.contains("inputNeeded"), "\(unasked.errorText)")
    }

    @Test func statusNamesAPersonsIdentityWithoutPassphrase() throws {
        let sandbox = try Sandbox()
        try sandbox.file("words", Array("correct horse\n".utf8))
        let mine = try sandbox.identity("mine")
        _ = try sandbox.identity("other")
        try sandbox.succeed(["vault", "identity", "--identity-passphrase-file", "words", "safe"])
        let safe = try sandbox.succeed(
            ["vault", "identity", "--recipient", "--identity-passphrase-file", "words", "safe"]
        ).outputText.dropLast()
        try sandbox.succeed(["vault", "create", "--identity", "other", "--recipient", String(safe)])
        // The identity opens the class of unattended programs, and no other.
        try sandbox.succeed(["vault", "slot", "add", "--recipient", mine, "--unattended", "--identity", "other"])
        func named(_ identity: String) throws -> [String] {
            let status = try sandbox.shell("SEALCTL_IDENTITY=\(identity) $S vault status --json")
            let found = try decode(MachineStatus.self, status.output).unprotectedIdentities
            let text = try sandbox.shell("SEALCTL_IDENTITY=\(identity) $S vault status").outputText
            #expect(text.contains("\(identity) has no passphrase and reaches") == !found.isEmpty, "\(text)")
            let doctor = try sandbox.shell("SEALCTL_IDENTITY=\(identity) $S doctor").outputText
            #expect(doctor.contains("\(identity) has no passphrase and reaches") == !found.isEmpty, "\(doctor)")
            return found
        }
        #expect(try named("mine") == [])
        #expect(try named("other") == ["other"])
        #expect(try named("safe") == [])
    }

    @Test func keysAtTheirUsualPlaceAreNamedWhereTheyHaveNoPassphrase() throws {
        let sandbox = try Sandbox()
        try sandbox.file("words", Array("correct horse\n".utf8))
        _ = try sandbox.identity("mine")
        try sandbox.succeed(["init", "--identity", "mine"])
        let keys = sandbox.path("groups/Keys")
        mkdir(keys, 0o700)
        try sandbox.succeed(["writer", "new", "\(keys)/app.writer"])
        try sandbox.succeed(["writer", "new", "--writer-passphrase-file", "words", "\(keys)/safe.writer"])
        // A roster of this group would not accept its vault until it is certified.
        try Sandbox.initialised().succeed(["roster", "init", "--unprotected", "--team-key", "\(keys)/team"])
        #expect(try sandbox.shell("mv mine '\(keys)/mine'").exitCode == 0)
        #expect(try sandbox.status().unprotectedIdentities == ["\(keys)/mine"])
        let doctor = try sandbox.sealctl(["doctor"]).outputText
        for (file, words) in [
            ("mine", "reaches what is available when unlocked"), ("app.writer", "signs as this writer"),
            ("team", "signs for its team"),
        ] {
            #expect(doctor.contains("\(keys)/\(file) has no passphrase"), "\(doctor)")
            #expect(doctor.contains(words), "\(doctor)")
        }
        #expect(!doctor.contains("safe.writer"), "\(doctor)")
        let report = try sandbox.sealctl(["audit", "-f", "jsonl", "--identity", "\(keys)/mine", "--exit-zero"])
        let found = report.outputText.split(separator: "\n").filter { $0.contains("keyfile.unprotected") }
        #expect(found.count == 3, "\(report.outputText)")
        for (file, severity) in [("mine", "high"), ("app.writer", "low"), ("team", "high")] {
            #expect(
                found.contains { $0.contains("/\(file)\"") && $0.contains("\"severity\":\"\(severity)\"") }, "\(found)")
        }
    }

    @Test func doctorWarnsOfAPersonsIdentityWithoutPassphrase() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.identity("mine")
        try sandbox.succeed(["init", "--identity", "mine"])
        let doctor = try sandbox.shell("SEALCTL_IDENTITY=mine $S doctor").outputText
        #expect(doctor.contains("has no passphrase and reaches what is available when unlocked"), "\(doctor)")
    }

    @Test func anIdentityOpensItWithAllCommandsAlike() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.identity("mine")
        _ = try sandbox.identity("theirs")
        try sandbox.succeed(["init", "--identity", "mine"])
        try sandbox.put("a", "{}", ["--identity", "mine"])
        try sandbox.succeed(["get", "a", "--identity", "mine"])
        #expect(try sandbox.sealctl(["get", "a", "--identity", "theirs"]).exitCode == 51)
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 36)
        #expect(try sandbox.sealctl(["get", "a", "--identity", "missing"]).exitCode == 66)
        chmod(sandbox.path("files/mine"), 0o644)
        #expect(try sandbox.sealctl(["get", "a", "--identity", "mine"]).exitCode == 78)
    }

    @Test func oneWayIsStatedAtATime() throws {
        let sandbox = try Sandbox.withPassphrase()
        let result = try sandbox.sealctl(["vault", "keys", "--passphrase-file", "pass", "--identity", "mine"])
        #expect(result.exitCode == 64)
    }
}

@Suite struct VaultIdentityTests {
    @Test func anIdentityIsForItsOwnerAloneAndNeverWrittenOver() throws {
        let sandbox = try Sandbox()
        let recipient = try sandbox.shell("umask 0; $S vault identity mine").outputText
        #expect(recipient.hasPrefix("sealed1") && recipient.split(separator: "\n").count == 1)
        #expect(try SystemFile.mode(sandbox.path("files/mine")) == 0o600)
        #expect(try sandbox.succeed(["vault", "identity", "--recipient", "mine"]).outputText == recipient)
        let before = try SystemFile.read(sandbox.path("files/mine"))
        #expect(try sandbox.sealctl(["vault", "identity", "mine"]).exitCode == 73)
        #expect(try SystemFile.read(sandbox.path("files/mine")) == before)
        #expect(try sandbox.sealctl(["vault", "identity", "missing/mine"]).exitCode == 73)
    }

    @Test func anInvalidIdentityIsRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.file("text", Array("hello\n".utf8))
        #expect(try sandbox.sealctl(["vault", "identity", "--recipient", "text"]).exitCode == 65)
        #expect(try sandbox.sealctl(["vault", "identity", "--recipient", "missing"]).exitCode == 66)
    }
}
