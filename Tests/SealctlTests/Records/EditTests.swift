import Glibc
import TestSupport
import Testing

@Suite(.enabled(if: EditSandbox.hasMemory), .timeLimit(.minutes(10))) struct EditTests {
    @Test func savedEditsAreSealed() throws {
        let it = try EditSandbox()
        try it.editor("sed -i s/1/2/ \"$1\"")
        let result = try it.edit()
        #expect(result.exitCode == 0 && result.outputText == "a sequence 2\n" && result.errors.isEmpty)
        #expect(try it.value() == #"{"a":2}"#)
        #expect(try it.remains().isEmpty)
    }

    @Test func unchangedValuesAreNotWritten() throws {
        let it = try EditSandbox()
        try it.editor(":")
        #expect(try it.edit().outputText == "a unchanged\n")
        let blob = try SystemFile.read(it.sandbox.record("a"))
        try it.editor("touch \"$1\"; cp \"$1\" copy; cat copy > \"$1\"")
        #expect(try it.edit(["a", "--json"]).outputText == "{\"name\":\"a\",\"sequence\":1,\"isChanged\":false}\n")
        #expect(try SystemFile.read(it.sandbox.record("a")) == blob)
        #expect(try it.remains().isEmpty)
    }

    /// A single line is laid out and sealed as a single line again. Other text is sealed byte for byte.
    @Test(arguments: [
        (#"{"a":[1,{}]}"#, "{\n  \"a\": [\n    1,\n    {}\n  ]\n}\n", #"{"a":[2,{}]}"#),
        ("{ \"a\":1,\n\"b\" : 1}", "{ \"a\":1,\n\"b\" : 1}\n", "{ \"a\":2,\n\"b\" : 1}"),
        ("[\n1 ]\n", "[\n1 ]\n", "[\n2 ]\n"),
    ])
    func theEditorSeesJSONThatPeopleCanRead(sealed: String, shown: String, edited: String) throws {
        let it = try EditSandbox(sealed)
        try it.editor("cp \"$1\" shown; sed -i '0,/1/s/1/2/' \"$1\"")
        #expect(try it.edit().exitCode == 0)
        #expect(try SystemFile.read(it.sandbox.path("files/shown")) == Array(shown.utf8))
        #expect(try it.value() == edited)
    }

    @Test func noOtherUserMayReadIt() throws {
        let it = try EditSandbox()
        try it.editor(
            "stat -c '%a %F' \"$1\" \"$(dirname \"$1\")\" > seen; stat -f -c %T \"$1\" >> seen; ulimit -c >> seen")
        #expect(try it.edit().exitCode == 0)
        let seen = String(decoding: try SystemFile.read(it.sandbox.path("files/seen")), as: UTF8.self)
        #expect(seen == "600 regular file\n700 directory\ntmpfs\n0\n")
    }

    @Test func filesBesideTheEditedOneAreWiped() throws {
        let it = try EditSandbox()
        try it.editor("d=$(dirname \"$1\"); cp \"$1\" \"$1~\"; mkdir $d/.swap; cp \"$1\" $d/.swap/x; mv \"$1~\" \"$1\"")
        #expect(try it.edit().outputText == "a unchanged\n")
        #expect(try it.remains().isEmpty)
    }

    @Test func aDiskIsNotAPlaceForIt() throws {
        let it = try EditSandbox(onDisk: true)
        try it.editor("dirname \"$1\" > seen")
        let disk = it.sandbox.path("home")
        try #require(try it.edit(["a"], ["XDG_RUNTIME_DIR": disk]).exitCode == 0)
        let seen = String(decoding: try SystemFile.read(it.sandbox.path("files/seen")), as: UTF8.self)
        // The sandbox itself may be in memory.
        #expect(seen.hasPrefix("/dev/shm/sealctl-edit.") || seen.hasPrefix(disk))
    }

    @Test func aNewRecordHasToBeAskedFor() throws {
        let it = try EditSandbox()
        try it.editor("echo '{\"n\": 1}' > \"$1\"")
        let refused = try it.edit(["new/one", "--json"])
        #expect(refused.exitCode == 44)
        #expect(try decode(MachineError.self, refused.errors).hint.contains("--create"))
        #expect(try it.edit(["new/one", "--create"]).outputText == "new/one sequence 1\n")
        #expect(try it.value("new/one") == #"{"n":1}"#)
    }

    @Test func versionAndExpiryStayUnlessStated() throws {
        let it = try EditSandbox()
        try it.sandbox.put("a", #"{"a":1}"#, ["--schema-version", "3", "--expires-in", "1h"])
        let before = try decode([MachineRecord].self, it.sandbox.succeed(["list", "--json"]).output)[0]
        try it.editor("sed -i s/1/2/ \"$1\"")
        #expect(try it.edit().exitCode == 0)
        let after = try decode([MachineRecord].self, it.sandbox.succeed(["list", "--json"]).output)[0]
        #expect(after.schemaVersion == 3 && after.notAfter == before.notAfter && after.sequence == 3)
        try it.editor("sed -i s/2/3/ \"$1\"")
        #expect(try it.edit(["a", "--schema-version", "4", "--expires-in", "2h"]).exitCode == 0)
        let stated = try decode([MachineRecord].self, it.sandbox.succeed(["list", "--json"]).output)[0]
        #expect(stated.schemaVersion == 4 && stated.notAfter != before.notAfter)
    }

    @Test(
        arguments: [
            ("exit 3", "editorFailed", Int32(69)), ("kill -9 $$", "editorFailed", 69), ("rm \"$1\"", "notFound", 66),
            ("echo oops > \"$1\"", "notJSON", 65), (": > \"$1\"", "notJSON", 65),
            ("ln -sf /etc/passwd \"$1\"", "unsafePath", 78),
            ("head -c 1100000 /dev/zero | tr '\\0' 1 > \"$1\"", "tooLarge", 65),
        ] as [(String, String, Int32)])
    func aValueThatCannotBeSealedIsNotWritten(script: String, code: String, status: Int32) throws {
        let it = try EditSandbox()
        try it.editor(script)
        let result = try it.edit(["a", "--json"])
        #expect(result.exitCode == status)
        // The shell may have printed a message before.
        let last = try #require(result.errors.split(separator: UInt8(ascii: "\n")).last)
        #expect(try decode(MachineError.self, Array(last)).code == code)
        #expect(try it.value() == #"{"a":1}"#)
        #expect(try it.remains().isEmpty)
    }

    @Test func anEditorThatIsNotThereIsReported() throws {
        let it = try EditSandbox()
        #expect(try it.edit(["a"], ["EDITOR": "no-such-editor-here -x"]).exitCode == 78)
        #expect(try it.remains().isEmpty)
    }

    @Test func visualGoesFirstButOnADumbTerminal() throws {
        let it = try EditSandbox()
        try it.editor("sed -i s/1/5/ \"$1\"")
        let visual = try it.editor("sed -i \"s/1/$2/\" \"$3\"", "visual")
        _ = visual
        #expect(try it.edit(["a"], ["VISUAL": "'\(visual)' x 4", "TERM": "xterm"]).exitCode == 0)
        #expect(try it.value() == #"{"a":4}"#)
        try it.sandbox.put("a", #"{"a":1}"#)
        #expect(try it.edit(["a"], ["VISUAL": "'\(visual)' x 4", "TERM": "dumb"]).exitCode == 0)
        #expect(try it.value() == #"{"a":5}"#)
    }

    @Test func noQuestionIsAskedWhereThatIsForbidden() throws {
        let it = try EditSandbox()
        try it.editor("touch ran")
        #expect(try it.edit(["a", "--no-input"]).exitCode == 69)
        #expect(!SystemFile.exists(it.sandbox.path("files/ran")))
    }

    // The editor   | another writer
    // opens 1      |
    //              | put: 2
    // saves        |
    // conflict: the edit is kept in memory, and the other writer's value remains
    @Test func anEditThatComesTooLateIsKeptInMemory() throws {
        let it = try EditSandbox()
        try it.editor("printf '{\"a\":7}' | $S put a - > /dev/null; sed -i s/1/2/ \"$1\"")
        let result = try it.edit(["a", "--json"])
        #expect(result.exitCode == 69)
        let error = try decode(MachineError.self, result.errors)
        #expect(error.code == "conflict")
        #expect(try it.value() == #"{"a":7}"#)
        let kept = try #require(try it.remains().first)
        let path = "\(it.runtime)/\(kept)/a.json"
        #expect(error.message.contains(path))
        #expect(try SystemFile.read(path) == Array("{\n  \"a\": 2\n}\n".utf8))
        #expect(try SystemFile.mode(path) == 0o600)
        // The next edit does not treat it as a leftover.
        try it.editor(":")
        #expect(try it.edit().exitCode == 0)
        #expect(SystemFile.exists(path))
        #expect(try it.sandbox.sealctl(["put", "a", path]).exitCode == 0)
    }

    @Test(.enabled(if: PseudoTerminal.canControl))
    func aMistakeCanBeRepairedOnATerminal() throws {
        let it = try EditSandbox()
        try it.editor("if grep -q oops \"$1\"; then echo '{\"a\":3}' > \"$1\"; else echo oops > \"$1\"; fi")
        let terminal = try PseudoTerminal()
        let child = try it.start(on: terminal)
        #expect(try terminal.read(until: "Edit again").contains("line 1, column 1"))
        terminal.type("y\n")
        let result = try child.finish()
        #expect(result.exitCode == 0 && result.outputText == "a sequence 2\n")
        #expect(try it.value() == #"{"a":3}"#)
        #expect(try it.remains().isEmpty)
    }

    @Test(.enabled(if: PseudoTerminal.canControl), arguments: ["n\n", "\u{3}", "\u{4}"])
    func aMistakeCanBeGivenUp(answer: String) throws {
        let it = try EditSandbox()
        try it.editor("echo oops > \"$1\"")
        let terminal = try PseudoTerminal()
        let child = try it.start(on: terminal)
        _ = try terminal.read(until: "Edit again")
        terminal.type(answer)
        let result = try child.finish()
        #expect(result.exitCode == 65 || result.exitCode == 130 || result.status == .signalled(SIGINT))
        #expect(try it.value() == #"{"a":1}"#)
        #expect(try it.remains().isEmpty)
    }
}
