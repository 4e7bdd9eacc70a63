import AppGroups
import Glibc
import KeyVault
import TestSupport
import Testing

/// Tests of unlocking and locking between processes with separate session keyrings.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct UnlockProcessTests {
    /// | login | service |
    /// | --- | --- |
    /// | unlocks, ends | |
    /// | | opens without a credential |
    @Test(arguments: CacheKind.usable) func keysUnlockedAtALoginAreAvailableToAServiceAfterIt(_ kind: CacheKind) throws
    {
        let fixture = try UnlockFixture(kind)
        let login = try fixture.session()
        #expect(try login.openAsPerson() == "opened")
        #expect(try login.ask("unlock -") == "true")
        #expect(try login.child.finish().exitCode == 0)
        let service = try fixture.session()
        #expect(try service.ask("open") == "opened")
        #expect(try service.ask("use") == "unlocked")
    }

    /// | holder | finder | third |
    /// | --- | --- | --- |
    /// | opens with the passphrase | | |
    /// | | | unlocks |
    /// | | opens | |
    /// | uses | uses | |
    /// | | | locks |
    /// | is refused | is refused | |
    @Test(arguments: CacheKind.usable) func aLockIsSeenByEveryProcessThatHasTheVaultOpen(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind, withService: true)
        let (holder, finder, third) = (try fixture.session(), try fixture.session(), try fixture.session())
        #expect(try holder.openAsPerson() == "opened")
        #expect(try third.openAsPerson() == "opened")
        #expect(try third.ask("unlock -") == "true")
        #expect(try finder.ask("open") == "opened")
        for session in [holder, finder, third] { #expect(try session.ask("use") == "unlocked") }
        #expect(try third.ask("lock") == "done")
        for session in [holder, finder, third] { #expect(try session.ask("use") == "locked") }
        #expect(try fixture.session().ask("open") == "opened")
        #expect(try third.ask("lock everything") == "done")
        #expect(try fixture.session().ask("open") == "locked")
    }

    /// A process with the passphrase is locked as well, although it has never read a cache.
    @Test(.enabled(if: CacheKind.hasKernelKeyring)) func aLockReachesAKeyInMemory() throws {
        let fixture = try UnlockFixture(.kernel)
        let holder = try fixture.session()
        #expect(try holder.openAsPerson() == "opened")
        #expect(try holder.ask("use") == "unlocked")
        try fixture.lock()
        #expect(try holder.ask("use") == "locked")
        #expect(try holder.openAsPerson() == "opened")
        #expect(try holder.ask("use") == "unlocked")
    }

    @Test(arguments: CacheKind.usable) func aTimedUnlockEndsForEveryProcess(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        let (login, service) = (try fixture.session(), try fixture.session())
        #expect(try login.openAsPerson() == "opened")
        #expect(try login.ask("unlock 1") == "true")
        #expect(try service.ask("open") == "opened")
        #expect(try eventually { try service.ask("use") == "locked" })
        #expect(try login.ask("use") == "locked")
        // The first class remains unlocked.
        #expect(try fixture.session().ask("open") == "opened")
    }

    // MARK: Others

    /// The other user's process has the session keyring of the one that unlocked, as after `sudo -u`.
    @Test(.enabled(if: geteuid() == 0 && ChildProcess.canRunUnprivileged), arguments: CacheKind.usable)
    func anotherUserFindsNothing(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        try fixture.person().unlock()
        let arguments = ["unlock-find", fixture.vaultID, fixture.sandbox.argument]
        #expect(try ChildProcess.run("sealed-probe", arguments).outputText == "found\n")
        #expect(try ChildProcess.runUnprivileged("sealed-probe", arguments).outputText == "none\n")
        // This also holds if the runtime directory is open to all users.
        if let memory = fixture.sandbox.memory {
            for path in [memory.path, memory.tickets] { chmod(path, 0o755) }
            #expect(try ChildProcess.runUnprivileged("sealed-probe", arguments).outputText == "none\n")
        }
    }
}
