import AppGroups
import Glibc
import TestSupport
import Testing

@testable import KeyVault

@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct VaultAvailabilityTests {
    /// Everything below a directory: names, kinds, modes, times of the last change, contents.
    private struct Snapshot: Equatable {
        var entries: [String: String] = [:]

        init(of roots: [String]) throws {
            for root in roots { try add(root) }
        }

        private mutating func add(_ path: String) throws {
            var facts = stat()
            lstat(path, &facts)
            let times =
                "\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec) \(facts.st_ctim.tv_sec).\(facts.st_ctim.tv_nsec)"
            var entry = "\(facts.st_mode) \(facts.st_ino) \(facts.st_size) \(times)"
            if facts.st_mode & S_IFMT == S_IFREG { entry += " \(try SystemFile.read(path).hashValue)" }
            entries[path] = entry
            if facts.st_mode & S_IFMT == S_IFDIR {
                for name in try SystemFile.names(path) { try add("\(path)/\(name)") }
            }
        }
    }

    /// Queries availability and status, and checks that nothing below the home or the runtime directory changed.
    private func untouched(_ fixture: UnlockFixture) throws -> VaultAvailability {
        let roots = [fixture.vault.directory.path, fixture.sandbox.memory?.path].compactMap { $0 }
        let before = try Snapshot(of: roots)
        let availability = try fixture.availability()
        #expect(try fixture.status().availability == availability)
        #expect(try Snapshot(of: roots) == before)
        return availability
    }

    @Test func aVaultThatIsGoneIsMissingAndOneThatNeverWasIsAbsent() throws {
        let fixture = try UnlockFixture(.file)
        for leaf in VaultPlace.leaves {
            unlink(fixture.vault.beside(leaf))
            #expect(try untouched(fixture) == .missing)
        }
        #expect(rename(fixture.vault.beside(""), fixture.vault.directory.path("gone")) == 0)
        #expect(try untouched(fixture) == .missing)
        let empty = try VaultFixture()
        #expect(try Vault.availability(empty.accessGroup, in: empty.home) == .absent)
        #expect(try SystemFile.names(empty.directory.path) == [])
    }

    @Test func aPassphraseVaultIsLockedUntilItIsUnlocked() throws {
        let fixture = try UnlockFixture(.file)
        #expect(try untouched(fixture) == .locked)
        try fixture.person().unlock(for: .seconds(3600))
        #expect(try untouched(fixture) == .ready)
        // If only persons open the vault, a lock closes both classes.
        #expect(try fixture.lock().locked == ProtectionClass.allCases)
        #expect(try untouched(fixture) == .locked)
    }

    @Test func aVaultWithAServiceStaysReadyAfterALock() throws {
        let fixture = try UnlockFixture(.file, withService: true)
        try fixture.person().unlock()
        #expect(try untouched(fixture) == .ready)
        #expect(try fixture.lock().locked == [.whenUnlocked])
        #expect(try untouched(fixture) == .ready)
        #expect(try fixture.lock(everything: true).hasUnattendedSlots)
        #expect(try untouched(fixture) == .locked)
    }

    @Test func aKeyFileMakesAVaultReadyAndIsNotMadeAgain() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let before = try Snapshot(of: [fixture.directory.path])
        #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .ready)
        #expect(try Snapshot(of: [fixture.directory.path]) == before)
        unlink(fixture.keyFile)
        #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .locked)
        #expect(!SystemFile.exists(fixture.keyFile))
    }

    @Test func anotherVaultsKeyFileLeavesItLocked() throws {
        let fixture = try VaultFixture()
        let other = try VaultFixture("group.com.example.other")
        try fixture.create()
        try other.create()
        try SystemFile.write(fixture.keyFile, SystemFile.read(other.keyFile))
        #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .locked)
    }

    @Test(arguments: [
        VaultError.Code.locked, .wrongKeyFile, .malformedKeyFile, .noCredential, .wrongCredential, .wrongPassphrase,
        .wrongIdentity, .tooCostly,
    ]) func aWrongCredentialLeavesTheVaultLocked(_ code: VaultError.Code) {
        #expect(VaultAvailability(code) == .locked)
    }

    @Test func anotherUnitsCredentialLeavesItLocked() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("person"))
        try fixture.inUnit {
            try SystemFile.write(fixture.credential("sealedstate.\(fixture.accessGroup)"), keyText(), mode: 0o400)
            try fixture.open(with: passphrase("person")).addSlot(.systemdCredential(name: nil))
            try SystemFile.write(fixture.credential("sealedstate.\(fixture.accessGroup)"), keyText(), mode: 0o400)
            #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .locked)
        }
    }

    @Test func aDamagedHeaderIsDamage() throws {
        let fixture = try UnlockFixture(.file)
        let whole = try SystemFile.read(fixture.vault.path)
        for offset in [0, 7, 20, 45, 90] {
            var bytes = whole
            bytes[offset] ^= 1
            try SystemFile.write(fixture.vault.path, bytes)
            #expect(try untouched(fixture) == .damaged)
        }
        for count in [0, 1, 39, 100] {
            try SystemFile.write(fixture.vault.path, Array(whole[..<count]))
            #expect(try untouched(fixture) == .damaged)
        }
    }

    @Test func aHeaderThatWasChangedWithoutTheKeyIsDamageOnceAKeyIsAvailable() throws {
        let fixture = try UnlockFixture(.file)
        let code = try SystemFile.read(fixture.vault.path)
        try fixture.person().unlock()
        // This is the keyed code after the checksum, which no check without a key covers.
        let area = code[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) }
        var bytes = code
        bytes[40 + area + 32] ^= 1
        try SystemFile.write(fixture.vault.path, bytes)
        #expect(try untouched(fixture) == .damaged)
    }

    @Test func aNewerVersionIsUnsupportedAndNotAState() throws {
        let fixture = try UnlockFixture(.file)
        var bytes = try SystemFile.read(fixture.vault.path)
        bytes[4] = 99
        try SystemFile.write(fixture.vault.path, bytes)
        #expect(KeyVaultTests.code { () throws(VaultError) in _ = try fixture.availability() } == .unsupported)
        #expect(KeyVaultTests.code { () throws(VaultError) in _ = try fixture.status() } == .unsupported)
    }

    @Test(arguments: [0o644, 0o666] as [UInt32]) func aVaultThatOthersReachIsDenied(_ mode: UInt32) throws {
        let fixture = try UnlockFixture(.file)
        chmod(fixture.vault.path, mode)
        #expect(try untouched(fixture) == .denied)
    }

    // MARK: Status

    @Test(arguments: CacheKind.usable) func aStatusShowsWhatIsUnlockedAndUntilWhen(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        var status = try fixture.status()
        #expect(status.availability == .locked)
        #expect((status.afterFirstUnlock, status.whenUnlocked) == (.locked, .locked))
        #expect(status.generation == 1)
        #expect(status.slots.map(\.kind) == [.passphrase])
        #expect(status.unlockPlace == (kind == .kernel ? .kernelKeyring : .runtimeFile))
        try fixture.person().unlock(for: .seconds(3600))
        status = try fixture.status()
        #expect(status.availability == .ready)
        #expect(status.afterFirstUnlock == .unlocked(for: nil))
        guard case .unlocked(let left?) = status.whenUnlocked else {
            Issue.record("no time limit")
            return
        }
        #expect(left > .seconds(3000) && left <= .seconds(3600))
        try fixture.person().unlock()
        #expect(try fixture.status().whenUnlocked == .unlocked(for: nil))
        try fixture.lock()
        #expect(try fixture.status().whenUnlocked == .locked)
    }

    @Test func anAbsentOrDamagedVaultHasAStatus() throws {
        let fixture = try UnlockFixture(.file)
        for leaf in VaultPlace.leaves { try SystemFile.write(fixture.vault.beside(leaf), []) }
        let status = try fixture.status()
        #expect(status.availability == .damaged)
        #expect(status.slots == [] && status.generation == nil)
    }
}
