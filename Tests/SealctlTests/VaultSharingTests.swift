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
            "HOME": home, "SEALED_USER_HOME": "\(home)/sealed", "S": builtProduct("sealctl"),
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
        let removed = try shell(sandbox, as: 60_001, "$S vault slot remove 2 --identity $HOME/key")
        #expect(removed.exitCode == 0, "\(removed.errorText)")
        #expect(try shell(sandbox, as: 60_002, "$S vault keys --identity $HOME/key").exitCode == 51)
    }
}
