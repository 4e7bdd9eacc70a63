import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The output of `snapshot --json`.
struct MachineSnapshot: Decodable {
    struct LeftOut: Decodable {
        let path: String
        let reason: String
    }
    let path: String
    let records: Int
    let files: Int
    let isVerified: Bool
    let refused: Int
    let unsealed: Int
    let leftOut: [LeftOut]
}

/// The parts of `manifest.json` that these tests read.
struct MachineManifest: Decodable {
    struct File: Decodable {
        let path: String
        let size: Int
        let blake2b256: String?
        let isSettled: Bool
        let record: String?
        let sequence: UInt64?
        let seal: String?
        let code: String?
        let modifiedAt: String
    }
    struct LeftOut: Decodable { let path: String }
    let group: String
    let files: [File]
    let leftOut: [LeftOut]
}

@Suite(.timeLimit(.minutes(10))) struct SnapshotTests {
    private func manifest(_ sandbox: Sandbox, _ directory: String) throws -> MachineManifest {
        try decode(MachineManifest.self, SystemFile.read(sandbox.path("files/\(directory)/manifest.json")))
    }

    private func snapshot(_ sandbox: Sandbox, _ path: String, _ options: [String] = []) throws -> MachineSnapshot {
        try decode(MachineSnapshot.self, sandbox.succeed(["snapshot", "-o", path, "--json"] + options).output)
    }

    @Test func aDirectoryAndATarFileHoldTheSame() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.put("deep/er/" + String(repeating: "x", count: 150), "2")
        try SystemFile.write(sandbox.container + "/plain", noise(3000))
        let answer = try snapshot(sandbox, "d")
        #expect(answer.records == 2 && answer.files == 3 && answer.unsealed == 1 && answer.isVerified)
        #expect(try snapshot(sandbox, "x.tar").files == 3)
        try sandbox.shell("mkdir t && tar xf x.tar -C t && diff -r d/container t/container")
        let diff = try sandbox.shell("diff -r d/container t/container && find t -type f | wc -l")
        #expect(diff.exitCode == 0 && diff.outputText.contains("4"))
        for record in try manifest(sandbox, "d").files where record.record != nil { #expect(record.seal == "verified") }
        #expect(try SystemFile.read(sandbox.path("files/d/container/plain")) == noise(3000))
    }

    @Test func onlyItsOwnerMayReadIt() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.shell("umask 000; $S snapshot -o d; $S snapshot -o x.tar")
        let modes = try sandbox.shell(
            "stat -c %a x.tar d d/manifest.json; find d -type f ! -perm 600; find d -type d ! -perm 700")
        #expect(modes.outputText == "600\n700\n600\n")
    }

    @Test func thehashesAreThoseOfB2sum() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        _ = try snapshot(sandbox, "d")
        let file = try #require(try manifest(sandbox, "d").files.first)
        let sum = try sandbox.shell("b2sum -l 256 'd/container/\(file.path)'")
        guard sum.exitCode == 0 else { return }
        #expect(sum.outputText.hasPrefix(try #require(file.blake2b256)))
    }

    @Test func nothingIsOverwritten() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("x.tar", [1])
        try sandbox.shell("mkdir d")
        for path in ["x.tar", "d"] {
            let result = try sandbox.sealctl(["snapshot", "-o", path, "--json"])
            #expect(result.exitCode == 73)
            #expect(try decode(MachineError.self, result.errors).code == "alreadyExists")
        }
        #expect(try SystemFile.read(sandbox.path("files/x.tar")) == [1])
        #expect(try sandbox.files() == ["d", "x.tar"])
        #expect(try sandbox.sealctl(["snapshot", "-o", "none/x.tar"]).exitCode == 73)
        #expect(try sandbox.sealctl(["snapshot", "-o", "none/x"]).exitCode == 73)
    }

    @Test func withoutAPathItIsNamedForTheGroupAndTheTime() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["snapshot"])
        let name = try #require(try sandbox.files().first)
        #expect(name.hasPrefix("\(Sandbox.group)-20") && name.hasSuffix("Z.tar"))
    }

    @Test func standardOutputMayBeTheCopy() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        #expect(try sandbox.shell("$S snapshot -o - | tar tf - | grep -c a.sealed").outputText == "1\n")
    }

    @Test func filesOfRunningProgramsAreOmitted() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.shell(
            """
            cd "\(sandbox.container)"
            ln -s /etc/passwd link; mkfifo pipe; mkdir -p Quarantine Library/Caches .ipc
            echo x > Quarantine/x; echo x > Library/Caches/x; echo x > .ipc/x; echo x > .a.sealed.new
            """)
        let answer = try snapshot(sandbox, "d")
        #expect(Set(answer.leftOut.map(\.path)) == ["link", "pipe", ".a.sealed.new"])
        #expect(try sandbox.shell("cd d/container; find . ! -type d").outputText.split(separator: "\n").count == 1)
        #expect(try snapshot(sandbox, "e", ["--caches"]).files == 2)
    }

    @Test func aRefusedRecordIsCopiedAndReported() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.put("b", "1")
        try sandbox.flip(sandbox.record("a"), at: 180)
        let result = try sandbox.succeed(["snapshot", "-o", "d", "--json"])
        #expect(try decode(MachineSnapshot.self, result.output).refused == 1)
        #expect(try decode(MachineWarning.self, result.errors).warning == "snapshotRefused")
        let file = try #require(try manifest(sandbox, "d").files.first { $0.record == "a" })
        #expect(file.seal == "refused" && file.code == "tampered")
    }

    @Test func withoutTheVaultItIsNotVerified() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        #expect(rename(sandbox.keyFile, sandbox.path("key")) == 0)
        let result = try sandbox.succeed(["snapshot", "-o", "d", "--json"])
        #expect(try !decode(MachineSnapshot.self, result.output).isVerified)
        #expect(try decode(MachineWarning.self, result.errors).warning == "snapshotUnverified")
        #expect(try manifest(sandbox, "d").files.map(\.seal) == ["unverified"])
        // A stated credential must open the vault.
        #expect(try sandbox.sealctl(["snapshot", "-o", "e", "--key-file", "none"]).exitCode != 0)
        #expect(try sandbox.sealctl(["snapshot", "-o", "e", "--key-file", sandbox.path("key")]).exitCode == 0)
    }

    @Test func aLargeFileIsCopiedInParts() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.shell("head -c 20000001 /dev/urandom > \"\(sandbox.container)/large\"")
        #expect(try snapshot(sandbox, "d").files == 1)
        #expect(try sandbox.shell("cmp d/container/large \"\(sandbox.container)/large\"").exitCode == 0)
        _ = try snapshot(sandbox, "x.tar")
        #expect(try sandbox.shell("tar xOf x.tar container/large | cmp - d/container/large").exitCode == 0)
    }

    // Writers            | snapshot
    // put a, put b, ...  | copies
    //                    | verifies: each record is a whole one, old or new
    @Test(arguments: ["d", "x.tar"])
    func underFireEveryRecordIsOldOrNew(path: String) throws {
        let sandbox = try Sandbox.initialised()
        for name in ["w0", "w1"] { try sandbox.put(name, "0") }
        let writers = try ["w0", "w1"].map { name in
            try ChildProcess(
                "/bin/sh",
                [
                    "-c",
                    "i=0; while [ ! -e stop ]; do i=$((i+1)); yes $i | head -c 60000 | tr '\\n' ' ' | sed 's/^/[\"/;s/$/\"]/' | $S put \(name) - > /dev/null || exit 1; done; echo $i",
                ],
                environment: sandbox.environment.merging(["S": builtProduct("sealctl")]) { $1 },
                directory: sandbox.path("files"))
        }
        for round in 0..<8 {
            let answer = try snapshot(sandbox, "\(round)-\(path)")
            #expect(answer.records == 2 && answer.refused == 0 && answer.isVerified)
            if path.hasSuffix(".tar") {
                try sandbox.shell("mkdir t\(round) && tar xf \(round)-\(path) -C t\(round)")
            } else {
                try sandbox.shell("mv \(round)-\(path) t\(round)")
            }
            try restored(sandbox, "t\(round)")
        }
        try sandbox.file("stop", [])
        for writer in writers { #expect(try writer.finish().exitCode == 0) }
    }

    /// Restores a snapshot into a home of its own, with the vault, and reads all of it, as
    /// docs/guides/rotation-and-backup.md describes.
    private func restored(_ sandbox: Sandbox, _ directory: String) throws {
        let result = try sandbox.shell(
            """
            set -e
            old=$SEALED_GROUPS_HOME
            export SEALED_GROUPS_HOME=$PWD/home-\(directory) HOME=$PWD/home-\(directory)
            mkdir -p "$HOME"
            cp -r "$old/Vaults" "$old/Keys" "$HOME/"
            $S init > /dev/null
            cp -r \(directory)/container/. "$HOME/Containers/$SEALCTL_GROUP/"
            for name in w0 w1; do $S get $name > /dev/null; done
            $S list | grep -c current
            """)
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.outputText == "2\n")
    }
}
