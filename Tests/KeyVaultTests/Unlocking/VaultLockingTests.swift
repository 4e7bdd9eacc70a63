import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of unlocking and locking in one process, and of their visibility to other openings.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct VaultLockingTests {
    @Test(arguments: CacheKind.usable) func anUnlockedVaultOpensForEveryProgram(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
        let person = try fixture.person()
        #expect(try person.unlock())
        let other = try fixture.withoutCredential()
        #expect(try other.isUnlocked())
        #expect(try other.activeKey().id == person.activeKey().id)
    }

    @Test(arguments: CacheKind.usable) func aLockReachesEveryProgramThatHasTheVaultOpen(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind, withService: true)
        defer { withExtendedLifetime(fixture) {} }
        let holder = try fixture.person()
        let sharer = try fixture.person()
        try sharer.unlock()
        let finder = try fixture.withoutCredential()
        for vault in [holder, sharer, finder] { #expect(try vault.isUnlocked()) }
        try fixture.lock()
        for vault in [holder, sharer, finder] { #expect(try !vault.isUnlocked()) }
        // The class after first unlock remains available, also for new openings.
        _ = try finder.activeKey()
        #expect(try !fixture.withoutCredential().isUnlocked())
        // The next unlock reaches all of them again.
        try fixture.person().unlock()
        for vault in [holder, sharer, finder] { #expect(try vault.isUnlocked()) }
    }

    @Test(arguments: CacheKind.usable) func lockingEverythingTakesACredentialToOpenAgain(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        let finder = try fixture.withoutCredential()
        try fixture.lock(everything: true)
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
        #expect(try !finder.isUnlocked())
        // A program with the open vault keeps the class after first unlock.
        _ = try finder.activeKey()
    }

    @Test(arguments: CacheKind.usable) func aTimedUnlockEnds(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let person = try fixture.person()
        try person.unlock(for: .seconds(2))
        let finder = try fixture.withoutCredential()
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
        #expect(try SystemFile.mode(fixture.vault.beside(LockStamp.leaf)) == 0o600)
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
        var damaged = try fixture.vault.copy()
        for leaf in VaultPlace.leaves { damaged.files[leaf]?[20] ^= 1 }
        try fixture.vault.restore(damaged)
        #expect(code { () throws(VaultError) in try fixture.lock() } == .corrupt)
        #expect(try fixture.vault.copy().files == damaged.files)
        // The holder of the key in memory was locked nevertheless.
        #expect(try !holder.isUnlocked())
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(200 * 365 * 86_400)])
    func aTimeLimitThatIsInvalidIsRefused(_ limit: Duration) throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let person = try fixture.person()
        #expect(code { () throws(VaultError) in try person.unlock(for: limit) } == .invalidArgument)
        #expect(try fixture.availability() == .locked)
    }

    @Test func withoutACacheUnlockingIsRefusedAndLockingIsNot() throws {
        let disk = try TemporaryDirectory(onDisk: true)
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
        let sandbox = try CacheSandbox(kind)
        try UnlockCaches.$current.withValue(sandbox.caches) {
            let service = try fixture.create()
            defer { _ = try? Vault.lock(fixture.accessGroup, in: fixture.home, everything: true) }
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
        // Another vault replaces it.
        let other = try UnlockFixture(kind, passphrase: "another")
        try fixture.vault.restore(other.vault.copy())
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .replaced)
        #expect(try fixture.availability() == .replaced)
        try fixture.vault.forgetPlaces()
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
        #expect(try fixture.availability() == .locked)
    }

    /// The faults that prevent `vault` from opening.
    enum Fault: CaseIterable, Sendable { case header, part, gone, mode }

    @Test(arguments: Fault.allCases) func aDamagedVaultLeavesWhenUnlockedToThoseWithATicket(_ fault: Fault) throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().add("s", "a", .whenUnlocked, [7])
        var damaged = try fixture.vault.copy()
        let last = (damaged.files["vault"]?.count ?? 0) - 1
        switch fault {
        case .header: damaged.files["vault"]?[20] ^= 1
        case .part: damaged.files["vault"]?[last] ^= 1
        case .gone: damaged.files["vault"] = nil
        case .mode: chmod(fixture.vault.path, 0o666)
        }
        if fault != .mode { try fixture.vault.restore(damaged) }
        let person = try fixture.person()
        #expect(try person.unlock())
        #expect(person.serviceFailure != nil)
        let finder = try fixture.withoutCredential()
        #expect(try finder.value("s", "a") == [7])
        #expect(finder.serviceFailure?.code == person.serviceFailure?.code)
        #expect(try fixture.status().whenUnlocked == .unlocked(for: nil))
        // The status reads only the front of the file.
        if fault != .part { #expect(try fixture.status().afterFirstUnlock == .locked) }
        try fixture.lock()
        #expect(code { () throws(VaultError) in _ = try finder.value("s", "a") } != nil)
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } != nil)
    }

    // user:      unlock .................... lock: replaced ...................... open: locked
    // attacker:  ....... another vault's files .............. the true files again
    @Test(arguments: CacheKind.usable, [false, true])
    func aLockReachesTheRememberedVaultWhereAnotherOneIsThere(_ kind: CacheKind, _ everything: Bool) throws {
        let fixture = try UnlockFixture(kind, withService: true)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        let honest = try fixture.vault.copy()
        let other = try UnlockFixture(kind, passphrase: "another")
        try fixture.vault.restore(other.vault.copy())
        let refusal = code { () throws(VaultError) in try fixture.lock(everything: everything) }
        #expect(refusal == .replaced)
        unlink(fixture.vault.beside(LockStamp.leaf))
        try fixture.vault.restore(honest)
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
        #expect(try fixture.status().afterFirstUnlock == .locked)
        #expect(try fixture.status().whenUnlocked == .locked)
    }

    @Test(arguments: CacheKind.usable) func aLockReachesAVaultThatIsGone(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind, withService: true)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        let honest = try fixture.vault.copy()
        for leaf in VaultPlace.leaves { unlink(fixture.vault.beside(leaf)) }
        #expect(code { () throws(VaultError) in try fixture.lock() } == .missing)
        try fixture.vault.restore(honest)
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
    }

    /// The locking program may run in a sandbox that has neither the keyring nor the runtime directory of the others.
    @Test(arguments: CacheKind.usable) func aLockHoldsWhereItCannotReachTheKeys(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let person = try fixture.person()
        try person.unlock()
        let finder = try fixture.withoutCredential()
        try UnlockCaches.$current.withValue(UnlockCaches([])) {
            try Vault.lock(fixture.vault.accessGroup, in: fixture.vault.home)
        }
        for vault in [person, finder] { #expect(try !vault.isUnlocked()) }
        #expect(try fixture.status().whenUnlocked == .locked)
        #expect(try fixture.status().afterFirstUnlock == .unlocked(for: nil))
        try fixture.person().unlock()
        for vault in [person, finder] { #expect(try vault.isUnlocked()) }
        #expect(try fixture.status().whenUnlocked == .unlocked(for: nil))
    }

    /// The ticket fits its own root and names the vault. Only the vault's header shows that it belongs to another one.
    @Test(arguments: CacheKind.usable) func plantedKeysLeaveTheVaultLocked(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let name = UnlockName(vaultID: try fixture.person().heldContents.vaultID, .afterFirstUnlock)
        let ticket = UnlockTicket.make(name, root: .random(), deadline: 0)
        try fixture.sandbox.caches.store(ticket, as: name, for: nil)
        #expect(code { () throws(VaultError) in _ = try fixture.withoutCredential() } == .locked)
        #expect(try fixture.availability() == .locked)
        #expect(try fixture.status().afterFirstUnlock == .locked)
    }

    @Test(arguments: PlantedStamp.possible) func aPlantedStampDoesNotBlockPrograms(_ planted: PlantedStamp) throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let stamp = fixture.vault.beside(LockStamp.leaf)
        let holder = try fixture.person()
        try planted.plant(at: stamp)
        #expect(try holder.isUnlocked())
        #expect(try fixture.person().isUnlocked())
        try fixture.lock()
        #expect(try !holder.isUnlocked())
        #expect(try SystemFile.read(stamp).count == 16)
        // If the lock's stamp is displaced, openings under it count as locked.
        let later = try fixture.person()
        unlink(stamp)
        try planted.plant(at: stamp)
        #expect(try !later.isUnlocked())
    }

    @Test(arguments: PlantedStamp.possible) func theFirstUnlockMakesAStamp(_ planted: PlantedStamp) throws {
        let fixture = try UnlockFixture(.file)
        defer { withExtendedLifetime(fixture) {} }
        let stamp = fixture.vault.beside(LockStamp.leaf)
        try planted.plant(at: stamp)
        let person = try fixture.person()
        #expect(try person.unlock())
        let made = try SystemFile.read(stamp)
        #expect(made.count == 16)
        #expect(try SystemFile.mode(stamp) == 0o600)
        // The next opening leaves the stamp.
        #expect(try fixture.person().unlock())
        #expect(try SystemFile.read(stamp) == made)
        // So the removal of its stamp does not revert a lock.
        try fixture.lock()
        unlink(stamp)
        #expect(try !person.isUnlocked())
    }

    @Test func aUserKeepsTheirNumberInAContainer() {
        #expect(UserMap("         0       1000          1\n         1     100000      65536\n").outside(0) == 1000)
        #expect(UserMap("         0       1000          1\n         1     100000      65536\n").outside(33) == 100_032)
        #expect(UserMap("         0          0 4294967295\n").outside(1000) == 1000)
        #expect(UserMap("      1000       1000          1\n").outside(65_534) == 65_534)
        #expect(UserMap("").outside(1000) == 1000)
    }
}

/// The files that another member of a shared directory can put in the place of a lock stamp.
enum PlantedStamp: String, CaseIterable, Sendable {
    case nothing, directory, fullDirectory, link, pipe, foreignFile

    static let possible = allCases.filter { $0 != .foreignFile || geteuid() == 0 }

    func plant(at path: String) throws {
        switch self {
        case .nothing: break
        case .directory: mkdir(path, 0o700)
        case .fullDirectory:
            mkdir(path, 0o700)
            try SystemFile.write(path + "/file", [1])
        case .link: symlink("/etc/passwd", path)
        case .pipe: mkfifo(path, 0o666)
        case .foreignFile:
            try SystemFile.write(path, [UInt8](repeating: 7, count: 16))
            chown(path, 65_534, 65_534)
        }
    }
}
