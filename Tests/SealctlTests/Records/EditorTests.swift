import Glibc
import TestSupport
import Testing

/// Tests of the choice of the editor, of its invocation, and of its restrictions.
@Suite(.enabled(if: EditSandbox.hasMemory), .timeLimit(.minutes(10))) struct EditorTests {
    /// True if vi(1) is vim on this machine.
    static let hasVim: Bool = {
        guard let path = realpath("/usr/bin/vi", nil) else { return false }
        defer { free(path) }
        return String(cString: path).contains("/vim")
    }()

    @Test(arguments: ["LANG=C sed -i s/1/2/", "true && sed -i s/1/2/", "A='b c' B=d sed -e s/1/2/ -i"])
    func theShellRunsEveryAcceptedCommand(command: String) throws {
        let it = try EditSandbox()
        let result = try it.edit(["a"], ["EDITOR": command])
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(try it.value() == #"{"a":2}"#)
    }

    @Test func aBlankCommandCountsAsUnset() throws {
        let it = try EditSandbox()
        try it.editor("sed -i s/1/2/ \"$1\"")
        #expect(try it.edit(["a"], ["VISUAL": " \t "]).outputText == "a sequence 2\n")
    }

    /// Under each of its names, vim gets the options that disable its own files.
    @Test(arguments: [
        ("vim", "FILE -u x", "-n -i NONE -u x"), ("nvim", "LANG=C FILE", "-n -i NONE"),
        ("vi", "'FILE'", "-n -i NONE"), ("view", "env A=b FILE", "-n -i NONE"),
        ("vim.tiny", "FILE", "-n -i NONE"), ("editor-of-mine", "FILE -x", "-x"), ("vile", "FILE", ""),
    ])
    func vimIsStartedWithoutHistory(name: String, command: String, options: String) throws {
        let it = try EditSandbox()
        let path = try it.editor("while [ $# -gt 1 ]; do printf '%s ' \"$1\"; shift; done > seen", name)
        let line = command.split(separator: "FILE", omittingEmptySubsequences: false).joined(separator: path)
        #expect(try it.edit(["a"], ["EDITOR": line]).exitCode == 0)
        let seen = String(decoding: try SystemFile.read(it.sandbox.path("files/seen")), as: UTF8.self)
        #expect(seen == (options.isEmpty ? "" : options + " "))
    }

    /// A name that resolves to another program gets no options of vim.
    @Test func theTargetOfALinkDecides() throws {
        let it = try EditSandbox()
        try it.editor("echo $# > seen", "busybox")
        try it.sandbox.shell("ln -s busybox vi")
        #expect(try it.edit(["a"], ["EDITOR": it.sandbox.path("files/vi")]).exitCode == 0)
        #expect(try SystemFile.read(it.sandbox.path("files/seen")) == Array("1\n".utf8))
    }

    /// vi(1) would wait forever, with the plaintext in memory.
    @Test(arguments: ["", " "])
    func withoutATerminalTheUsualEditorIsRefused(editor: String) throws {
        let it = try EditSandbox()
        try it.editor("touch ran", "vi")
        let result = try it.edit(["a", "--json"], ["EDITOR": editor, "PATH": it.sandbox.path("files")])
        #expect(result.exitCode == 69)
        #expect(try decode(MachineError.self, result.errors).code == "noTerminal")
        #expect(!SystemFile.exists(it.sandbox.path("files/ran")))
        #expect(try it.remains().isEmpty)
    }

    @Test(.enabled(if: PseudoTerminal.canControl && access("/bin/bash", X_OK) == 0))
    func onATerminalTheUsualEditorIsStarted() throws {
        let it = try EditSandbox()
        try it.editor("for file; do :; done; sed -i s/1/5/ \"$file\"", "vi")
        let terminal = try PseudoTerminal()
        let child = try it.jobs(#"EDITOR= PATH="$PWD:$PATH" "$S" edit a; echo "status $?""#, on: terminal)
        #expect(try terminal.read(until: "status 0").contains("a sequence 2"))
        _ = try child.finish()
        #expect(try it.value() == #"{"a":5}"#)
    }

    @Test(.enabled(if: hasVim, "vi is not vim here"), arguments: ["vim", "vi"])
    func theUsualEditorLeavesNothingOnTheDisk(editor: String) throws {
        let it = try EditSandbox(#"{"a":1,"canary":"xyzzy"}"#)
        let typed = ":%s/1/2/\r:/xyzzy/y\r:s/xyzzy/xyzzy/\r:wq\r"
        let result = try it.edit(["a"], ["EDITOR": editor], input: Array(typed.utf8))
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(try it.value().contains("2"))
        #expect(try SystemFile.names(it.sandbox.path("home")).filter { $0.contains("vim") }.isEmpty)
        #expect(try it.sandbox.shell("grep -rl xyzzy \"$HOME\" .").outputText.isEmpty)
    }

    /// A limit on file sizes replaces a full file system: both fail in the same write.
    @Test func aFullDiskErrorNamesOnlyExistingOptions() throws {
        let it = try EditSandbox("[\"" + String(repeating: "x", count: 400_000) + "\"]")
        try it.editor("touch ran")
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", "ulimit -f 256; exec \"$S\" edit a --json"], environment: it.variables,
            directory: it.sandbox.path("files"))
        #expect(result.exitCode == 74)
        let hint = try decode(MachineError.self, result.errors).hint
        #expect(!hint.contains("-o") && hint.contains("XDG_RUNTIME_DIR"))
        #expect(!SystemFile.exists(it.sandbox.path("files/ran")))
        #expect(try it.remains().isEmpty)
    }

    // The editor          | another writer
    // opens 1 (version 3, |
    // ends in an hour)    |
    //                     | put: 2
    // saves: kept         |
    // the command of the hint seals it with the same options, and wipes it
    @Test func theCommandThatAKeptEditNamesWorks() throws {
        let it = try EditSandbox()
        try it.sandbox.put("a", #"{"a":1}"#, ["--schema-version", "3", "--expires-in", "1h"])
        try it.editor(
            "printf '{\"a\":7}' | $S put a - --schema-version 3 > /dev/null; sed -i s/1/2/ \"$1\"; cp \"$1\" \"$1~\"")
        let key = it.sandbox.path("key file")
        try it.sandbox.shell("cp \"\(it.sandbox.keyFile)\" \"\(key)\"")
        let result = try it.edit(["a", "--json", "--key-file", key])
        #expect(result.exitCode == 69)
        let hint = try decode(MachineError.self, result.errors).hint
        let command = try #require(hint.split(separator: "run: ").last)
        #expect(hint.contains("run: sealctl put") && !hint.contains("rm -r"))
        #expect(rename(it.sandbox.keyFile, it.sandbox.path("gone")) == 0)
        let again = try it.sandbox.shell("unset SEALCTL_GROUP; PATH=$(dirname \"$S\"):$PATH; \(command)")
        #expect(again.exitCode == 0, "\(again.errorText)")
        #expect(rename(it.sandbox.path("gone"), it.sandbox.keyFile) == 0)
        #expect(try it.value().contains(#""a": 2"#))
        let record = try decode([MachineRecord].self, it.sandbox.succeed(["list", "--json"]).output)[0]
        #expect(record.schemaVersion == 3 && record.notAfter != nil && record.sequence == 4)
        #expect(try it.remains().isEmpty)
    }

    /// The command does not overwrite a later write.
    @Test func aKeptEditGoesOverNoThirdWrite() throws {
        let it = try EditSandbox()
        try it.editor("printf '{\"a\":7}' | $S put a - > /dev/null; sed -i s/1/2/ \"$1\"")
        let hint = try decode(MachineError.self, try it.edit(["a", "--json"]).errors).hint
        let command = try #require(hint.split(separator: "run: ").last)
        try it.sandbox.put("a", "8")
        #expect(try it.sandbox.shell("PATH=$(dirname \"$S\"):$PATH; \(command)").exitCode == 69)
        #expect(try it.value() == "8")
        #expect(try it.remains().count == 1)
    }
}
