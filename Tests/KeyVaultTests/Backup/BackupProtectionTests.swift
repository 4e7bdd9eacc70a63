import AppGroups
import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of backups with keys of *when unlocked*, and with token keys.
@Suite struct BackupProtectionTests {
    private let sandbox: BackupSandbox

    init() throws { sandbox = try BackupSandbox() }

    private func vault() throws -> Vault {
        let vault = try Vault.create(
            sandbox.here.accessGroup, in: sandbox.here.home, slots: sandbox.slots + [.defaultKeyFile],
            openingWith: sandbox.credential)
        try vault.makeKey(for: .whenUnlocked)
        return vault
    }

    @Test func aKeyOfWhenUnlockedComesBack() throws {
        let vault = try vault()
        let key = try vault.activeKey(for: .whenUnlocked)
        let blob = SealedFile(sandbox.here, under: key)
        #expect(try sandbox.export(vault, .keysOnly).keyCount == 2)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        #expect(try copy.keySummaries() == vault.keySummaries())
        #expect(try blob.opens(with: copy.keyring(toOpen: key.id)))
        #expect(try copy.activeKey(for: .whenUnlocked).id == key.id)
        try copy.makeKey(for: .whenUnlocked)
    }

    @Test func aLockedKeyMakesNoPartialBackup() throws {
        _ = try vault()
        let service = try sandbox.here.open()
        #expect(code { () throws(VaultError) in try sandbox.export(service, .keysOnly) } == .locked)
        #expect(code { () throws(VaultError) in try sandbox.export(service, .itemsOnly) } == .locked)
    }

    @Test func aKeyThatComesInOpensOnlyAndMakesRoomForOneThatSeals() throws {
        // The copy was made before the class had a key. Then the class gets one here, which is imported there.
        let vault = try sandbox.here.create(with: sandbox.credential)
        try sandbox.export(vault, .keysOnly)
        try sandbox.importBackup()
        try vault.makeKey(for: .whenUnlocked)
        let later = sandbox.here.directory.path("later")
        try sandbox.export(vault, .keysOnly, to: later)
        let copy = try sandbox.opened()
        let report = try Vault.import(
            from: later, opening: sandbox.credential, sandbox.there.accessGroup, in: sandbox.there.home,
            with: sandbox.credential)
        // The class had no key here, so sealing begins beyond the imported key. The other class remains as it is.
        #expect(report.rotationEpoch == nil)
        try copy.makeKey(for: .whenUnlocked)
        let key = try copy.activeKey(for: .whenUnlocked)
        #expect(try key.epoch == 2 && copy.activeKey().epoch == 1)
        #expect(try copy.keySummaries().map(\.epoch) == [1, 1, 2])
        // A backup of this vault is valid.
        try sandbox.export(copy, .keysOnly, to: sandbox.here.directory.path("last"))
        let old = try vault.activeKey(for: .whenUnlocked)
        #expect(try SealedFile(sandbox.here, under: old).opens(with: copy.keyring(toOpen: old.id)))
        _ = try Backup.open(
            sandbox.here.directory.path("last"), with: sandbox.credential, for: sandbox.there.place, taking: .everything
        )
    }

    @Test func twoVaultsWithKeysOfTheirOwnClash() throws {
        let vault = try sandbox.here.create(with: sandbox.credential)
        try sandbox.export(vault, .keysOnly)
        try sandbox.importBackup()
        try vault.makeKey(for: .whenUnlocked)
        let copy = try sandbox.opened()
        try copy.makeKey(for: .whenUnlocked)
        try sandbox.export(vault, .keysOnly, to: sandbox.here.directory.path("later"))
        #expect(
            code { () throws(VaultError) in
                _ = try Vault.import(
                    from: sandbox.here.directory.path("later"), opening: sandbox.credential, sandbox.there.accessGroup,
                    in: sandbox.there.home, with: sandbox.credential)
            } == .epochClash)
    }

    // MARK: Token keys

    @Test func tokenKeysComeBackAndAreAddedToCheckOnly() throws {
        let vault = try vault()
        let id = try vault.withTokenKey { id, _ in id }
        try sandbox.export(vault, .keysOnly)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        #expect(try copy.withTokenKey(id) { $0.count } == 32)
        // The other vault has its own token key.
        let other = try VaultFixture()
        let third = try other.create(with: sandbox.credential)
        let own = try third.withTokenKey { id, _ in id }
        #expect(try third.withTokenKey(id) { _ in true } == nil)
        try third.completeRotation(to: third.beginRotation())
        let active = try third.activeKey().id
        _ = try third.change(.keyDestroyed) { draft throws(VaultError) in
            draft.service.keyring.removeAll { KeySummary($0).id != active }
        }
        _ = try sandbox.importBackup(to: other)
        #expect(own != id)
        #expect(try third.withTokenKey { id, _ in id } == own)
        #expect(try third.withTokenKey(id) { $0.count } == 32)
        // A repetition changes nothing. The imported key is older.
        _ = try sandbox.importBackup(to: other)
        #expect(try third.current().service.tokenKeys.map(\.state) == [.checksOnly, .active])
    }

    @Test func aBackupOfItemsAloneHasNoTokenKeys() throws {
        try sandbox.export(vault(), .itemsOnly)
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .everything)
        #expect(backup.tokenKeys.isEmpty)
    }
}
