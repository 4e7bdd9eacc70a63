import Glibc
import TestSupport
import Testing

/// Tests of a snapshot's place, of its interruption, and of its reports about files that it could not copy.
@Suite(.timeLimit(.minutes(10))) struct SnapshotPlaceTests {
    private func manifest(_ sandbox: Sandbox, _ directory: String) throws -> MachineManifest {
        try decode(MachineManifest.self, SystemFile.read(sandbox.path("files/\(directory)/manifest.json")))
    }

    /// Opening a pipe would wait for its reader.
    @Test(arguments: ["mkfifo p.tar", "ln -s nowhere p.tar", "mkdir p.tar", "mkfifo q; ln -s q p.tar"])
    func anyFileOfItsNameIsLeftAlone(script: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.shell(script)
        let result = try sandbox.sealctl(["snapshot", "-o", "p.tar", "--json"])
        #expect(result.exitCode == 73)
        #expect(try decode(MachineError.self, result.errors).code == "alreadyExists")
    }

    @Test func aLinkToADirectoryLeadsThere() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.shell("mkdir real; ln -s real link")
        for path in ["link/d", "link/x.tar"] { try sandbox.succeed(["snapshot", "-o", path]) }
        #expect(try SystemFile.names(sandbox.path("files/real")).sorted() == ["d", "x.tar"])
    }

    @Test func onlyItsOwnLeftoversAreRemoved() throws {
        let sandbox = try Sandbox.initialised()
        let names = ["0123456789abcdef", "00000000000000aa"].map { ".sealctl-snapshot." + $0 }
        // The second one has the mark of a killed command.
        try sandbox.shell(
            """
            mkdir -m 777 out; cd out; chmod 777 .
            mkdir -m 700 \(names[0]) \(names[1])
            echo x > \(names[0])/x; echo x > \(names[1])/x; : > \(names[1])/.sealctl-snapshot
            """)
        func left() throws -> [String] { try SystemFile.names(sandbox.path("files/out")).sorted() }
        try sandbox.succeed(["snapshot", "-o", "out/d"])
        #expect(try left() == (names + ["d"]).sorted())
        try sandbox.shell("chmod 755 out")
        try sandbox.succeed(["snapshot", "-o", "out/e"])
        #expect(try left() == [names[0], "d", "e"])
        #expect(try SystemFile.names(sandbox.path("files/out/e")).sorted() == ["container", "manifest.json"])
    }

    // snapshot                      | reader of the pipe
    // writes until the pipe is full | has read one byte, and pauses
    // TERM: ends at once
    @Test(arguments: ["TERM", "INT", "HUP"])
    func aSignalEndsACopyWithoutAReader(signal: String) throws {
        let sandbox = try Sandbox.initialised()
        try SystemFile.write(sandbox.container + "/plain", noise(3_000_000))
        // sh starts background processes with SIGINT ignored, and env undoes that.
        let result = try sandbox.shell(
            """
            mkfifo p; exec 3<>p
            env --default-signal=INT "$S" snapshot -o - > p 2> /dev/null &
            dd bs=1 count=1 <&3 > /dev/null 2>&1
            kill -\(signal) $!; wait $!; echo $?
            """)
        let number = ["TERM": 143, "INT": 130, "HUP": 129][signal] ?? 0
        #expect(result.outputText == "\(number)\n", "\(result.errorText)")
    }

    @Test(arguments: ["d", "x.tar", "Library/d"])
    func aCopyIsNeverInsideItsSource(path: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "1")
        try sandbox.shell("ln -s \"\(sandbox.container)\" link")
        let before = try sandbox.shell("find \"\(sandbox.container)\" | sort").outputText
        for place in [sandbox.container, "link"] {
            let result = try sandbox.sealctl(["snapshot", "-o", "\(place)/\(path)", "--json"])
            #expect(result.exitCode == 73)
            #expect(try decode(MachineError.self, result.errors).code == "insideContainer")
        }
        #expect(try sandbox.shell("find \"\(sandbox.container)\" | sort").outputText == before)
        #expect(try sandbox.shell("$S snapshot -o - > link/x.tar").exitCode == 73)
        #expect(try sandbox.shell("$S snapshot -o - > x.tar && tar tf x.tar | grep -c a.sealed").outputText == "1\n")
    }

    @Test func timesBefore1970AndAfter2242AreKept() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.shell(
            """
            cd "\(sandbox.container)"
            echo x > far; touch -d @13569465600 far
            echo x > old; touch -d @-315619200 old
            echo x > usual; touch -d @1000000000 usual
            """)
        try sandbox.succeed(["snapshot", "-o", "d"])
        try sandbox.succeed(["snapshot", "-o", "x.tar"])
        try sandbox.shell("mkdir t; tar xf x.tar -C t")
        for place in ["d", "t"] {
            let times = try sandbox.shell("cd \(place)/container; stat -c %Y far old usual").outputText
            #expect(times == "13569465600\n-315619200\n1000000000\n", "\(place)")
        }
        #expect(
            try manifest(sandbox, "d").files.map(\.modifiedAt) == [
                "2400-01-01T00:00:00.000Z", "1960-01-01T00:00:00.000Z", "2001-09-09T01:46:40.000Z",
            ])
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged), arguments: ["d", "x.tar"])
    func unreadableFilesAreOmittedAndReported(path: String) throws {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "b", "c"] { try sandbox.put(name, "1") }
        try sandbox.shell("mkdir \"\(sandbox.container)/closed\"; chmod 000 \"\(sandbox.container)/closed\"")
        #expect(chmod(sandbox.record("b"), 0) == 0)
        defer { chmod(sandbox.container + "/closed", 0o700) }
        if geteuid() == 0 { try sandbox.shell("chown -R 65534:65534 \"\(sandbox.directory.path)\"") }
        let result = try ChildProcess.runUnprivileged(
            "/bin/sh",
            [
                "-c", "cd \"$0\" && exec \"$1\" snapshot -o \(path) --json", sandbox.path("files"),
                builtProduct("sealctl"),
            ],
            environment: sandbox.environment)
        #expect(result.exitCode == 77, "\(result.errorText)")
        let answer = try decode(MachineSnapshot.self, result.output)
        #expect(answer.records == 2 && answer.refused == 0)
        #expect(Set(answer.leftOut.map(\.path)) == ["closed", "Library/Application Support/Records/b.sealed"])
        #expect(Set(answer.leftOut.map(\.reason)) == ["permissionDenied"])
        let last = try #require(result.errors.split(separator: UInt8(ascii: "\n")).last)
        #expect(try decode(MachineError.self, Array(last)).code == "permissionDenied")
        if path == "d" {
            #expect(try manifest(sandbox, path).leftOut.count == 2 && manifest(sandbox, path).files.count == 2)
        } else {
            #expect(try sandbox.shell("tar tf x.tar | tail -1").outputText == "manifest.json\n")
        }
    }
}
