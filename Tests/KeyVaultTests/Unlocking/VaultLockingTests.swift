import AppGroups
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

/// Unlocking, locking and what others see of it, in one process.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct VaultLockingTests {
    @Test(arguments: CacheKind.usable) func anUnlockedVaultOpensForEverybody(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        #expect(code { () throws(VaultError) in _ = try fixture.anybody() } == .locked)
        let person = try fixture.person()
        #expect(try person.unlock())
        let other = try fixture.anybody()
        #expect(try other.isUnlocked())
        #expect(try other.activeKey().id == person.activeKey().id)
    }

    @Test(arguments: CacheKind.usable) func aLockReachesWhoeverHasTheVaultOpen(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let holder = try fixture.person()
        let sharer = try fixture.person()
        try sharer.unlock()
        let finder = try fixture.anybody()
        for vault in [holder, sharer, finder] { #expect(try vault.isUnlocked()) }
        try fixture.lock()
        for vault in [holder, sharer, finder] { #expect(try !vault.isUnlocked()) }
        // What is available after the first unlock stays so, also for who comes now.
        _ = try finder.activeKey()
        #expect(try !fixture.anybody().isUnlocked())
        // The next unlocking reaches all of them again.
        try fixture.person().unlock()
        for vault in [holder, sharer, finder] { #expect(try vault.isUnlocked()) }
    }

    @Test(arguments: CacheKind.usable) func lockingEverythingTakesACredentialToOpenAgain(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        let finder = try fixture.anybody()
        try fixture.lock(everything: true)
        #expect(code { () throws(VaultError) in _ = try fixture.anybody() } == .locked)
        #expect(try !finder.isUnlocked())
        // Who has the vault open keeps what was available after the first unlock.
        _ = try finder.activeKey()
    }

    @Test(arguments: CacheKind.usable) func aTimedUnlockEnds(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let person = try fixture.person()
        try person.unlock(for: .seconds(2))
        let finder = try fixture.anybody()
        #expect(try eventually { try !finder.isUnlocked() })
        #expect(try !person.isUnlocked())
        #expect(try fixture.status().whenUnlocked == .locked)
        #expect(try fixture.status().afterFirstUnlock == .unlocked(for: nil))
    }

    @Test func lockingTakesNoCredentialAndMayBeRepeated() throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.lock()
        try fixture.lock(everything: true)
        #expect(try SystemFile.mode(fixture.vault.beside(".locked.\(geteuid())")) == 0o600)
    }

    @Test func locksAtOnceAllSucceed() throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let holder = try fixture.person()
        let (group, home) = (fixture.vault.accessGroup, fixture.vault.home)
        let results = try concurrently(8) { _ in for _ in 0..<20 { try Vault.lock(group, in: home) } }
        for result in results { try result.get() }
        #expect(try !holder.isUnlocked())
        #expect(try SystemFile.names(fixture.vault.beside("")).filter { $0.contains("locked") }.count == 1)
    }

    @Test func lockingWhatIsAbsentOrDamagedIsAnError() throws {
        let absent = try VaultFixture()
        #expect(code { () throws(VaultError) in try Vault.lock(absent.accessGroup, in: absent.home) } == .absent)
        #expect(try SystemFile.names(absent.directory.path) == [])
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let holder = try fixture.person()
        var bytes = try SystemFile.read(fixture.vault.path)
        bytes[20] ^= 1
        try SystemFile.write(fixture.vault.path, bytes)
        #expect(code { () throws(VaultError) in try fixture.lock() } == .corrupt)
        #expect(try SystemFile.read(fixture.vault.path) == bytes)
        // Who holds the key in memory was locked all the same.
        #expect(try !holder.isUnlocked())
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(200 * 365 * 86_400)])
    func aTimeLimitThatIsNoneIsRefused(_ limit: Duration) throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let person = try fixture.person()
        #expect(code { () throws(VaultError) in try person.unlock(for: limit) } == .invalidArgument)
        #expect(try fixture.availability() == .locked)
    }

    @Test func withoutACacheUnlockingIsRefusedAndLockingIsNot() throws {
        let disk = try TemporaryDirectory()
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("one"))
        try UnlockCaches.$current.withValue(.runtimeFile(below: disk.path)) {
            let person = try fixture.open(with: passphrase("one"))
            #expect(code { () throws(VaultError) in try person.unlock() } == .noUnlockCache)
            #expect(try person.isUnlocked())
            #expect(try Vault.status(fixture.accessGroup, in: fixture.home).unlockPlace == nil)
            try Vault.lock(fixture.accessGroup, in: fixture.home)
            #expect(try !person.isUnlocked())
        }
    }

    @Test(arguments: CacheKind.usable) func anUnattendedSlotUnlocksTheFirstClassOnly(_ kind: CacheKind) throws {
        let fixture = try VaultFixture()
        let yard = try CacheYard(kind)
        try UnlockCaches.$current.withValue(yard.caches) {
            let service = try fixture.create()
            defer { try? Vault.lock(fixture.accessGroup, in: fixture.home, everything: true) }
            #expect(try !service.unlock())
            #expect(try !service.isUnlocked())
            unlink(fixture.keyFile)
            #expect(try fixture.open(with: .automatic).activeKey().id == service.activeKey().id)
        }
    }

    @Test(arguments: CacheKind.usable) func keysOfAnotherVaultOpenNothing(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        // Another vault comes into its place.
        let other = try UnlockFixture(kind, passphrase: "another")
        try SystemFile.write(fixture.vault.path, SystemFile.read(other.vault.path))
        #expect(code { () throws(VaultError) in _ = try fixture.anybody() } == .locked)
        #expect(try fixture.availability() == .locked)
    }
}
