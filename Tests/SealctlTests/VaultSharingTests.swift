import Glibc
import TestSupport
import Testing

/// Tests with two users of one unix group, each with a separate key, and a third user.
@Suite(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs several users"))
struct VaultSharingTests {
    /// Runs a user's shell script, in which `$S` is sealctl and the identity is `$HOME/key`.
    private func shell(_ sandbox: Sandbox, as user: Int, inGroup: Bool = true, _ script: String) throws -> ChildResult {
        let home = sandbox.path("home\(user)")
        if !SystemFile.exists(home) {
            #expect(mkdir(home, 0o700) == 0 && chown(home, uid_t(user), gid_t(user)) == 0)
        }
        let groups = inGroup ? "--groups=1" : "--clear-groups"
        let variables = sandbox.environment.merging([
            "HOME": home, "SEALED_USER_HOME": "", "XDG_STATE_HOME": "", "S": builtProduct("sealctl"),
        ]) { $1 }
        return try ChildProcess.run(
            "/usr/bin/setpriv",
            ["--reuid=\(user)", "--regid=\(user)", groups, "/bin/sh", "-c", "cd / && \(script)"], environment: variables
        )
    }

    private func shared() throws -> Sandbox {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let groups = sandbox.path("groups")
        #expect(mkdir(groups, 0o700) == 0 && chown(groups, 0, 1) == 0 && chmod(groups, 0o3770) == 0)
        let recipient = try shell(sandbox, as: 60_002, "$S vault identity $HOME/key").outputText.dropLast()
        let made = try shell(
            sandbox, as: 60_001,
            "umask 077; $S vault identity $HOME/key && $S init --share-with daemon --identity $HOME/key"
                + " && $S vault slot add --identity $HOME/key --recipient \(recipient)")
        #expect(made.exitCode == 0, "\(made.errorText)")
        let fingerprint =
            "$($S vault status --json | grep -o '\"fingerprint\":\"[0-9a-f]*' | head -n 1 | cut -d '\"' -f 4)"
        let accepted = try shell(
            sandbox, as: 60_002, "$S vault accept --identity $HOME/key --fingerprint \(fingerprint)")
        #expect(accepted.exitCode == 0, "\(accepted.errorText)")
        return sandbox
    }

    @Test(arguments: ["077", "0"])
    func eachReadsWhatTheOtherWroteWithAKeyOfTheirOwn(umask: String) throws {
        let sandbox = try shared()
        for (writer, reader) in [(60_001, 60_002), (60_002, 60_001)] {
            let put = "umask \(umask); echo '{\"from\":\(writer)}' | $S put a - --identity $HOME/key"
            #expect(try shell(sandbox, as: writer, put).exitCode == 0)
            let read = try shell(sandbox, as: reader, "$S get a --identity $HOME/key")
            #expect(read.exitCode == 0 && read.outputText == "{\"from\":\(writer)}\n", "\(read.errorText)")
        }
    }

    /// Root listens, as systemd does; a member serves, and another one asks. Each learns of the other, not of root.
    @Test func aMemberServesAtTheSocketThatAnotherProcessOpened() throws {
        let sandbox = try shared()
        let runtime = sandbox.path("run")
        let place = "\(runtime)/sealedstate/\(Sandbox.group)"
        let listen = """
            import os, socket, sys
            place, user = sys.argv[1], int(sys.argv[2])
            os.makedirs(place)
            door = socket.socket(socket.AF_UNIX)
            door.bind(place + "/c")
            os.chmod(place + "/c", 0o666)
            door.listen()
            if child := os.fork():
                print(child, flush=True)
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os.dup2(door.fileno(), 3)
            os.set_inheritable(3, True)
            os.setgroups([1]); os.setgid(user); os.setuid(user)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", HOME=sys.argv[3])
            os.chdir("/")
            os.execv(sys.argv[4], sys.argv[4:])
            """
        let variables = sandbox.environment.merging(["SEALED_USER_HOME": "", "XDG_STATE_HOME": ""]) { $1 }
        let home = sandbox.path("home60001")
        let answer = #"printf '{"asked":%s,"by":%s}' "$(cat)" "$SEALED_PEER_UID""#
        let server = try ChildProcess(
            "/usr/bin/env",
            [
                "python3", "-c", listen, place, "60001", home, builtProduct("sealctl"), "channel", "serve", "c",
                "--identity", "\(home)/key", "--", "sh", "-c", answer,
            ], environment: variables)
        let served = try #require(try server.readLine())
        let ask = """
            for i in $(seq 300); do [ -S \(place)/c ] && break; sleep 0.1; done
            echo '{"n":1}' | XDG_RUNTIME_DIR=\(runtime) $S channel call c - --identity $HOME/key --verbose
            """
        for _ in 0..<2 {
            let reply = try shell(sandbox, as: 60_002, ask)
            #expect(reply.outputText == "{\"asked\":{\"n\":1},\"by\":60002}\n", "\(reply.errorText)")
            #expect(reply.errorText.contains("process \(served) of user 60001 answered"), "\(reply.errorText)")
        }
        #expect(kill(try #require(pid_t(served)), SIGTERM) == 0)
        #expect(try server.finish().exitCode == 0)
        #expect(SystemFile.exists("\(place)/c"))
        let alone = try shell(
            sandbox, as: 60_002, "echo '{}' | XDG_RUNTIME_DIR=\(runtime) $S channel call c - --identity $HOME/key")
        #expect(alone.exitCode == 44, "\(alone.errorText)")
    }

    /// The shared home contains no private file of one user, which the other user could not use.
    @Test func eachUserKeepsTheirOwnStateWithoutAVariable() throws {
        let sandbox = try shared()
        let put = try shell(sandbox, as: 60_001, "echo '{}' | $S put a - --identity $HOME/key")
        #expect(put.exitCode == 0, "\(put.errorText)")
        #expect(try shell(sandbox, as: 60_002, "$S get a --identity $HOME/key").exitCode == 0)
        let made = try shell(
            sandbox, as: 60_002,
            "umask 077; $S vault slot add --new-default-key-file --identity $HOME/key && $S vault keys")
        #expect(made.exitCode == 0, "\(made.errorText)")
        for (user, place) in [
            (60_001, ".local/state/sealed-groups/Watermarks"), (60_002, ".local/state/sealed-groups/Watermarks"),
            (60_001, ".local/state/sealed-groups/Places"), (60_002, ".local/state/sealed-groups/Places"),
            (60_002, ".config/sealed-groups/Keys"),
        ] {
            var status = stat()
            #expect(stat(sandbox.path("home\(user)/\(place)"), &status) == 0, "\(user): \(place)")
            #expect(status.st_uid == uid_t(user) && status.st_mode & 0o777 == 0o700)
        }
        #expect(!SystemFile.exists(sandbox.path("groups/Keys")) && !SystemFile.exists(sandbox.path("groups/Places")))
        #expect(!SystemFile.exists(sandbox.path("groups/Watermarks")))
    }

    // member:  ............ renames the home ........... creates a new one ...
    // user:    init, put .................... missing ................. missing
    @Test func aMemberWhoCanRenameTheHomeTakesNoMemoryAway() throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let team = sandbox.path("team")
        #expect(mkdir(team, 0o700) == 0 && chown(team, 0, 1) == 0 && chmod(team, 0o2770) == 0)
        let home = "export SEALED_GROUPS_HOME=\(team)/groups; "
        let made = try shell(
            sandbox, as: 60_001, home + "mkdir -m 755 \(team)/groups && $S init && echo '{}' | $S put a -")
        #expect(made.exitCode == 0, "\(made.errorText)")
        let places = "home60001/.local/state/sealed-groups/Places"
        #expect(try SystemFile.names(sandbox.path(places)).count == 1)
        let steps = ["mv \(team)/groups \(team)/gone", "mkdir -m 2777 \(team)/groups"]
        for step in steps {
            #expect(try shell(sandbox, as: 60_002, step).exitCode == 0)
            let status = try shell(sandbox, as: 60_001, home + "$S vault status --json")
            #expect(status.exitCode == 44 && status.outputText.contains(#""availability":"missing""#), "\(step)")
        }
        #expect(try shell(sandbox, as: 60_001, home + "$S init").exitCode != 0)
        #expect(!SystemFile.exists("\(team)/groups/Vaults/group.com.example.app/vault"))
    }

    @Test func aHomeThatIsMadePrivateTakesNoMemoryAway() throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let made = try shell(
            sandbox, as: 60_001,
            "mkdir -p $HOME/own/groups && chmod 775 $HOME/own/groups && export SEALED_GROUPS_HOME=$HOME/own/groups"
                + " && $S init && chmod 755 $HOME/own/groups && $S vault status && rm -r $HOME/own/groups/Vaults"
                + " && ! $S init && test ! -e $HOME/own/groups/Places && $S vault status --json")
        #expect(made.exitCode == 44 && made.outputText.contains(#""availability":"missing""#), "\(made.errorText)")
    }

    // After the vault was created, a directory above the home becomes writable for others, and then private again.
    @Test func aMemoryInTheHomeCountsRegardlessOfTheModesAboveIt() throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let made = try shell(
            sandbox, as: 60_001,
            "mkdir -p $HOME/own/groups && export SEALED_GROUPS_HOME=$HOME/own/groups && $S init"
                + " && chmod 775 $HOME/own && $S vault status && test ! -e $HOME/.local/state/sealed-groups"
                + " && rm -r $HOME/own/groups/Vaults && ! $S init --no-input"
                + " && $S init --abandon --yes && chmod 755 $HOME/own && $S list && rm -r $HOME/own/groups/Vaults"
                + " && $S vault status --json")
        #expect(made.exitCode == 44 && made.outputText.contains(#""availability":"missing""#), "\(made.errorText)")
    }

    // As in a volume that belongs to a unix group, for a user whose home directory is not writable.
    @Test func aHomeThatOthersCanRenameIsBetterThanNoMemory() throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let made = try shell(
            sandbox, as: 60_001,
            "mkdir -p $HOME/own/groups && chmod 2775 $HOME/own && export SEALED_GROUPS_HOME=$HOME/own/groups"
                + " XDG_STATE_HOME=/proc/none && $S init && rm -r $HOME/own/groups/Vaults && $S vault status --json")
        #expect(made.exitCode == 44 && made.outputText.contains(#""availability":"missing""#), "\(made.errorText)")
    }

    /// `sudo` and `setpriv` may leave another user's variables in the environment.
    @Test func anotherUsersHomeIsNotUsed() throws {
        let sandbox = try shared()
        let home = sandbox.path("home60001")
        let state = sandbox.path("state60002")
        #expect(mkdir(state, 0o700) == 0 && chown(state, 60_002, 60_002) == 0)
        let result = try shell(
            sandbox, as: 60_002,
            "echo '{}' | HOME=\(home) XDG_STATE_HOME=\(state) XDG_CONFIG_HOME=\(state) $S put a - --identity $HOME/key")
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(SystemFile.exists("\(state)/sealed-groups/Watermarks"))
    }

    /// The override remains in force.
    @Test func aStatedHomeOfTheUserIsUsed() throws {
        let sandbox = try shared()
        let result = try shell(
            sandbox, as: 60_002, "echo '{}' | SEALED_USER_HOME=$HOME/own $S put a - --identity $HOME/key")
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(SystemFile.exists(sandbox.path("home60002/own/Watermarks")))
    }

    @Test func aThirdUserGetsNothing() throws {
        let sandbox = try shared()
        for command in ["get a", "list", "vault keys", "vault status", "vault lock", "vault log", "init"] {
            let result = try shell(sandbox, as: 60_003, inGroup: false, "$S \(command)")
            #expect(result.exitCode == 77, "\(command): \(result.errorText)")
        }
    }

    @Test(.enabled(if: Sandbox.canUnlock, "a kernel keyring or a runtime directory in memory"))
    func oneUsersUnlockingIsNotTheOthers() throws {
        let sandbox = try shared()
        defer { _ = try? shell(sandbox, as: 60_002, "$S vault lock --everything") }
        #expect(try shell(sandbox, as: 60_002, "$S vault unlock --identity $HOME/key && $S vault keys").exitCode == 0)
        #expect(try shell(sandbox, as: 60_001, "$S vault keys").exitCode == 36)
    }

    @Test func aLeavingPersonLosesTheirSlot() throws {
        let sandbox = try shared()
        let removed = try shell(sandbox, as: 60_001, "$S vault slot remove 2 --yes --identity $HOME/key")
        #expect(removed.exitCode == 0, "\(removed.errorText)")
        #expect(try shell(sandbox, as: 60_002, "$S vault keys --identity $HOME/key").exitCode == 51)
    }

    // 60001 ada: creates the vault, rekeys.  60002 bob: accepts, adds a key file, is removed.
    // 60004 eve: accepts, remains.           Each has a separate home, identity, watermarks and places.
    @Test func aSharedVaultThroughAWholeMembership() throws {
        let sandbox = try shared()
        let recipient = try shell(sandbox, as: 60_004, "$S vault identity $HOME/key").outputText.dropLast()
        try succeed(sandbox, 60_001, "$S vault slot add --identity $HOME/key --recipient \(recipient)")
        try succeed(sandbox, 60_004, "$S vault accept --identity $HOME/key --fingerprint \(Self.fingerprint)")
        // Bob adds a slot for an unattended program of his.
        try succeed(sandbox, 60_002, "umask 077; $S vault slot add --new-default-key-file --identity $HOME/key")

        // Each user has items of both classes, including values in separate files.
        let large = String(repeating: "x", count: 1000)
        for user in [60_001, 60_002, 60_004] {
            try succeed(sandbox, user, "echo -n low\(user) | $S vault add -s s -a low\(user) --identity $HOME/key")
            try succeed(
                sandbox, user,
                "echo -n \(large)\(user) | $S vault add -s s -a high\(user) --accessible when-unlocked"
                    + " --identity $HOME/key")
        }
        for reader in [60_001, 60_002, 60_004] {
            for writer in [60_001, 60_002, 60_004] {
                #expect(try find(sandbox, reader, "low\(writer)") == "low\(writer)", "\(reader)")
                #expect(try find(sandbox, reader, "high\(writer)") == large + "\(writer)", "\(reader)")
            }
        }
        try succeed(sandbox, 60_001, "echo 1 | $S put r - --identity $HOME/key")
        let oldRecord = try SystemFile.read(sandbox.record("r"))
        try succeed(sandbox, 60_001, "echo 2 | $S put r - --identity $HOME/key")
        #expect(try shell(sandbox, as: 60_004, "$S get r --identity $HOME/key").outputText == "2\n")

        // The running programs are bob's, with his key file.
        let bob = try probe(sandbox, 60_002, "low60001")
        let again = try probe(sandbox, 60_002, "low60001")
        #expect(try answer(of: again) == "\("low60001".utf8.count)")
        let old = try Self.leaves.map { try SystemFile.read(sandbox.path("groups/Vaults/\(Sandbox.group)/\($0)")) }
        let slots = try succeed(sandbox, 60_001, "$S vault slot list --json --identity $HOME/key").output
        let keyFile = try #require(
            try decode([MachineSlot].self, slots).first { $0.kind == "keyFile" || $0.kind == "key file" })
        try succeed(
            sandbox, 60_001,
            "$S vault rekey --yes --remove-slot 2 --remove-slot \(keyFile.id) --identity $HOME/key")
        #expect(try answer(of: bob) == "locked")
        #expect(try shell(sandbox, as: 60_002, "$S vault list --identity $HOME/key").exitCode == 51)
        #expect(try shell(sandbox, as: 60_002, "$S vault list").exitCode != 0)

        // The other users continue, and their accepted states remain.
        for user in [60_004, 60_001] {
            for account in ["high60002", "high60004"] {
                #expect(try find(sandbox, user, account) == large + account.dropFirst(4))
            }
            try succeed(sandbox, user, "echo -n new | $S vault update -s s -a low\(user) --identity $HOME/key")
            #expect(try shell(sandbox, as: user, "$S get r --identity $HOME/key").outputText == "2\n")
        }
        try replace(sandbox.record("r"), with: oldRecord)
        for user in [60_004, 60_001] {
            #expect(try shell(sandbox, as: user, "$S get r --identity $HOME/key").exitCode == 65, "an old record")
        }
        let new = try Self.leaves.map { try SystemFile.read(sandbox.path("groups/Vaults/\(Sandbox.group)/\($0)")) }
        for (leaf, bytes) in zip(Self.leaves, old) {
            try replace(sandbox.path("groups/Vaults/\(Sandbox.group)/\(leaf)"), with: bytes)
        }
        for user in [60_004, 60_001] {
            let refused = try shell(sandbox, as: user, "$S vault list --json --identity $HOME/key")
            #expect(refused.exitCode == 65 && refused.errorText.contains("rolledBack"), "\(refused.errorText)")
        }
        // Bob has not seen the rekey, so the old copy is the vault that he knows.
        #expect(try find(sandbox, 60_002, "low60001") == "low60001")
        for (leaf, bytes) in zip(Self.leaves, new) {
            try replace(sandbox.path("groups/Vaults/\(Sandbox.group)/\(leaf)"), with: bytes)
        }
        #expect(try find(sandbox, 60_004, "low60001") == "new")
    }

    private static let leaves = ["vault", "vault.person"]
    private static let fingerprint =
        "$($S vault status --json | grep -o '\"fingerprint\":\"[0-9a-f]*' | head -n 1 | cut -d '\"' -f 4)"

    @discardableResult
    private func succeed(_ sandbox: Sandbox, _ user: Int, _ script: String) throws -> ChildResult {
        let result = try shell(sandbox, as: user, script)
        try #require(result.exitCode == 0, "\(user): \(script): \(result.errorText)")
        return result
    }

    private func find(_ sandbox: Sandbox, _ user: Int, _ account: String) throws -> String {
        try succeed(sandbox, user, "$S vault find -s s -a \(account) -w --identity $HOME/key").outputText
    }

    /// Starts a program of a user that has opened the vault with the default key file, and that reads an item on
    /// request.
    private func probe(_ sandbox: Sandbox, _ user: Int, _ account: String) throws -> ChildProcess {
        let child = try UnixUser(uid: UInt32(user), gid: UInt32(user), groups: [1]).start(
            "sealed-probe", ["vault-item", sandbox.path("groups"), Sandbox.group, "read", "s", account],
            environment: [
                "HOME": sandbox.path("home\(user)"), "SEALED_USER_HOME": "", "XDG_STATE_HOME": "",
                "XDG_CONFIG_HOME": "",
            ])
        #expect(try child.readLine() == "ready")
        return child
    }

    private func answer(of child: ChildProcess) throws -> String? {
        try child.write("go\n")
        let line = try child.readLine()
        _ = try child.finish()
        return line
    }

    /// Replaces a file as any member with write permission for the directory can. Owner and mode remain the same.
    private func replace(_ path: String, with bytes: [UInt8]) throws {
        var status = stat()
        try #require(stat(path, &status) == 0)
        try SystemFile.write(path + ".planted", bytes, mode: status.st_mode & 0o777)
        #expect(chown(path + ".planted", status.st_uid, status.st_gid) == 0)
        #expect(rename(path + ".planted", path) == 0)
    }

    /// A user who knows the vault must not be advised to create another one, and no user to close the directory to all.
    @Test func anEmptiedSharedVaultIsMissingOrWantsToBeShared() throws {
        let sandbox = try shared()
        let directory = sandbox.path("groups/Vaults/group.com.example.app")
        #expect(try shell(sandbox, as: 60_001, "rm \(directory)/vault*").exitCode == 0)
        let known = try shell(sandbox, as: 60_001, "$S init --identity $HOME/key --json")
        #expect(try decode(MachineError.self, known.errors).code == "missing", "\(known.errorText)")
        let other = try shell(
            sandbox, as: 60_003, "umask 077; $S vault identity $HOME/key; $S init --identity $HOME/key")
        #expect(other.exitCode == 78 && other.errorText.contains("--share-with daemon"), "\(other.errorText)")
        #expect(!other.errorText.contains("chmod"))
    }

    @Test func aRemovalSaysBeforeWhoCanStillWrite() throws {
        let sandbox = try shared()
        let asked = try shell(sandbox, as: 60_001, "$S vault slot remove 2 --identity $HOME/key --no-input")
        #expect(asked.exitCode == 64, "\(asked.errorText)")
        let directory = sandbox.path("groups/Vaults/group.com.example.app")
        #expect(asked.errorText.contains("can still write \(directory):"), "\(asked.errorText)")
        #expect(asked.errorText.contains("gpasswd -d USER daemon"))
    }
}
