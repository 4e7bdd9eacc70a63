import TestSupport
import Testing

@Suite struct InspectTests {
    @Test func aRecordIsShownWithVerdictAndPayload() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("accounts/ada", "{\"n\": 1}", ["--schema-version", "4"])
        let seen = try decode(
            MachineInspection.self, sandbox.succeed(["inspect", "accounts/ada", "--json"]).output)
        #expect(seen.kind == "record" && seen.name == "accounts/ada" && seen.group == Sandbox.group)
        #expect(seen.schemaVersion == 4 && seen.sequence == 1 && !seen.deleted)
        #expect(seen.verdict == "verified" && seen.freshness == "current" && seen.payload == ["n": 1])
        #expect(try sandbox.succeed(["inspect", "accounts/ada"]).outputText.hasSuffix("{\n  \"n\": 1\n}\n"))
    }

    @Test func aHeaderNeedsNeitherKeyNorGroup() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        let result = try sandbox.sealctl(["inspect", "--json", sandbox.record("a")], group: "")
        #expect(result.exitCode == 0)
        let seen = try decode(MachineInspection.self, result.output)
        #expect(seen.verdict == "unverified" && seen.sequence == 1 && seen.name == nil && seen.payload == nil)
    }

    @Test func aCopyElsewhereIsRecognisedByItsTag() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        try sandbox.file("copy", SystemFile.read(sandbox.record("a")))
        for arguments in [["inspect", "copy", "--json"], ["inspect", "-", "--json"]] {
            let input = try SystemFile.read(sandbox.record("a"))
            let seen = try decode(MachineInspection.self, sandbox.succeed(arguments, input: input).output)
            #expect(seen.verdict == "verified" && seen.name == "a" && seen.payload == ["n": 1])
        }
    }

    @Test func aNameMayBeAFileAsWell() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.file("a", Array("no blob".utf8))
        #expect(try sandbox.sealctl(["inspect", "a"]).exitCode == 65)
        #expect(try sandbox.sealctl(["inspect", "./a"]).exitCode == 65)
        try sandbox.succeed(["inspect", "--record", "a"])
    }

    @Test(arguments: [("a", 72, "wrongCommitment"), ("a", 190, "tampered"), ("a", 20, "wrongGroup")])
    func aRefusedBlobIsShownAndRefused(name: String, offset: Int, code: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put(name, "{\"n\":1}")
        try sandbox.flip(sandbox.record(name), at: offset)
        let result = try sandbox.sealctl(["inspect", name, "--json"])
        #expect(result.exitCode == 65)
        let seen = try decode(MachineInspection.self, result.output)
        #expect(seen.verdict == "refused" && seen.reason == code && seen.payload == nil)
    }

    @Test func anOldBlobThatIsPutBackIsShownAndRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        let old = try SystemFile.read(sandbox.record("a"))
        try sandbox.put("a", "{\"n\":2}")
        try SystemFile.write(sandbox.record("a"), old)
        let result = try sandbox.sealctl(["inspect", "a", "--json"])
        #expect(result.exitCode == 65)
        let seen = try decode(MachineInspection.self, result.output)
        #expect(seen.verdict == "refused" && seen.reason == "replayed" && seen.sequence == 1)
    }

    @Test func aBlobUnderAnotherNameIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try SystemFile.write(sandbox.record("b"), SystemFile.read(sandbox.record("a")))
        for argument in ["b", sandbox.record("b")] {
            let result = try sandbox.sealctl(["inspect", argument, "--json"])
            #expect(result.exitCode == 65)
            #expect(try decode(MachineInspection.self, result.output).reason == "wrongName")
        }
    }

    @Test func aStreamIsVerifiedToItsEnd() throws {
        let sandbox = try Sandbox.initialised()
        let sealed = try sandbox.succeed(["encrypt"], input: noise(100_000)).output
        try sandbox.file("sealed", sealed)
        try sandbox.file("cut", Array(sealed.dropLast()))
        let seen = try decode(MachineInspection.self, sandbox.succeed(["inspect", "sealed", "--json"]).output)
        #expect(seen.kind == "stream" && seen.verdict == "verified")
        #expect(try sandbox.sealctl(["inspect", "cut"]).exitCode == 65)
    }

    @Test func inspectingRemembersNothing() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let old = try SystemFile.read(sandbox.record("a"))
        let marks = try sandbox.shell("cat ../groups/Watermarks/*").output
        try sandbox.succeed(["inspect", "a"])
        #expect(try sandbox.shell("cat ../groups/Watermarks/*").output == marks)
        #expect(try SystemFile.read(sandbox.record("a")) == old)
    }

    /// get, explain, list and inspect agree: setting a clock back makes no expired record valid again.
    @Test func aRecordThatAReaderFoundExpiredIsExpiredForEveryCommand() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("clock", "{}", ["--expires-in", "1h"])
        let later = try sandbox.shell("date -d '+2 hours' +%s").outputText.split(separator: "\n")[0]
        let read = try ChildProcess.run(
            "sealed-probe", ["clock-read", sandbox.path("groups"), Sandbox.group, String(later)])
        #expect(read.outputText == "stale\n")
        #expect(try sandbox.sealctl(["get", "clock"]).exitCode == 69)
        #expect(try sandbox.sealctl(["explain", "clock"]).exitCode == 69)
        let seen = try decode(MachineInspection.self, sandbox.succeed(["inspect", "clock", "--json"]).output)
        #expect(seen.verdict == "verified" && seen.freshness == "expired")
        let listed = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(listed.map(\.state) == ["expired"])
        #expect(try sandbox.succeed(["audit", "--json"]).outputText.contains("blob.stale"))
    }

    private struct Inspected: Decodable {
        let verdict: String
        let name: String?
    }

    @Test func aLeaseIsARecordThatCanBeInspected() throws {
        let sandbox = try Sandbox.initialised()
        let child = try ChildProcess(
            "sealed-probe", ["lease", sandbox.path("groups"), Sandbox.group, "refresh", "600000"])
        #expect(try child.readLine() == "waiting")
        #expect(try child.readLine()?.hasPrefix("took ") == true)
        child.closeInput()
        _ = try child.finish()
        let path = sandbox.record("_sealed/leases/refresh")
        for arguments in [["inspect", path, "--json"], ["inspect", "-", "--json"]] {
            let seen = try decode(
                Inspected.self, sandbox.succeed(arguments, input: SystemFile.read(path)).output)
            #expect(seen.verdict == "verified" && seen.name == "_sealed/leases/refresh")
        }
        #expect(try sandbox.succeed(["audit"]).outputText.contains("no findings"))
        #expect(try sandbox.succeed(["list", "--json"]).outputText == "[]\n")
    }
}
