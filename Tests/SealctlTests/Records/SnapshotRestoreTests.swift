import FoundationEssentials
import Glibc
import TestSupport
import Testing

private let everything = ["_sealed/defaults/suite", "_sealed/files/lists/f", "a", "deep/er"]

/// Tests of `snapshot restore` with sound snapshots.
@Suite(.timeLimit(.minutes(10))) struct SnapshotRestoreTests {
    @Test func aLostContainerIsRestored() throws {
        let sandbox = try Sandbox.withSnapshot()
        let before = try sandbox.times()
        try sandbox.loseContainer()
        let done = try RestoreOutcome(sandbox)
        #expect(done.status == 0 && done.report.isDone)
        #expect(try sandbox.times() == before)
        #expect(done.report.records.map(\.name) == everything)
        #expect(done.report.records.allSatisfy { $0.effect == "restored" && $0.replaces == nil })
        try sandbox.requireEverything()
        #expect(try sandbox.sealctl(["audit"]).exitCode == 0)
        let modes = try sandbox.shell(
            "find '\(sandbox.container)' -type f ! -perm 600; find '\(sandbox.container)' -type d ! -perm 700")
        #expect(modes.outputText.isEmpty)
    }

    @Test func aFormerContainersRecordsAreRestored() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.succeed(["container", "reset", "--yes"])
        #expect(try RestoreOutcome(sandbox).status == 0)
        try sandbox.requireEverything()
    }

    @Test func aRestorationOfNothingFails() throws {
        let sandbox = try Sandbox.withSnapshot()
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes"])
        #expect(done.status == 45 && done.code == "nothingRestored")
        #expect(done.report.records.map(\.effect) == ["unchanged", "unchanged", "unchanged", "unchanged"])
        #expect(try sandbox.sequence("a") == 1)
    }

    /// Other users who have accepted the blob of the snapshot accept the restored one.
    @Test func theNextSequenceIsAboveThatOfTheSnapshot() throws {
        let sandbox = try Sandbox.initialised()
        for _ in 0..<3 { try sandbox.put("a", #"{"n":1}"#) }
        try sandbox.succeed(["snapshot", "-o", "d"])
        let script = """
            old=$SEALED_GROUPS_HOME
            export SEALED_GROUPS_HOME=$PWD/other HOME=$PWD/other
            mkdir other && cp -r "$old/Vaults" "$old/Keys" other/ && $S init > log
            $S snapshot restore d > log && $S list --json
            """
        let list = try decode([MachineRecord].self, sandbox.shell(script).output)
        #expect(list.map(\.sequence) == [4])
        try sandbox.put("a", #"{"n":9}"#)
        _ = try RestoreOutcome(sandbox, ["--replace", "--yes"])
        #expect(try sandbox.sequence("a") == 5)
    }

    @Test func somethingElseInAPlaceIsReplacedOnRequestOnly() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("a", #"{"n":9}"#)
        try sandbox.succeed(["delete", "deep/er"])
        let kept = try RestoreOutcome(sandbox)
        #expect(kept.status == 45 && kept.code == "restoreConflict")
        #expect(kept.report.code("a") == "restoreConflict" && kept.report.code("deep/er") == "restoreConflict")
        #expect(try sandbox.value("a") == #"{"n":9}"#)
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes", "--record", "a"])
        #expect(done.status == 0 && done.report.records.map(\.name) == ["a"])
        #expect(done.report.replaces("a") == "another value, of sequence 2")
        #expect(try sandbox.sealctl(["get", "deep/er"]).exitCode == 44)
        #expect(try RestoreOutcome(sandbox, ["--replace", "--yes"]).report.replaces("deep/er") == "a deletion")
        try sandbox.requireEverything()
    }

    @Test func aPurgedDeletionCountsAsADeletion() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.succeed(["delete", "a"])
        try sandbox.succeed(["delete", "a", "--purge"])
        #expect(try RestoreOutcome(sandbox).report.code("a") == "restoreConflict")
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
        #expect(try RestoreOutcome(sandbox, ["--replace", "--yes"]).report.replaces("a") == "a deletion")
        try sandbox.requireEverything()
    }

    @Test func aDamagedRecordIsNotTakenForAnEqualOne() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.flip(sandbox.record("a"), at: 180)
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 65)
        #expect(try RestoreOutcome(sandbox).report.code("a") == "restoreConflict")
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes"])
        #expect(done.report.replaces("a") == "a blob that readers refuse (tampered)")
        try sandbox.requireEverything()
    }

    /// A restoration replaces everything that a plain write replaces.
    @Test(arguments: ["ln -s /etc/passwd", "mkfifo", "truncate -s 1T"])
    func somethingThatIsNoRecordIsReplacedOnRequest(_ command: String) throws {
        let sandbox = try Sandbox.withSnapshot()
        let path = sandbox.record("a")
        let isKept = command.hasPrefix("truncate")
        try sandbox.shell("\(isKept ? ":" : "rm '\(path)'"); \(command) '\(path)'")
        #expect(try RestoreOutcome(sandbox).report.code("a") == "restoreConflict")
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes", "--record", "a"])
        #expect(done.status == 0)
        #expect(done.report.replaces("a")?.hasPrefix("a blob that readers refuse") == true)
        try sandbox.requireEverything()
    }

    @Test(arguments: ["missing", "tampered"])
    func aSealedFileWithoutItsContentsIsRestored(_ fault: String) throws {
        let sandbox = try Sandbox.withSnapshot()
        let contents = try sandbox.contents(of: sandbox.container)
        if fault == "missing" { unlink(contents) } else { try sandbox.flip(contents, at: 90_000) }
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes", "--file", "lists/f"])
        #expect(done.status == 0)
        #expect(
            done.report.replaces("_sealed/files/lists/f") == "a file whose contents readers refuse (\(fault))")
        try sandbox.requireEverything()
        let info = try sandbox.succeed(["file", "list", "--json"]).outputText
        #expect(info.contains("text/plain"))
    }

    @Test func aDryRunHasTheResultOfTheRun() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("a", #"{"n":9}"#)
        unlink(sandbox.record("deep/er"))
        try sandbox.flip(sandbox.contents(of: sandbox.path("files/d/container")), at: 90_000)
        for options in [[], ["--replace", "--yes"]] {
            let shown = try RestoreOutcome(sandbox, options + ["--dry-run"])
            let again = try RestoreOutcome(sandbox, options + ["--dry-run"])
            let done = try RestoreOutcome(sandbox, options)
            #expect(!shown.report.isDone && done.report.isDone)
            #expect(shown.report.records == again.report.records && shown.report.records == done.report.records)
            #expect(shown.status == done.status && shown.code == done.code)
            #expect(done.report.code("_sealed/files/lists/f") == "tampered")
        }
    }

    @Test func anExpiredValueStaysExpired() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("short", "{}", ["--expires-in", "1s"])
        try sandbox.succeed(["snapshot", "-o", "d"])
        try sandbox.put("short", #"{"n":2}"#)
        #expect(try RestoreOutcome(sandbox, ["--replace", "--yes"]).status == 0)
        usleep(1_200_000)
        #expect(try sandbox.sealctl(["get", "short"]).exitCode == 69)
        try sandbox.put("short", #"{"n":3}"#)
        let replaced = try RestoreOutcome(sandbox, ["--replace", "--yes", "--dry-run"]).report.replaces("short")
        #expect(replaced == "another value, of sequence 4, by an expired value")
    }

    /// Names of other files are bytes: two that differ by their normal form do not make a snapshot unusable.
    @Test func otherFilesAreLeftOut() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", #"{"n":1}"#)
        for name in ["\u{E9}", "e\u{301}"] { try SystemFile.write(sandbox.container + "/\(name)", [1]) }
        try sandbox.shell("printf x | $S encrypt - -o '\(sandbox.container)/stream'")
        try sandbox.succeed(["snapshot", "-o", "d"])
        try sandbox.loseContainer()
        let done = try RestoreOutcome(sandbox)
        #expect(done.status == 0 && done.report.records.map(\.name) == ["a"])
        #expect(done.report.otherFiles == 3)
        #expect(!SystemFile.exists(sandbox.container + "/\u{E9}"))
    }

    @Test func namesThatTheSnapshotDoesNotHaveAreErrors() throws {
        let sandbox = try Sandbox.withSnapshot()
        for options in [["--record", "none"], ["--file", "none"], ["--record", "a", "--record", "none"]] {
            let result = try sandbox.sealctl(["snapshot", "restore", "d", "--json"] + options)
            #expect(result.exitCode == 44)
            #expect(try decode(MachineError.self, result.errors).code == "notInSnapshot")
        }
    }

    // snapshot restore --replace     | another program
    // examines, asks                 |
    //                                | writes a
    // yes: a is refused              |
    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aValueThatWasWrittenAfterThePlanStays() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("a", #"{"n":8}"#)
        try sandbox.put("deep/er", #"{"n":8}"#)
        try sandbox.succeed(["file", "put", "lists/f", "-"], input: [8])
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["snapshot", "restore", "d", "--replace"])
        _ = try terminal.read(until: "[y/N] ")
        try sandbox.put("a", #"{"n":9}"#)
        try sandbox.succeed(["file", "put", "lists/f", "-"], input: [9])
        terminal.type("yes\n")
        #expect(try child.finish().exitCode == 69)
        #expect(try sandbox.succeed(["file", "cat", "lists/f"]).output == [9])
        #expect(try sandbox.value("a") == #"{"n":9}"#)
        #expect(try sandbox.value("deep/er") == #"{"n":2}"#)
    }

    // snapshot restore --replace     | another program
    // examines, asks                 |
    //                                | rotates: the keys of the snapshot are retired
    // yes: everything is refused     |
    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aKeyThatWasRetiredAfterThePlanCountsNoMore() throws {
        let sandbox = try Sandbox.withSnapshot()
        unlink(sandbox.record("deep/er"))
        try sandbox.put("a", #"{"n":8}"#)
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["snapshot", "restore", "d", "--replace"])
        _ = try terminal.read(until: "[y/N] ")
        try sandbox.succeed(["vault", "rotate"])
        terminal.type("yes\n")
        // The rotation has also written "a" again.
        #expect(try child.finish().exitCode == 69)
        #expect(try sandbox.value("a") == #"{"n":8}"#)
        #expect(try sandbox.sealctl(["get", "deep/er"]).exitCode == 44)
    }
}
