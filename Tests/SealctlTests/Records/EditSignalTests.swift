import Glibc
import TestSupport
import Testing

/// Tests that no plaintext is left in memory after any end of an edit.
@Suite(.enabled(if: EditSandbox.hasMemory), .timeLimit(.minutes(10))) struct EditSignalTests {
    /// Starts an edit whose editor reports its start and waits.
    private func waiting(_ it: EditSandbox, _ script: String = "exec sleep 600") throws -> ChildProcess {
        try it.editor("echo editing; \(script)")
        let child = try it.start()
        #expect(try child.readLine() == "editing")
        #expect(try !it.remains().isEmpty)
        return child
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
    func aSignalEndsItAndWipes(number: Int32) throws {
        let it = try EditSandbox()
        let child = try waiting(it)
        child.kill(number)
        #expect(try child.finish().status == .signalled(number))
        #expect(try it.remains().isEmpty)
        #expect(try it.value() == #"{"a":1}"#)
    }

    @Test func anEditorThatDoesNotListenIsKilled() throws {
        let it = try EditSandbox()
        let child = try waiting(it, "trap '' TERM HUP; while :; do sleep 1; done")
        child.kill(SIGTERM)
        #expect(try child.finish().status == .signalled(SIGTERM))
        #expect(try it.remains().isEmpty)
    }

    @Test func anotherEditWipesWhatAKilledOneLeft() throws {
        let it = try EditSandbox()
        let killed = try waiting(it, "exec sleep 5")
        let running = try EditSandbox.Running(it)
        killed.kill(SIGKILL)
        _ = try killed.finish()
        #expect(try it.remains().count == 2)
        try it.editor(":")
        #expect(try it.edit().exitCode == 0)
        // The directory in use remains.
        #expect(try it.remains().count == 1)
        running.child.kill(SIGTERM)
        #expect(try running.child.finish().status == .signalled(SIGTERM))
        #expect(try it.remains().isEmpty)
    }

    /// Ctrl-C reaches both processes, and the editor decides on its own reaction.
    @Test(.enabled(if: PseudoTerminal.canControl), arguments: [true, false])
    func controlCIsTheEditorsOwnAffair(listens: Bool) throws {
        let it = try EditSandbox()
        try it.editor(
            listens
                ? "trap 'sed -i s/1/9/ \"$1\"; exit 0' INT; echo editing > /dev/tty; while :; do sleep 0.1; done"
                : "echo editing > /dev/tty; exec sleep 600")
        let terminal = try PseudoTerminal()
        let child = try it.start(on: terminal)
        _ = try terminal.read(until: "editing")
        terminal.type("\u{3}")
        let result = try child.finish()
        if listens {
            #expect(result.outputText == "a sequence 2\n")
            #expect(try it.value() == #"{"a":9}"#)
        } else {
            #expect(result.exitCode != 0)
            #expect(try it.value() == #"{"a":1}"#)
        }
        #expect(try it.remains().isEmpty)
    }

    /// A shell in between and its child processes end as well.
    @Test func childrenOfTheEditorEndWithIt() throws {
        let it = try EditSandbox()
        try it.editor("sh -c 'trap \"\" TERM; echo $$ > pid; echo editing; while :; do sleep 1; done'; :")
        let child = try it.start()
        #expect(try child.readLine() == "editing")
        child.kill(SIGTERM)
        #expect(try child.finish().status == .signalled(SIGTERM))
        #expect(try it.remains().isEmpty)
        // A process without a parent remains a zombie if no process reaps it.
        let state = try it.sandbox.shell("grep ^State: /proc/$(cat pid)/status").outputText
        #expect(state.isEmpty || state.contains("Z"))
    }

    /// Ctrl-Z stops both processes, and the shell continues or ends both.
    @Test(
        .enabled(if: PseudoTerminal.canControl && access("/bin/bash", X_OK) == 0),
        arguments: [("touch go; fg", "ended 0", #"{"a":2}"#), ("kill %1; fg", "ended 143", #"{"a":1}"#)])
    func controlZStopsItAndLeavesNothing(after: String, ending: String, value: String) throws {
        let it = try EditSandbox()
        try it.editor("echo editing; while [ ! -e go ]; do sleep 0.1; done; sed -i s/1/2/ \"$1\"")
        let terminal = try PseudoTerminal()
        let child = try it.jobs("\"$S\" edit a; echo came back $?; \(after); echo ended $?", on: terminal)
        _ = try terminal.read(until: "editing")
        terminal.type("\u{1A}")
        _ = try terminal.read(until: "came back 148")
        _ = try terminal.read(until: ending)
        _ = try child.finish()
        #expect(try it.value() == value)
        #expect(try it.remains().isEmpty)
    }

    /// If the editor alone is stopped it receives nothing, so Ctrl-C ends the edit.
    @Test(.enabled(if: PseudoTerminal.canControl))
    func controlCEndsAStoppedEditor() throws {
        let it = try EditSandbox()
        try it.editor(
            """
            (until grep -q '^State:.T' /proc/$$/status; do sleep 0.1; done; echo stopped > /dev/tty) &
            kill -STOP $$
            sed -i s/1/2/ "$1"
            """)
        let terminal = try PseudoTerminal()
        let child = try it.start(on: terminal)
        _ = try terminal.read(until: "stopped")
        terminal.type("\u{3}")
        #expect(try child.finish().exitCode != 0)
        #expect(try it.value() == #"{"a":1}"#)
        #expect(try it.remains().isEmpty)
    }
}

extension EditSandbox {
    /// A running edit.
    struct Running {
        let child: ChildProcess

        init(_ it: EditSandbox) throws {
            try it.editor("echo editing; exec sleep 600")
            child = try it.start()
            #expect(try child.readLine() == "editing")
        }
    }
}
