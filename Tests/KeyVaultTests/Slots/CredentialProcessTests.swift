import AppGroups
import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the sources that other processes find by themselves: the environment, and other users' files.
@Suite struct CredentialProcessTests {
    private func answer(_ result: ChildResult) -> String? {
        String(decoding: result.output, as: UTF8.self).split(separator: "\n").dropFirst().first.map(String.init)
    }

    private func arguments(_ fixture: VaultFixture) -> [String] {
        ["vault-key", fixture.directory.path, fixture.group.identifier]
    }

    @Test func aUnitsCredentialIsFoundThroughItsEnvironment() throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("credentials")
        try SystemFile.write(fixture.credential("sealedstate.\(fixture.accessGroup)"), keyText(), mode: 0o400)
        let unit = ["CREDENTIALS_DIRECTORY": fixture.directory.path("credentials")]
        let original = try ChildProcess.run(
            "sealed-probe", arguments(fixture), environment: unit, input: Array("go\n".utf8))
        #expect(original.exitCode == 0)
        #expect(access(fixture.keyFile, F_OK) != 0)
        let again = try ChildProcess.run(
            "sealed-probe", arguments(fixture), environment: unit, input: Array("go\n".utf8))
        #expect(answer(again) == answer(original))
        let outside = try ChildProcess.run("sealed-probe", arguments(fixture), input: Array("go\n".utf8))
        #expect(answer(outside) == "locked")
        try fixture.inUnit {
            let vault = try fixture.open(with: .automatic)
            #expect(try vault.slots().map(\.kind) == [.credential])
        }
    }

    @Test func aDirectoryThatIsNotAnAbsolutePathIsNotLookedAt() throws {
        let fixture = try VaultFixture()
        try fixture.directory.directory("credentials")
        try SystemFile.write(fixture.credential("sealedstate.\(fixture.accessGroup)"), keyText(), mode: 0o400)
        let result = try ChildProcess.run(
            "sealed-probe", arguments(fixture), environment: ["CREDENTIALS_DIRECTORY": "credentials"],
            directory: fixture.directory.path, input: Array("go\n".utf8))
        #expect(result.exitCode == 0)
        #expect(try fixture.open().slots().map(\.kind) == [.keyFile])
    }

    @Test(.enabled(if: geteuid() == 0 && ChildProcess.canRunUnprivileged))
    func aKeyFileThatIsAnotherUsersDoesNotConcernThisOne() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let (home, user) = (fixture.directory.path, "65534:65534")
        #expect(try ChildProcess.run("/bin/chown", ["-R", user, home]).exitCode == 0)
        chown(fixture.directory.path("Keys"), 0, 0)
        let result = try ChildProcess.runUnprivileged("sealed-probe", arguments(fixture), input: Array("go\n".utf8))
        #expect(answer(result) == "locked")
        chown(fixture.directory.path("Keys"), 65534, 65534)
        #expect(
            try ChildProcess.runUnprivileged("sealed-probe", arguments(fixture), input: Array("go\n".utf8)).exitCode
                == 0)
    }
}
