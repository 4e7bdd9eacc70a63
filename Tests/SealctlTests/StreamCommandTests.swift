import Glibc
import TestSupport
import Testing

@Suite struct StreamCommandTests {
    static let sizes = [0, 1, 65_535, 65_536, 65_537, 3 << 20]

    @Test func aWriterKeyIsRefusedSinceStreamsAreNotSigned() throws {
        let result = try Sandbox().sealctl(["encrypt", "--name", "a", "--writer-key", "missing"])
        #expect(result.exitCode == 64 && result.errorText.contains("--writer-key"))
    }

    @Test(arguments: sizes)
    func aPipeComesBackAsItWas(size: Int) throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(size)
        let sealed = try sandbox.succeed(["encrypt"], input: plain).output
        #expect(sealed.count > size)
        #expect(try sandbox.succeed(["decrypt"], input: sealed).output == plain)
    }

    @Test(arguments: sizes)
    func aFileComesBackAsItWas(size: Int) throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(size)
        try sandbox.file("plain", plain)
        try sandbox.succeed(["encrypt", "-o", "sealed", "plain"])
        try sandbox.succeed(["decrypt", "-o", "back", "sealed"])
        #expect(try SystemFile.read(sandbox.path("files/back")) == plain)
        #expect(try SystemFile.mode(sandbox.path("files/back")) == 0o600)
        #expect(try sandbox.succeed(["decrypt", "sealed"]).output == plain)
        #expect(try sandbox.shell("$S decrypt -o - - < sealed").output == plain)
        #expect(try sandbox.files() == ["back", "plain", "sealed"])
    }

    @Test(arguments: [0, 4, 70, 150, 180, 65_700, 200_000])
    func aFlippedByteLeavesNoOutput(offset: Int) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("plain", noise(200_000))
        try sandbox.succeed(["encrypt", "-o", "sealed", "plain"])
        try sandbox.flip(sandbox.path("files/sealed"), at: offset)
        let result = try sandbox.sealctl(["decrypt", "-o", "back", "sealed"])
        #expect([65, 76].contains(result.exitCode))
        #expect(try sandbox.files() == ["plain", "sealed"])
        let piped = try sandbox.sealctl(["decrypt", "sealed"])
        #expect(piped.exitCode == result.exitCode)
        #expect(piped.output.isEmpty)
    }

    @Test(arguments: [0, 100, 176, 192, 65_536, 65_728, 131_264, 200_000])
    func aTruncatedStreamLeavesNoOutput(count: Int) throws {
        let sandbox = try Sandbox.initialised()
        let sealed = try sandbox.succeed(["encrypt"], input: noise(200_000)).output
        try sandbox.file("sealed", Array(sealed.prefix(count)))
        #expect(try sandbox.sealctl(["decrypt", "-o", "back", "sealed"]).exitCode == 65)
        #expect(try sandbox.files() == ["sealed"])
        let piped = try sandbox.sealctl(["decrypt", "sealed"])
        #expect(piped.exitCode == 65)
        #expect(piped.output.isEmpty)
    }

    @Test func anAppendedByteIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        let sealed = try sandbox.succeed(["encrypt"], input: noise(100)).output
        #expect(try sandbox.sealctl(["decrypt"], input: sealed + [0]).exitCode == 65)
    }

    @Test func aPipeReleasesEarlyAndSaysThatTheEndWasWrong() throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(3 << 20)
        let sealed = try sandbox.succeed(["encrypt"], input: plain).output
        let result = try sandbox.sealctl(["decrypt"], input: Array(sealed.dropLast(1)))
        #expect(result.exitCode == 65)
        #expect(!result.output.isEmpty && result.output.count < plain.count)
        #expect(plain.starts(with: result.output))
        #expect(result.errorText.contains("\(result.output.count) bytes were written"))
    }

    @Test func aStreamOfAnotherGroupIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["init", "--group", "group.other"])
        let sealed = try sandbox.succeed(["encrypt", "--group", "group.other"], input: [1, 2]).output
        let result = try sandbox.sealctl(["decrypt", "--json"], input: sealed)
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "wrongGroup")
    }

    @Test func aRecordIsNotAStream() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let result = try sandbox.sealctl(["decrypt", "--json", sandbox.record("a")])
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "wrongKind")
    }

    @Test func inputAndOutputMayBeTheSameFile() throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(200_000)
        try sandbox.file("f", plain)
        try sandbox.succeed(["encrypt", "-o", "f", "f"])
        #expect(try SystemFile.read(sandbox.path("files/f")) != plain)
        try sandbox.succeed(["decrypt", "-o", "./f", "f"])
        #expect(try SystemFile.read(sandbox.path("files/f")) == plain)
        #expect(try sandbox.files() == ["f"])
    }

    @Test func appendingAFileToItselfIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("f", [1, 2, 3])
        #expect(try sandbox.shell("$S encrypt f >> f").exitCode == 64)
        #expect(try SystemFile.read(sandbox.path("files/f")) == [1, 2, 3])
    }
}
