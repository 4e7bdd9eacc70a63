import TestSupport
import Testing

@Suite struct RecordCommandTests {
    @Test(arguments: ["{}", " {\"b\": [1, 2.5e-3],\n \"a\": \"\\u00e9é\"}\n", "[]", "\"text\"", "null", "-0.0"])
    func whatWasPutIsReadByteForByte(json: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("accounts/ada", json)
        let result = try sandbox.succeed(["get", "accounts/ada"])
        #expect(result.outputText == json)
        #expect(result.errors.isEmpty)
    }

    @Test func eachWriteHasTheNextSequence() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let second = try sandbox.succeed(["put", "a", "-", "--json"], input: Array("[]".utf8))
        let answer = try decode(MachineSequence.self, second.output)
        #expect(answer.name == "a" && answer.sequence == 2)
    }

    @Test func aProgramReadsWhatPutWrote() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("probe", #"{"number": 42, "text": "xxx"}"#)
        let read = try ChildProcess.run("sealed-probe", ["store-read", sandbox.path("groups"), Sandbox.group])
        #expect(read.outputText == "42 3 1\n")
    }

    @Test func aProgramRefusesAVersionThatItDoesNotKnow() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("probe", #"{"number": 42, "text": "xxx"}"#, ["--schema-version", "2"])
        let read = try ChildProcess.run("sealed-probe", ["store-read", sandbox.path("groups"), Sandbox.group])
        #expect(read.outputText == "tooNew\n")
    }

    @Test func getReadsWhatAProgramWrote() throws {
        let sandbox = try Sandbox()
        let written = try ChildProcess.run(
            "sealed-probe", ["store-write", sandbox.path("groups"), Sandbox.group, "7", "2", "durable"])
        #expect(written.exitCode == 0)
        #expect(try sandbox.succeed(["get", "probe"]).outputText == #"{"number":7,"text":"xx"}"#)
    }

    @Test func aDeletedRecordIsNotFoundAndStaysListed() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.succeed(["delete", "a"])
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
        #expect(try sandbox.sealctl(["delete", "a"]).exitCode == 44)
        let records = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(records.map(\.state) == ["deleted"])
        try sandbox.put("a", "1")
        #expect(try sandbox.succeed(["get", "a"]).outputText == "1")
    }

    @Test func aPurgeIsASecondStep() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        #expect(try sandbox.sealctl(["delete", "a", "--purge"]).exitCode == 69)
        #expect(try sandbox.succeed(["get", "a"]).outputText == "{}")
        try sandbox.succeed(["delete", "a"])
        #expect(try sandbox.succeed(["delete", "a", "--purge"]).outputText == "a purged\n")
        #expect(try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output).isEmpty)
        #expect(try sandbox.sealctl(["delete", "a", "--purge"]).exitCode == 44)
        #expect(try sandbox.sealctl(["audit"]).exitCode == 0)
        try sandbox.put("a", "1")
        #expect(try sandbox.succeed(["get", "a"]).outputText == "1")
    }

    @Test func aPutCanDependOnWhatIsThere() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1", ["--if-absent"])
        for (condition, status) in [(["--if-absent"], Int32(45)), (["--if-sequence", "2"], 69)] {
            let result = try sandbox.sealctl(["put", "a", "-", "--json"] + condition, input: Array("2".utf8))
            #expect(result.exitCode == status)
            #expect(try decode(MachineError.self, result.errors).code == "conflict")
        }
        #expect(try sandbox.succeed(["get", "a"]).outputText == "1")
        try sandbox.put("a", "2", ["--if-sequence", "1"])
        #expect(try sandbox.succeed(["get", "a"]).outputText == "2")
        #expect(
            try sandbox.sealctl(["put", "a", "-", "--if-absent", "--if-sequence", "1"], input: Array("3".utf8)).exitCode
                == 64)
    }

    @Test func anExpiredRecordIsUnavailable() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}", ["--expires-in", "1s"])
        // The record expires a second after the write, so it has expired after the pause.
        _ = try ChildProcess.run("/bin/sleep", ["1.1"])
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 69)
        let records = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(records.map(\.state) == ["expired"])
        #expect(
            try decode(MachineInspection.self, sandbox.succeed(["inspect", "a", "--json"]).output).freshness
                == "expired")
    }

    @Test func theListNamesWhatIsThere() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("b", "{}", ["--schema-version", "3"])
        try sandbox.put("a/c", "[1]", ["--expires-in", "1h"])
        let records = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(records.map(\.name) == ["a/c", "b"])
        #expect(records.map(\.schemaVersion) == [1, 3])
        #expect(records.map(\.size) == [3, 2])
        #expect(records.map(\.state) == ["current", "current"])
        #expect(records[0].notAfter != nil && records[1].notAfter == nil)
        let lines = try sandbox.succeed(["list"]).outputText.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("NAME"))
    }

    @Test(arguments: Planted.allCases)
    func specialFilesAreListedAsRefused(planted: Planted) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try planted.plant(sandbox.record("b"))
        let records = try decode([MachineRecord].self, sandbox.succeed(["list", "--json"]).output)
        #expect(records.map(\.name) == ["a", "b"])
        #expect(records.map(\.state) == ["current", "refused"])
        #expect(records[1].reason == "malformed")
    }

    @Test func aNameThatBeginsWithADashFollowsTwo() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["put", "--", "-a", "-"], input: Array("1".utf8))
        #expect(try sandbox.succeed(["get", "--", "-a"]).outputText == "1")
    }

    @Test func anEmptyListIsJSONAsWell() throws {
        let sandbox = try Sandbox.initialised()
        #expect(try sandbox.succeed(["list", "--json"]).outputText == "[]\n")
    }

    @Test func getWritesAFileForItsOwnerOnly() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        try sandbox.succeed(["get", "a", "-o", "out.json"])
        #expect(try SystemFile.read(sandbox.path("files/out.json")) == Array("{}".utf8))
        #expect(try SystemFile.mode(sandbox.path("files/out.json")) == 0o600)
    }

    @Test func anOldBlobThatIsPutBackIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        let old = try SystemFile.read(sandbox.record("a"))
        try sandbox.put("a", "2")
        try SystemFile.write(sandbox.record("a"), old)
        let result = try sandbox.sealctl(["get", "a", "--json"])
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "replayed")
    }

    @Test func aBlobUnderAnotherNameIsRefused() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try SystemFile.write(sandbox.record("b"), SystemFile.read(sandbox.record("a")))
        let result = try sandbox.sealctl(["get", "b", "--json"])
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "wrongName")
    }

    @Test func aBlobOfALaterFormatIsReportedAsSuch() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        var bytes = try SystemFile.read(sandbox.record("a"))
        bytes[4] = 2
        try SystemFile.write(sandbox.record("a"), bytes)
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 76)
    }

    @Test(arguments: [8, 64, 72, 150, 176])
    func aTamperedBlobIsRefusedByGet(offset: Int) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\": 1}")
        try sandbox.flip(sandbox.record("a"), at: offset)
        let result = try sandbox.sealctl(["get", "a", "-o", "out"])
        #expect(result.exitCode == 65)
        #expect(try sandbox.files().isEmpty)
    }
}
