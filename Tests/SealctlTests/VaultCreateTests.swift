import Glibc
import TestSupport
import Testing

@Suite struct VaultCreateTests {
    @Test func withoutOptionsTheGroupsKeyFileOpensIt() throws {
        let sandbox = try Sandbox()
        try sandbox.succeed(["vault", "create"])
        #expect(SystemFile.exists(sandbox.keyFile))
        #expect(try sandbox.slots() == [MachineSlot(id: 1, kind: "keyFile", reach: "afterFirstUnlock")])
        #expect(!SystemFile.exists(sandbox.container))
    }

    @Test func anAccessGroupWithoutContainerHasAVaultToo() throws {
        let sandbox = try Sandbox()
        try sandbox.succeed(["vault", "create", "--access-group", Sandbox.accessGroup])
        #expect(SystemFile.exists(sandbox.accessVault))
        let named = try sandbox.sealctl(["vault", "keys"], group: Sandbox.accessGroup)
        #expect(named.exitCode == 0, "\(named.errorText)")
        #expect(try sandbox.sealctl(["vault", "keys", "--access-group", "com.example.app"]).exitCode == 64)
    }

    @Test func eachStatedWayInIsASlot() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        let theirs = try sandbox.identity("theirs")
        _ = try sandbox.identity("mine")
        try sandbox.succeed([
            "vault", "create", "--passphrase-file", "pass", "--identity", "mine", "--recipient", theirs,
            "--default-key-file",
        ])
        let kinds = try sandbox.slots().map(\.kind).sorted()
        #expect(kinds == ["keyFile", "passphrase", "recipient", "recipient"])
        // The holder of the public key has not opened the vault before. The creator's identity opens it without stored
        // acceptance.
        #expect(try sandbox.sealctl(["vault", "keys", "--identity", "theirs"]).exitCode == 69)
        try sandbox.succeed(["vault", "accept", "--yes", "--identity", "theirs"])
        #expect(try sandbox.shell("rm -r ../groups/Places").exitCode == 0)
        for option in [["--passphrase-file", "pass"], ["--identity", "mine"], ["--identity", "theirs"], []] {
            #expect(try sandbox.sealctl(["vault", "keys"] + option).exitCode == 0, "\(option)")
        }
    }

    @Test func aVaultWithoutAnOpenerIsNotCreated() throws {
        let sandbox = try Sandbox()
        let theirs = try sandbox.identity("theirs")
        #expect(try sandbox.sealctl(["vault", "create", "--recipient", theirs]).exitCode == 64)
        #expect(!SystemFile.exists(sandbox.path("groups")))
    }

    @Test func aVaultThatIsThereStaysAsItIs() throws {
        let sandbox = try Sandbox.withPassphrase()
        let before = try sandbox.everyFile()
        #expect(try sandbox.sealctl(["vault", "create", "--passphrase-file", "other"]).exitCode == 45)
        #expect(try sandbox.everyFile() == before)
    }

    @Test func aSecretIdentityGivenAsRecipientIsNotRepeated() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.identity("mine")
        let secret = try sandbox.shell("grep ^SEALED-SECRET mine").outputText.dropLast()
        let result = try sandbox.sealctl(["vault", "create", "--recipient", String(secret), "--default-key-file"])
        #expect(result.exitCode == 65)
        #expect(!result.errorText.contains(secret.dropFirst(20)))
    }

    /// A machine that tries the least costs in a second has others for a second, and the least ones for a millisecond.
    @Test(arguments: [("1ms", true), ("1s", false)])
    func unlockTimeDecidesTheCosts(time: String, isLeast: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        try sandbox.succeed(["vault", "create", "--passphrase-file", "pass", "--unlock-time", time])
        let slots = try sandbox.succeed(["vault", "slot", "list", "--json", "--passphrase-file", "pass"]).outputText
        #expect(slots.contains("2 passes over 19 MiB") == isLeast, "\(slots)")
    }

    @Test(arguments: [
        ["--passphrase-file", "pass", "--unlock-time", "0s"], ["--passphrase-file", "pass", "--unlock-time", "2m"],
        ["--passphrase-file", "pass", "--unlock-time", "61s"], ["--unlock-time", "1s"], ["--unattended"],
        ["--passphrase", "--passphrase-file", "pass"], ["--share-with", "no such group"],
        ["--access-group", Sandbox.accessGroup, "--group", Sandbox.group], ["--passphrase-fd", "1"],
        ["--passphrase-fd", "-1"],
    ])
    func contradictoryArgumentsAreAUsageErrorAndCreateNothing(options: [String]) throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        #expect(try sandbox.sealctl(["vault", "create"] + options).exitCode == 64)
        #expect(!SystemFile.exists(sandbox.path("groups")))
    }

    @Test(.enabled(if: geteuid() == 0, "root may give files to any group"), arguments: ["daemon", "1"])
    func aSharedVaultBelongsToTheUnixGroupRegardlessOfTheUmask(unixGroup: String) throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let made = try sandbox.shell("umask 077; $S vault create --share-with \(unixGroup); $S vault keys")
        #expect(made.exitCode == 0, "\(made.errorText)")
        var status = stat()
        #expect(stat(sandbox.vault, &status) == 0 && status.st_mode & 0o7777 == 0o660 && status.st_gid == 1)
        let directory = sandbox.path("groups/Vaults/\(Sandbox.group)")
        #expect(stat(directory, &status) == 0 && status.st_mode & 0o7777 == 0o2770 && status.st_gid == 1)
    }
}
