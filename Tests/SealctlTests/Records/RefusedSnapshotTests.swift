import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests of snapshots with records that are not restored.
@Suite(.timeLimit(.minutes(10))) struct RefusedSnapshotTests {
    @Test func aRefusedRecordIsNamedAndTheRestRestored() throws {
        let sandbox = try Sandbox.withSnapshot()
        let path = "files/d/container/Library/Application Support/Records/a.sealed"
        try sandbox.flip(sandbox.path(path), at: 180)
        try sandbox.loseContainer()
        let done = try RestoreOutcome(sandbox)
        #expect(done.status == 65 && done.code == "tampered" && done.report.code("a") == "tampered")
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
        #expect(try sandbox.value("deep/er") == #"{"n":2}"#)
    }

    /// A blob of another place, a link, and a file that the manifest alone has.
    @Test func hostileFilesInPlacesOfRecordsAreRefused() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("c", "{}")
        try sandbox.succeed(["snapshot", "-o", "e"])
        try sandbox.shell(
            """
            cd 'e/container/Library/Application Support/Records'
            cp a.sealed c.sealed; rm a.sealed; ln -s ../../../../../d/container/x a.sealed; rm -r deep
            """)
        try sandbox.loseContainer()
        let done = try RestoreOutcome(sandbox, of: "e")
        #expect(done.status != 0)
        #expect(done.report.code("c") == "wrongName" && done.report.code("deep/er") == "absent")
        #expect(done.report.effect("a") == "refused" && done.report.effect("_sealed/files/lists/f") == "restored")
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
    }

    @Test(arguments: [100, 90_000, nil]) func contentsThatWereChangedAreNotRestored(_ offset: Int?) throws {
        let sandbox = try Sandbox.withSnapshot()
        let contents = try sandbox.contents(of: sandbox.path("files/d/container"))
        if let offset { try sandbox.flip(contents, at: offset) } else { unlink(contents) }
        try sandbox.loseContainer()
        let done = try RestoreOutcome(sandbox)
        #expect(done.status != 0 && done.report.effect("_sealed/files/lists/f") == "refused")
        #expect(done.report.effect("a") == "restored")
        #expect(!SystemFile.exists(sandbox.container + "/Files"))
    }

    @Test func aRetiredKeyIsRefused() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("a", #"{"n":9}"#)
        try sandbox.succeed(["vault", "rotate"])
        let done = try RestoreOutcome(sandbox, ["--replace", "--yes"])
        #expect(done.status == 65 && done.code == "retiredEpoch")
        #expect(done.report.records.allSatisfy { $0.code == "retiredEpoch" })
        #expect(try sandbox.value("a") == #"{"n":9}"#)
    }

    @Test func aNewerSchemaIsNotReplaced() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.put("a", #"{"n":9}"#, ["--schema-version", "3"])
        #expect(try RestoreOutcome(sandbox, ["--replace", "--yes"]).report.code("a") == "tooNew")
        #expect(try sandbox.value("a") == #"{"n":9}"#)
    }

    @Test func aRecordAboveTheLimitIsNotReadWhole() throws {
        let sandbox = try Sandbox.withSnapshot()
        let path = sandbox.path("files/d/container/Library/Application Support/Records/a.sealed")
        try #require(truncate(path, 1 << 40) == 0)
        try sandbox.loseContainer()
        #expect(try RestoreOutcome(sandbox).report.code("a") == "tooLarge")
    }

    @Test func snapshotsThatCannotBeUsedChangeNothing() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.succeed(["snapshot", "-o", "x.tar"])
        let head = #"{"format":1,"group":"group.com.example.app","takenAt":"x","files":["#
        let file = #"{"path":"Library/Application Support/Records/a.sealed","size":1}"#
        let segment = #"{"path":"Mailboxes/inbox/sealctl.1.sealed","size":1}"#
        let many = (0..<250_001).map { #"{"path":"Library/Application Support/Records/p\#($0).sealed","size":1}"# }
            .joined(separator: ",")
        let manifests = [
            "": "snapshotMalformed", "{": "snapshotMalformed", #"{"format":2}"#: "snapshotFormat",
            "\(head)\(file),\(file)]}": "snapshotMalformed", "\(head)\(many)]}": "snapshotMalformed",
            "\(head)\(segment),\(segment)]}": "snapshotMalformed",
            "\(head)]}": "notInSnapshot",
        ]
        try sandbox.loseContainer()
        for (manifest, code) in manifests {
            try sandbox.file("d/manifest.json", Array(manifest.utf8))
            let result = try sandbox.sealctl(["snapshot", "restore", "d", "--json"])
            #expect(try decode(MachineError.self, result.errors).code == code, "\(manifest.prefix(99))")
        }
        unlink(sandbox.path("files/d/manifest.json"))
        for path in ["d", "x.tar"] {
            let result = try sandbox.sealctl(["snapshot", "restore", path, "--json"])
            #expect(result.exitCode == 65)
            #expect(try decode(MachineError.self, result.errors).code == "snapshotMalformed")
        }
        #expect(try sandbox.succeed(["list", "--json"]).outputText == "[]\n")
    }

    @Test func aManifestNamesNothingOutsideTheSnapshot() throws {
        let sandbox = try Sandbox.withSnapshot()
        let paths = [
            "../a", "/etc/passwd", "Library/Application Support/Records/../../../../../a.sealed",
            "Mailboxes/../x", ".sealedstate.lock", "Quarantine/x",
        ]
        let files = paths.map { #"{"path":"\#($0)","size":1}"# }.joined(separator: ",")
        try sandbox.file(
            "d/manifest.json",
            Array(#"{"format":1,"group":"group.com.example.app","takenAt":"x","files":[\#(files)]}"#.utf8))
        let before = try sandbox.shell("find .. -not -name .readers | sort").outputText
        #expect(try sandbox.sealctl(["snapshot", "restore", "d", "--replace", "--yes"]).exitCode == 44)
        #expect(try sandbox.shell("find .. -not -name .readers | sort").outputText == before)
    }

    @Test func anotherGroupsSnapshotIsRefused() throws {
        let sandbox = try Sandbox.withSnapshot()
        try sandbox.succeed(["init", "--group", "group.other"])
        let result = try sandbox.sealctl(["snapshot", "restore", "d", "--group", "group.other", "--json"])
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "wrongGroup")
    }

    /// A governed record is signed by the restoring writer; the roster of the snapshot is never put in place.
    @Test func aRosterGovernsTheRestoration() throws {
        let sandbox = try Sandbox.initialised()
        let prepared = try sandbox.shell(
            """
            set -e; exec > log; echo secret > pass
            $S vault slot add --new-passphrase-file pass --unlock-time 1ms
            $S roster init --team-key t --unprotected
            $S vault certify --team-key t --passphrase-file pass --yes
            $S roster sign --team-key t --allow a=app --add-writer app=$($S writer new w 2> log)
            echo '{"n":1}' | $S put a - --writer-key w; echo '{"n":2}' | $S put b -
            $S snapshot -o d
            echo '{"n":9}' | $S put a - --writer-key w
            """)
        #expect(prepared.exitCode == 0, "\(prepared.errorText)")
        let refused = try RestoreOutcome(sandbox, ["--replace", "--yes"])
        #expect(refused.report.code("a") == "notAuthorized" && refused.report.effect("b") == "unchanged")
        #expect(try RestoreOutcome(sandbox, ["--replace", "--yes", "--writer-key", "w"]).status == 0)
        #expect(try sandbox.value("a") == #"{"n":1}"#)
        // A user who knows the team's key from the vault, and has never seen the roster.
        try sandbox.shell("rm -rf '\(sandbox.container)' ../groups/Rosters; $S init > log")
        for options in [["--dry-run"], []] {
            let result = try sandbox.sealctl(["snapshot", "restore", "d", "--json", "--writer-key", "w"] + options)
            #expect(result.exitCode == 78)
            #expect(try decode(MachineError.self, result.errors).code == "roster")
            #expect(!SystemFile.exists(sandbox.container + "/.sealedstate.roster"))
        }
        try sandbox.shell("cp d/container/.sealedstate.roster '\(sandbox.container)/'")
        #expect(try RestoreOutcome(sandbox, ["--writer-key", "w"]).status == 0)
        #expect(try sandbox.value("a") == #"{"n":1}"#)
    }
}
