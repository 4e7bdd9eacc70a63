import Glibc
import TestSupport
import Testing

@Suite struct ItemsExecTests {
    /// Creates a sandbox with the item `db/ada`.
    private func prepared() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.add("db", "ada", "hunter2")
        return sandbox
    }

    private static let env = ["exec", "--env", "PW=db/ada", "--"]

    @Test func theProgramFindsTheItemInItsEnvironmentAndNotInItsArguments() throws {
        let sandbox = try prepared()
        let print = try sandbox.succeed(Self.env + ["sh", "-c", "printf %s \"$PW\""])
        #expect(print.outputText == "hunter2")
        let arguments = try sandbox.succeed(Self.env + ["cat", "/proc/self/cmdline"])
        #expect(arguments.outputText == "cat\0/proc/self/cmdline\0")
    }

    @Test func theRestOfTheEnvironmentIsAsItWas() throws {
        let sandbox = try prepared()
        let plain = try sandbox.shell("PW=old PWX=1 OTHER='a b' env")
        let given = try sandbox.shell("PW=old PWX=1 OTHER='a b' $S exec --env PW=db/ada -- env")
        var expected = plain.outputText.split(separator: "\n").filter { !$0.hasPrefix("PW=") && !$0.hasPrefix("_=") }
        expected.append("PW=hunter2")
        #expect(given.outputText.split(separator: "\n").filter { !$0.hasPrefix("_=") }.sorted() == expected.sorted())
    }

    @Test(arguments: [0, 1, 65_537, 1 << 20])
    func theProgramReadsTheItemFromADescriptor(size: Int) throws {
        let sandbox = try prepared()
        let value = noise(size)
        try sandbox.add("db", "bytes", value, ["--value-file", "-"])
        #expect(try sandbox.succeed(["exec", "--fd", "9=db/bytes", "--", "sh", "-c", "cat <&9"]).output == value)
        #expect(try sandbox.succeed(["exec", "--fd", "3=db/bytes", "--", "cat", "/dev/fd/3"]).output == value)
        #expect(try sandbox.succeed(["exec", "--fd", "0=db/bytes", "--", "cat"]).output == value)
    }

    @Test func manyItemsGoToTheirOwnPlaces() throws {
        let sandbox = try prepared()
        var options: [String] = []
        for number in 3..<30 {
            try sandbox.add("many", "\(number)", "<\(number)>")
            options += ["--fd", "\(number)=many/\(number)", "--env", "V\(number)=many/\(number)"]
        }
        let script = "for i in 29 3 17; do cat /dev/fd/$i; done; printf %s \"$V3$V29\""
        #expect(
            try sandbox.succeed(["exec"] + options + ["--", "bash", "-c", script]).outputText == "<29><3><17><3><29>")
    }

    /// Descriptors, ignored signals and limits are the same as without sealctl.
    @Test func nothingElseReachesTheProgram() throws {
        let sandbox = try prepared()
        // ls itself has the directory open.
        try sandbox.directory.file(
            "files/look",
            """
            #!/bin/sh
            ls -l /proc/self/fd | grep -v '/proc/[0-9]*/fd$' | sed 's/.* \\([0-9]*\\) -> .*/descriptor \\1/' | sort
            grep -E 'Sig(Ign|Blk)' /proc/self/status
            ulimit -c
            """, mode: 0o700)
        // One shell runs both, because another shell may have inherited different descriptors.
        let result = try sandbox.shell(
            """
            ulimit -Sc 0; exec 5</dev/null
            ./look; echo between; $S exec --fd 44=db/ada --env A=db/ada -- ./look
            """)
        let lines = result.outputText.split(separator: "\n")
        let middle = try #require(lines.firstIndex(of: "between"))
        let given = lines[(middle + 1)...]
        #expect(given.contains("descriptor 5") && given.contains("descriptor 44"))
        #expect(given.filter { $0 != "descriptor 44" } == Array(lines[..<middle]), "\(result.outputText)")
    }

    @Test func theProgramTakesThePlaceOfSealctl() throws {
        let sandbox = try prepared()
        let child = try sandbox.start(Self.env + ["sh", "-c", "echo $$; exit 7"])
        #expect(try child.readLine() == "\(child.pid)")
        #expect(try child.finish().status == .exited(7))
        #expect(try sandbox.sealctl(Self.env + ["sh", "-c", "kill -9 $$"]).status == .signalled(SIGKILL))
    }

    @Test func argumentsAreHandedOnAsTheyAre() throws {
        let sandbox = try prepared()
        #expect(
            try sandbox.succeed(Self.env + ["printf", "%s|", "--json", "-h", "--", "a b"]).outputText
                == "--json|-h|--|a b|")
        #expect(try sandbox.succeed(["exec", "--env", "PW=db/ada", "printf", "%s", "--fd"]).outputText == "--fd")
        #expect(
            try sandbox.shell("$S exec --env PW=db/ada -- printf %s \"$(printf '\\377x')\"").output == [0xFF, 0x78])
    }

    @Test(arguments: ["--help", "-h", "--version"])
    func helpAndVersionComeBeforeAProgram(option: String) throws {
        #expect(try Sandbox().succeed(["exec", option]).outputText.contains("sealctl"))
    }

    @Test func aSlashInANameIsWrittenAsInAURL() throws {
        let sandbox = try prepared()
        try sandbox.add("https://db/x", "50%", "odd")
        let item = "PW=https:%2F%2fdb%2Fx/50%25"
        #expect(try sandbox.succeed(["exec", "--env", item, "--", "sh", "-c", "printf %s $PW"]).outputText == "odd")
    }

    @Test(arguments: [
        ("PW=db/bob", Int32(44), "itemNotFound"), ("PW=db/person", 36, "locked"), ("PW=db/nul", 65, "nulInValue"),
        ("PW=db/large", 65, "tooLarge"),
    ])
    func nothingRunsWhereAnItemIsMissingLockedOrDoesNotFit(binding: String, status: Int32, code: String) throws {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        try sandbox.add("db", "person", "v", ["--accessible", "when-unlocked", "--passphrase-file", "pass"])
        try sandbox.add("db", "nul", [0x61, 0, 0x62])
        try sandbox.add("db", "large", [UInt8](repeating: 0x61, count: 131_069))
        try sandbox.add("db", "ada", "v")
        let result = try sandbox.sealctl(
            ["exec", "--env", "FIRST=db/ada", "--env", binding, "--fd", "3=db/ada", "--json", "--", "touch", "ran"])
        #expect(result.exitCode == status)
        #expect(try decode(MachineError.self, result.errors).code == code)
        #expect(try !sandbox.files().contains("ran"))
    }

    @Test func theLargestValueThatFitsAnEnvironmentArrives() throws {
        let sandbox = try prepared()
        try sandbox.add("db", "large", [UInt8](repeating: 0x61, count: 131_068))
        let result = try sandbox.succeed([
            "exec", "--env", "PW=db/large", "--", "sh", "-c", "printf %s \"$PW\" | wc -c",
        ])
        #expect(result.outputText == "131068\n")
    }

    @Test func aLockedVaultRunsNothing() throws {
        let sandbox = try Sandbox.withPassphrase()
        #expect(try sandbox.sealctl(Self.env + ["touch", "ran"]).exitCode == 36)
        #expect(try !sandbox.files().contains("ran"))
    }

    @Test func aProgramIsFoundAsAShellFindsIt() throws {
        let sandbox = try prepared()
        try sandbox.directory.directory("files/first")
        try sandbox.directory.directory("files/second")
        try sandbox.directory.file("files/first/tool", "#!/bin/sh\necho first", mode: 0o600)
        try sandbox.directory.file("files/second/tool", "#!/bin/sh\necho $PW", mode: 0o700)
        #expect(try sandbox.succeed(Self.env + ["./second/tool"]).outputText == "hunter2\n")
        let search = "PATH=$PWD/none:$PWD/first:$PWD/second:$PATH"
        // A user without root's permissions cannot run the first one.
        #expect(try sandbox.shell("\(search) $S exec --env PW=db/ada tool").outputText == "hunter2\n")
    }

    @Test(arguments: [
        ("none", Int32(127)), ("./none", 127), ("./plain", 126), ("./text", 126), (".", 126), ("./plain/tool", 126),
        ("./loop", 126),
    ])
    func aProgramThatCannotRunIsReported(program: String, status: Int32) throws {
        let sandbox = try prepared()
        try sandbox.directory.file("files/plain", "#!/bin/sh", mode: 0o600)
        try sandbox.directory.file("files/text", "echo no", mode: 0o700)
        try sandbox.shell("ln -s loop loop")
        #expect(try sandbox.sealctl(Self.env + [program]).exitCode == status)
    }

    @Test(arguments: [
        ["--env", "PW=db/ada"], ["--env", "PW=db/ada", "--"], ["--env", "PW=db/ada", "--", ""], ["--", "true"],
        ["--env", "1A=db/ada", "--", "true"], ["--env", "=db/ada", "--", "true"],
        ["--env", "A B=db/ada", "--", "true"],
        ["--env", "PW=db", "--", "true"], ["--env", "PW=db/", "--", "true"], ["--env", "PW=a/b/c", "--", "true"],
        ["--env", "PW=db%2/ada", "--", "true"], ["--env", "PW=%FF/ada", "--", "true"], ["--env", "PW", "--", "true"],
        ["--env", "PW=db/ada", "--env", "PW=db/ada", "--", "true"], ["--fd", "1=db/ada", "--", "true"],
        ["--fd", "-1=db/ada", "--", "true"], ["--fd", "3=db/ada", "--fd", "3=db/ada", "--", "true"],
        ["--frobnicate", "--env", "PW=db/ada", "--", "true"],
    ])
    func wrongUsageIsReported(arguments: [String]) throws {
        #expect(try prepared().sealctl(["exec"] + arguments).exitCode == 64)
    }

    @Test func aDescriptorBeyondTheLimitIsReported() throws {
        let sandbox = try prepared()
        let result = try sandbox.shell("ulimit -n 64; $S exec --fd 5000=db/ada -- true")
        #expect(result.exitCode == 71, "\(result.errorText)")
    }

    @Test func aReadingIsInTheAccessLog() throws {
        let sandbox = try prepared()
        try sandbox.succeed(Self.env + ["true"])
        let log = try sandbox.succeed(["vault", "log", "--json"]).outputText
        #expect(log.contains("itemRead") && !log.contains("hunter2"))
    }
}
