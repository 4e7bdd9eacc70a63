import Glibc
import TestSupport
import Testing

@Suite struct InitTests {
    @Test func aRemovedContainerIsMadeAgainForItsVault() throws {
        let sandbox = try Sandbox.initialised()
        let vault = try SystemFile.read(sandbox.vault)
        try sandbox.moveContainerAway()
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
        let answer = try decode(MachineInit.self, sandbox.succeed(["init", "--json"]).output)
        #expect(answer.made == ["container"] && answer.container == sandbox.container)
        #expect(try SystemFile.read(sandbox.vault) == vault)
        try sandbox.put("a", "{}")
        let again = try decode(MachineInit.self, sandbox.succeed(["init", "--json"]).output)
        #expect(again.made.isEmpty && again.container == sandbox.container)
        #expect(try SystemFile.read(sandbox.vault) == vault)
        // Something else than what exists.
        for option in [["--passphrase-file", "pass"], ["--backend", "sqlite"], ["--key-file", "other"]] {
            #expect(try sandbox.sealctl(["init"] + option).exitCode == 45, "\(option)")
        }
        #expect(try sandbox.succeed(["get", "a"]).outputText == "{}")
    }

    @Test func aFirstInitMakesBoth() throws {
        let answer = try decode(MachineInit.self, Sandbox().succeed(["init", "--json"]).output)
        #expect(answer.made == ["container", "vault"])
    }

    @Test func aDamagedVaultGetsNoNewContainer() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.flip(sandbox.vault, at: 9)
        try sandbox.moveContainerAway()
        #expect(try sandbox.sealctl(["init"]).exitCode == 65)
        #expect(!SystemFile.exists(sandbox.container))
    }

    @Test(arguments: [("missing", 66), ("pass", 65), (".", 66)] as [(String, Int32)])
    func aKeyFileThatIsInvalidLeavesNothingBehind(path: String, status: Int32) throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("hello\n".utf8))
        chmod(sandbox.path("files/pass"), 0o600)
        #expect(try sandbox.sealctl(["init", "--key-file", path]).exitCode == status)
        #expect(!SystemFile.exists(sandbox.path("groups")))
    }

    @Test func lostFilesAreSetAsideOnDemandOnly() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        let record = try SystemFile.read(sandbox.record("a"))
        unlink(sandbox.vault)
        #expect(try sandbox.sealctl(["init"]).exitCode == 44)
        let answer = try decode(MachineInit.self, sandbox.succeed(["init", "--abandon", "--yes", "--json"]).output)
        let kept = try #require(answer.abandoned.first { $0.from == sandbox.record("a") })
        #expect(try SystemFile.read(kept.to) == record)
        #expect(kept.to.hasPrefix("\(sandbox.container)/Quarantine/"))
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 44)
        try sandbox.put("a", "{}")
    }

    @Test func noVaultIsMadeWhileTheContainerIsAway() throws {
        let sandbox = try Sandbox()
        try sandbox.succeed(["container", "register", "com.example.app", "/bin/sh", "--behavior", "ios"])
        let path = String(try sandbox.succeed(["container", "path"]).outputText.dropLast())
        #expect(rename(path, path + ".away") == 0)
        let refused = try sandbox.sealctl(["init", "--json"])
        #expect(refused.exitCode == 44)
        #expect(try decode(MachineError.self, refused.errors).code == "containerAway")
        #expect(!SystemFile.exists(sandbox.vault) && !SystemFile.exists(sandbox.keyFile))
        #expect(rename(path + ".away", path) == 0)
        try sandbox.succeed(["init"])
    }

    @Test func anUnlockTimeIsForAPassphrase() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("secret\n".utf8))
        #expect(try sandbox.sealctl(["init", "--unlock-time", "1s"]).exitCode == 64)
        try sandbox.succeed(["init", "--passphrase-file", "pass", "--unlock-time", "300ms"])
        try sandbox.succeed(["list", "--passphrase-file", "pass"])
    }

    @Test func aVaultThatOpensIsNotAbandoned() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{\"n\":1}")
        let before = try SystemFile.read(sandbox.vault)
        #expect(try sandbox.sealctl(["init", "--abandon"]).exitCode == 45)
        #expect(try SystemFile.read(sandbox.vault) == before)
        #expect(try sandbox.succeed(["get", "a"]).outputText == "{\"n\":1}")
    }

    @Test func aVaultThatCannotBeOpenedIsAbandonedAndKept() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        unlink(sandbox.keyFile)
        let lost = try SystemFile.read(sandbox.vault)
        let answer = try decode(MachineInit.self, sandbox.succeed(["init", "--abandon", "--yes", "--json"]).output)
        let kept = try #require(answer.abandoned.first { $0.from == sandbox.vault })
        #expect(try SystemFile.read(kept.to) == lost)
        try sandbox.put("a", "{}")
    }

    @Test(.enabled(if: geteuid() == 0, "root may give files to any group"))
    func aSharedGroupIsItsUnixGroups() throws {
        let sandbox = try Sandbox()
        chmod(sandbox.directory.path, 0o755)
        let made = try sandbox.shell("umask 077; $S init --share-with daemon && echo '{}' | $S put a -")
        #expect(made.exitCode == 0, "\(made.errorText)")
        #expect(try SystemFile.mode(sandbox.container) == 0o2770)
        #expect(try SystemFile.mode(sandbox.vault) == 0o660)
        #expect(try SystemFile.mode(sandbox.record("a")) == 0o660)
    }

    @Test func theDocumentedKeyFileOpensAVault() throws {
        let sandbox = try Sandbox()
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let made = try sandbox.shell("umask 077; printf 'sealed-key-1 %s\\n' \(digits) > k; $S init --key-file k")
        #expect(made.exitCode == 0, "\(made.errorText)")
        try sandbox.succeed(["list", "--key-file", "k"])
        #expect(try sandbox.sealctl(["list"]).exitCode == 36)
    }
}
