import Glibc
import TestSupport
import Testing

/// Commands where `/proc` is hidden, from which Swift reads the arguments of a process.
@Suite(.enabled(if: HiddenProc.isPossible, "root and mount namespaces (unshare --mount)"))
struct ArgumentTests {
    private func withoutProc(_ sandbox: Sandbox, _ script: String) throws -> ChildResult {
        try sandbox.shell("unshare --mount /bin/sh -c 'mount -t tmpfs none /proc && \(script)'")
    }

    @Test func aRecordIsWritten() throws {
        let sandbox = try Sandbox.initialised()
        let result = try withoutProc(sandbox, #"echo {} | "$S" put a -"#)
        #expect(result.exitCode == 0 && !result.outputText.contains("USAGE"), "\(result.errorText)")
        #expect(try sandbox.succeed(["get", "a"]).outputText == "{}\n")
    }

    @Test(.enabled(if: Sandbox.canUnlock, "a kernel keyring or a runtime directory in memory"))
    func theVaultIsLocked() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("correct horse".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "pass"])
        try sandbox.succeed(["vault", "unlock", "--passphrase-file", "pass"])
        defer { _ = try? sandbox.sealctl(["vault", "lock", "--everything"]) }
        try sandbox.succeed(["vault", "keys"])
        let result = try withoutProc(sandbox, #""$S" vault lock --everything"#)
        #expect(result.exitCode == 0 && result.outputText.hasPrefix("locked"), "\(result.errorText)")
        #expect(try sandbox.sealctl(["vault", "keys"]).exitCode == 36)
    }

    @Test func anAuditFailsOnWhatItFinds() throws {
        let sandbox = try Sandbox.initialised()
        try SystemFile.write(sandbox.container + "/Library/config.json", Array(#"{"password": "Tr0ub4dor&3xyz"}"#.utf8))
        let expected = try sandbox.sealctl(["audit", "--fail-on", "low"]).exitCode
        #expect(expected != 0)
        #expect(try withoutProc(sandbox, #""$S" audit --fail-on low"#).exitCode == expected)
    }

    @Test func aProgramIsStartedWithItsOwnArguments() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["vault", "add", "-s", "db", "-a", "ada"], input: Array("x".utf8))
        let result = try withoutProc(sandbox, #""$S" exec --env V=db/ada -- /bin/echo a b"#)
        #expect(result.outputText == "a b\n", "\(result.errorText)")
    }
}

/// A mount namespace in which `/proc` is empty.
private enum HiddenProc {
    static var isPossible: Bool {
        let words = ["--mount", "mount", "-t", "tmpfs", "none", "/proc"]
        return geteuid() == 0 && (try? ChildProcess.run("/usr/bin/unshare", words).exitCode) == 0
    }
}
