import Glibc
import TestSupport
import Testing

/// Two users of one unix group, each with a key of their own, and a third one.
@Suite(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs several users"))
struct VaultSharingTests {
    /// A user's shell in which `$S` is sealctl; the identity is `$HOME/key`.
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

    /// Nothing of one user is in the shared home, where the other one could not use it.
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

    /// `sudo` and `setpriv` may leave another user's variables in place.
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

    /// The override stays.
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

    @Test func whoeverLeavesLosesTheirSlot() throws {
        let sandbox = try shared()
        let removed = try shell(sandbox, as: 60_001, "$S vault slot remove 2 --yes --identity $HOME/key")
        #expect(removed.exitCode == 0, "\(removed.errorText)")
        #expect(try shell(sandbox, as: 60_002, "$S vault keys --identity $HOME/key").exitCode == 51)
    }
}
