import Glibc
import TestSupport
import Testing

/// Tests of commands that lock others out or empty something, without a terminal to ask on.
@Suite(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
struct ConfirmationTests {
    /// A command, its preconditions, and the state that must not change without a confirmation.
    struct Case: Sendable, CustomTestStringConvertible {
        let words: String
        var preparation = "true"
        /// A shell command whose output must not change.
        let state: String
        var testDescription: String { words }
    }

    private static let roster = "$S roster show"
    /// A governed group: the writer `app` has signed the record `a`, and the record `b` is unsigned.
    private static let governed =
        "$S roster init --team-key t --unprotected > pub; $S roster sign --team-key t --allow a=app "
        + "--add-writer app=$($S writer new w); echo '{}' | $S put a - --writer-key w; echo '{}' | $S put b -"
    private static let trash = "$S container trash list --json"
    private static let slots = "$S vault slot list --json --passphrase-file pass"
    private static let addPassphrase =
        "echo secret > pass; $S vault slot add --new-passphrase-file pass --unlock-time 1ms"
    static let cases = [
        Case(words: "vault slot remove 1 --passphrase-file pass", preparation: addPassphrase, state: slots),
        Case(words: "vault rekey --keep 1 --passphrase-file pass", preparation: addPassphrase, state: slots),
        Case(words: "vault accept --passphrase-file pass", preparation: addPassphrase, state: "$S vault status --json"),
        Case(
            words: "vault slot change 1 --new-passphrase-file pass --passphrase-file pass", preparation: addPassphrase,
            state: slots),
        // One's own passphrase, and another person stays.
        Case(
            words: "vault slot change 2 --new-default-key-file --passphrase-file pass",
            preparation: "\(addPassphrase); echo other > other; "
                + "$S vault slot add --new-passphrase-file other --passphrase-file pass",
            state: "$S vault slot list --json --passphrase-file other"),
        // The second passphrase is another person's.
        Case(
            words: "vault slot change 3 --new-passphrase-file new --passphrase-file pass",
            preparation: "\(addPassphrase); echo other > other; echo new > new; "
                + "$S vault slot add --new-passphrase-file other --passphrase-file pass", state: slots),
        Case(
            words: "vault destroy-key --force-key $K $K",
            preparation: "K=$($S vault keys --json | grep -o '[0-9a-f]\\{32\\}' | head -n 1); $S vault rotate",
            state: "$S vault keys --json"),
        Case(
            words: "mailbox reset m", preparation: "echo '{}' | $S mailbox send m -", state: "$S mailbox list --json"),
        Case(words: "container reset", preparation: "echo '{}' | $S put a -", state: "$S list --json; \(trash)"),
        Case(
            words: "container accept --former",
            preparation: "echo '{}' | $S put a -; P=$($S container path); cp -a $P former; $S container reset --yes; "
                + "rm -r $P/*; cp -a former/* $P/", state: "$S get a || true"),
        Case(
            words: "snapshot restore s --replace",
            preparation: "echo '{}' | $S put a -; $S snapshot -o s; echo '{\"n\":1}' | $S put a -", state: "$S get a"),
        Case(
            words: "snapshot restore s --record a --replace",
            preparation: "echo '{}' | $S put a -; $S snapshot -o s; $S delete a", state: "$S list"),
        Case(words: "container trash empty", preparation: "$S container reset --yes", state: trash),
        Case(
            words: "container trash restore --replace $N",
            preparation:
                "$S container reset --yes; N=$($S container trash list --json | sed 's/.*\"name\":\"//; s/\".*//')",
            state: trash),
        Case(
            words: "container unregister app",
            preparation: "export SEALCTL_GROUP=group.x; $S container register app /bin/sh --behavior ios",
            state: "$S container members --json; \(trash)"),
        Case(
            words: "init --abandon", preparation: "echo '{}' | $S put a -; rm -r ../groups/Vaults",
            state: "find ../groups/Vaults ../groups/Containers | sort"),
        Case(
            words: "vault import b --set-vault-aside --backup-passphrase-file pass",
            preparation: "echo secret > pass; $S vault export b --backup-passphrase-file pass --unlock-time 1ms",
            state: "find ../groups/Vaults | sort"),
        Case(
            words: "vault import b --set-vault-aside --backup-passphrase-file pass --passphrase-file pass",
            preparation: "echo secret > pass; $S vault slot add --new-passphrase-file pass; $S vault export b "
                + "--backup-passphrase-file pass --passphrase-file pass; rm ../groups/Vaults/*/vault",
            state: "find ../groups/Vaults | sort"),
        Case(
            words: "vault import b --replace-items --backup-passphrase-file pass",
            preparation: "echo secret > pass; echo 1 | $S vault add -s s -a a; $S vault export b "
                + "--backup-passphrase-file pass; echo 2 | $S vault update -s s -a a",
            state: "$S vault find -s s -a a -w"),
        Case(words: "roster sign --team-key t --deny a=app", preparation: governed, state: roster),
        Case(words: "roster sign --team-key t --allow b=app", preparation: governed, state: roster),
        Case(words: "roster sign --team-key t --ungovern a", preparation: governed, state: roster),
        Case(words: "writer retire app --team-key t", preparation: governed, state: roster),
        Case(words: "writer revoke app --team-key t", preparation: governed, state: roster),
        Case(
            words: "roster init --team-key n --unprotected --replaces $K", preparation: "\(governed); K=$(cat pub)",
            state: "\(roster); ls n"),
        Case(
            words: "roster sign --team-key t --succeeded-by n",
            preparation: "\(governed); $S init --group group.next; "
                + "$S roster init --group group.next --team-key n --unprotected", state: roster),
        Case(
            words: "roster sign --team-key t --lowest-period 0 --passphrase-file pass",
            preparation: "\(addPassphrase); \(governed); "
                + "$S vault certify --team-key t --passphrase-file pass --yes; $S roster sign --team-key t",
            state: roster),
        Case(
            words: "defaults import s f",
            preparation: "$S defaults write s a 1; $S defaults export s f; "
                + "$S defaults write s b 2", state: "$S defaults read s"),
        Case(
            words: "defaults delete s", preparation: "$S defaults write s a 1", state: "$S defaults read s"),
    ]

    private func run(_ it: Case, _ options: String) throws -> (result: ChildResult, hasChanged: Bool) {
        let sandbox = try Sandbox.initialised()
        let script = """
            { \(it.preparation); } > prepared 2>&1
            { \(it.state); } > before 2>&1
            setsid -w $S \(it.words) \(options)
            status=$?
            { \(it.state); } > after 2>&1
            exit $status
            """
        let result = try sandbox.shell(script)
        let files = try ["before", "after"].map { try SystemFile.read(sandbox.path("files/\($0)")) }
        return (result, files[0] != files[1])
    }

    @Test(arguments: cases)
    func withoutAnyoneToAskNothingIsDone(it: Case) throws {
        for options in ["--json", "--no-input --json"] {
            let (result, hasChanged) = try run(it, options)
            #expect(result.exitCode == 64, "\(result.errorText)")
            #expect(try decode(MachineError.self, result.errors).code == "confirmationNeeded")
            #expect(!hasChanged)
        }
    }

    @Test(arguments: cases)
    func aStatedYesDoesIt(it: Case) throws {
        let (result, hasChanged) = try run(it, "--yes")
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(hasChanged)
    }

    @Test(arguments: [("yes", Int32(0)), ("no", 69)])
    func aPersonIsAsked(answer: String, status: Int32) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["container", "reset"])
        _ = try terminal.read(until: "[y/N] ")
        terminal.type("\(answer)\n")
        #expect(try child.finish().exitCode == status)
        #expect(SystemFile.exists(sandbox.record("a")) == (status != 0))
    }

    /// A change of the given passphrase affects no other user, and neither does an import that drops no key.
    @Test(arguments: [
        "echo new > new; $S vault slot change --new-passphrase-file new --passphrase-file pass",
        "$S defaults write s a 1; $S defaults export s f; $S defaults write s a 2; $S defaults import s f",
        "$S vault export b --backup-passphrase-file pass --passphrase-file pass; "
            + "$S vault import b --replace-items --keys-only --backup-passphrase-file pass --passphrase-file pass",
    ])
    func aHarmlessChangeAsksNothing(words: String) throws {
        let result = try Sandbox.initialised().shell("\(Self.addPassphrase) > log; \(words)")
        #expect(result.exitCode == 0, "\(result.errorText)")
    }

    @Test func aReplacedPassphraseNamesItsHolders() throws {
        let script =
            "\(Self.addPassphrase) > log; echo o > o; "
            + "$S vault slot add --new-passphrase-file o --passphrase-file pass > log; "
            + "setsid -w $S vault slot change 3 --new-passphrase-file o --passphrase-file pass"
        let error = try Sandbox.initialised().shell(script).errorText
        #expect(error.contains("slot 3") && error.contains("Every person who opens the vault with this passphrase"))
    }

    /// The slot's number is meaningless to the user, so the error names the users who are locked out.
    @Test func theOnlySlotOfUnattendedProgramsIsNamedAsSuch() throws {
        let sandbox = try Sandbox.initialised()
        let script = "\(Self.addPassphrase) > log; setsid -w $S vault slot remove 1"
        let first = try sandbox.shell(script).errorText
        #expect(first.contains("key file") && first.contains("unattended"))
    }
}
