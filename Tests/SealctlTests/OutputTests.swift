import Glibc
import TestSupport
import Testing

@Suite struct OutputTests {
    @Test func anExistingOutputSurvivesAFailure() throws {
        let sandbox = try Sandbox.initialised()
        let sealed = try sandbox.succeed(["encrypt"], input: noise(300_000)).output
        try sandbox.file("cut", Array(sealed.dropLast()))
        try sandbox.file("out", [7])
        #expect(try sandbox.sealctl(["decrypt", "-o", "out", "cut"]).exitCode == 65)
        #expect(try sandbox.sealctl(["get", "missing", "-o", "out"]).exitCode == 44)
        #expect(try SystemFile.read(sandbox.path("files/out")) == [7])
        #expect(try sandbox.files() == ["cut", "out"])
    }

    @Test func anExistingOutputIsReplacedOnSuccess() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("out", [7])
        try sandbox.put("a", "{}")
        try sandbox.succeed(["get", "a", "-o", "out"])
        #expect(try SystemFile.read(sandbox.path("files/out")) == Array("{}".utf8))
    }

    @Test func aLinkStaysALinkAndItsTargetGetsTheValue() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.file("target", [7])
        try sandbox.directory.link("files/link", to: "target")
        try sandbox.succeed(["get", "a", "-o", "link"])
        #expect(try SystemFile.linkTarget(sandbox.path("files/link")) == "target")
        #expect(try SystemFile.read(sandbox.path("files/target")) == Array("{}".utf8))
    }

    @Test func aDeviceIsWrittenToAndNotReplaced() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.succeed(["get", "a", "-o", "/dev/null"])
        var status = stat()
        #expect(stat("/dev/null", &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func aPipeUnderANameIsWrittenTo() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "[1]")
        try sandbox.directory.fifo("files/pipe")
        #expect(try sandbox.shell("$S get a -o pipe & cat pipe; wait").outputText == "[1]")
    }

    @Test func aFileSizeLimitLeavesNothing() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("plain", noise(100_000))
        // A block of ulimit is 512 bytes.
        let result = try sandbox.shell("ulimit -f 16; $S encrypt -o out plain")
        #expect(result.exitCode == 74)
        #expect(try sandbox.files() == ["plain"])
    }

    @Test(arguments: [["encrypt"], ["decrypt"]])
    func aClosedPipeEndsQuietly(command: [String]) throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(3 << 20)
        let input = command == ["encrypt"] ? plain : try sandbox.succeed(["encrypt"], input: plain).output
        let child = try sandbox.start(command)
        child.closeOutput()
        let result = try child.finish(input: input)
        #expect(result.status == .exited(74))
        #expect(result.errors.isEmpty)
    }

    @Test func aClosedStandardOutputIsAnErrorAndNoFileIsHarmed() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        #expect(try sandbox.shell("$S get a >&-").exitCode == 74)
        #expect(try sandbox.shell("$S list 0<&- >/dev/null 2>&-").exitCode == 0)
    }

    @Test func aTerminalGetsSealedDataOnlyWhenAsked() throws {
        let sandbox = try Sandbox.initialised()
        let terminal = try PseudoTerminal()
        #expect(try sandbox.shell("echo secret | $S encrypt > \(terminal.path)").exitCode == 64)
        #expect(terminal.readRest().isEmpty)
        #expect(try sandbox.shell("echo secret | $S encrypt -o - > \(terminal.path)").exitCode == 0)
        #expect(terminal.readRest().hasPrefix("SEAL"))
    }

    @Test func aTerminalGetsOpenedTextButNoControlCharacters() throws {
        let sandbox = try Sandbox.initialised()
        let terminal = try PseudoTerminal()
        let text = try sandbox.succeed(["encrypt"], input: Array("hello\n".utf8)).output
        let control = try sandbox.succeed(["encrypt"], input: Array("hello\u{1B}[2J\n".utf8)).output
        #expect(try sandbox.shell("$S decrypt > \(terminal.path)", input: control).exitCode == 64)
        #expect(terminal.readRest().isEmpty)
        #expect(try sandbox.shell("$S decrypt > \(terminal.path)", input: text).exitCode == 0)
        #expect(terminal.readRest() == "hello\r\n")
    }

    @Test func progressIsForTerminalsOnly() throws {
        let sandbox = try Sandbox.initialised()
        let terminal = try PseudoTerminal()
        // The data is larger than a pipe's buffer, so that the pause begins after the job has started.
        let slow = "(head -c 700000 /dev/zero; sleep 1.2; head -c 700000 /dev/zero) | $S encrypt -o out"
        let piped = try sandbox.shell(slow)
        #expect(piped.exitCode == 0 && piped.errors.isEmpty && piped.output.isEmpty)
        #expect(try sandbox.shell("\(slow) 2> \(terminal.path)").exitCode == 0)
        #expect(terminal.readRest().contains("sealing "))
    }
}
