import Glibc
import TestSupport
import Testing

/// Tests that problems which prevent an ordinary user from writing are found before a write fails.
@Suite(.enabled(if: ChildProcess.canRunUnprivileged, "setpriv")) struct DoctorAccessTests {
    /// Returns the ids of the failed checks.
    private func failures(_ prepare: (Sandbox) throws -> Void) throws -> [String] {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        if geteuid() == 0 { try sandbox.shell("chown -R 65534:65534 '\(sandbox.directory.path)'") }
        try prepare(sandbox)
        let result = try ChildProcess.runUnprivileged("sealctl", ["doctor"], environment: sandbox.environment)
        try sandbox.shell("chmod -R u+rwX '\(sandbox.directory.path)'")
        let lines = result.outputText.split(separator: "\n").filter { $0.hasPrefix("fail") }
        #expect(result.exitCode == (lines.isEmpty ? 0 : 1), "\(result.outputText)\(result.errorText)")
        return lines.compactMap { line in
            line.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first.map { String($0) }
        }
    }

    @Test func allIsWell() throws { #expect(try failures { _ in }.isEmpty) }

    @Test func aLockFileThatIsClosed() throws {
        #expect(try failures { chmod($0.container + "/.sealedstate.lock", 0) } == ["lock-file"])
    }

    @Test func recordsThatCannotBeWritten() throws {
        #expect(
            try failures { chmod($0.container + "/Library/Application Support/Records", 0o500) } == ["records"])
    }

    @Test func aPlaceForWhatWasAcceptedThatCannotBeWritten() throws {
        #expect(try failures { chmod($0.path("groups/Watermarks"), 0o500) }.contains("accepted"))
    }

    @Test func aKeyFileOfAnotherMode() throws {
        #expect(try failures { chmod($0.keyFile, 0o644) } == ["vault"])
    }
}
