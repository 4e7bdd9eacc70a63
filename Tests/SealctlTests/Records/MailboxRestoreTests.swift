import TestSupport
import Testing

/// Tests of `snapshot restore` after a restoration of a mailbox that was killed: a kill leaves named segments without the
/// mailbox's record.
@Suite(.timeLimit(.minutes(10))) struct MailboxRestoreTests {
    /// Prints what a script prints in a new container, with the segments of a restored mailbox in the directory `$left`,
    /// and its own mailboxes in the directory `$boxes`.
    ///
    /// - Parameter more: A command that sends further messages before the snapshot.
    private func afterKill(_ script: String, sending more: String = ":") throws -> String {
        let sandbox = try Sandbox.initialised()
        let beginning = """
            set -e
            for i in 1 2; do echo $i | $S mailbox send inbox - > log; done
            echo 3 | $S mailbox send inbox - --as share > log
            \(more)
            $S snapshot -o d > log
            old=$SEALED_GROUPS_HOME
            begin() {
                export SEALED_GROUPS_HOME=$PWD/$1 HOME=$PWD/$1
                mkdir $1; cp -r "$old/Vaults" "$old/Keys" $1/; $S init > log; boxes="$($S container path)/Mailboxes"
            }
            restore() { code=0; $S snapshot restore d --json > log 2> errors || code=$?; echo $code; }
            messages() { $S mailbox take inbox --ack | grep -o '"message":.'; }
            begin one; $S snapshot restore d > log; left="$boxes"
            begin two

            """
        let result = try sandbox.shell(beginning + script)
        guard result.exitCode == 0 else { throw Unexpected(result) }
        return result.outputText
    }

    @Test func aKilledRestorationOfAMailboxIsCompleted() throws {
        let script = """
            cp -r "$left" "$boxes"; rm "$boxes"/inbox/share.*; : > "$boxes/inbox/x.1.sealed"
            restore; messages
            """
        #expect(
            try afterKill(script) == #"""
                0
                "message":1
                "message":2
                "message":3

                """#)
    }

    @Test func aQuotaForOneCopyIsEnough() throws {
        let script = """
            cp -r "$left" "$boxes"; ls "$boxes/inbox" | wc -l
            used=$($S container usage --json | grep -o '"bytes":[0-9]*' | head -n 1 | cut -d: -f2)
            $S container quota $((used + 20000)) > log
            restore; ls "$boxes/inbox" | wc -l
            """
        let large = #"printf '"%0100000d"' 0 | $S mailbox send inbox - --as large > log"#
        #expect(try afterKill(script, sending: large) == "3\n0\n3\n")
    }

    @Test func aMessageThatWasSentMeanwhileIsKept() throws {
        let script = """
            cp -r "$left" "$boxes"; echo 9 | $S mailbox send inbox - > log
            restore; messages | sort
            """
        #expect(
            try afterKill(script) == #"""
                69
                "message":1
                "message":2
                "message":3
                "message":9

                """#)
    }

    /// Another program may be able to read a message that this one refuses.
    @Test(arguments: [
        #"printf xxxx | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 5)) conv=notrunc 2> log"#,
        #"head -c 100 /dev/urandom >> "$file""#, #"printf x >> "$file""#,
    ])
    func aSegmentWithSomethingElseIsKept(_ change: String) throws {
        let script = """
            cp -r "$left" "$boxes"; file=$(ls "$boxes"/inbox/sealctl.*)
            \(change)
            cp "$file" before; restore; cmp "$file" before && ls "$boxes/inbox" | wc -l
            """
        #expect(try afterKill(script) == "69\n2\n")
    }

    @Test func aFileInThePlaceOfANewSegmentIsKept() throws {
        let script = """
            mkdir -m 700 "$boxes" "$boxes/inbox"
            for file in "$left"/inbox/*; do echo text > "$boxes/inbox/${file##*/}"; done
            restore; cat "$boxes"/inbox/*
            """
        #expect(try afterKill(script) == "69\ntext\ntext\n")
    }
}
