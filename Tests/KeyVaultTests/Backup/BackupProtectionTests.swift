import AppGroups
import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of backups with keys of *when unlocked*, and with token keys.
@Suite struct BackupProtectionTests {
    private let yard: BackupYard

    init() throws { yard = try BackupYard() }

    private func vault() throws -> Vault {
        let vault = try Vault.create(
            yard.here.accessGroup, in: yard.here.home, slots: yard.slots + [.defaultKeyFile],
            openingWith: yard.credential)
        try vault.makeKey(for: .whenUnlocked)
        return vault
    }

    @Test func aKeyOfWhenUnlockedComesBack() throws {
        let vault = try vault()
        let key = try vault.activeKey(for: .whenUnlocked)
        let blob = SealedFile(yard.here, under: key)
        #expect(try yard.export(vault, .keysOnly).keyCount == 2)
        try yard.importBackup()
        let copy = try yard.opened()
        #expect(try copy.keySummaries() == vault.keySummaries())
        #expect(try blob.opens(with: copy.keyring(toOpen: key.id)))
        #expect(try copy.activeKey(for: .whenUnlocked).id == key.id)
        try copy.makeKey(for: .whenUnlocked)
    }

    @Test func aLockedKeyMakesNoPartialBackup() throws {
        _ = try vault()
        let service = try yard.here.open()
        #expect(code { () throws(VaultError) in try yard.export(service, .keysOnly) } == .locked)
        #expect(code { () throws(VaultError) in try yard.export(service, .itemsOnly) } == .locked)
    }

    @Test func aKeyThatComesInOpensOnlyAndMakesRoomForOneThatSeals() throws {
        // The copy was made before the class had a key. Then the class gets one here, which is imported there.
        let vault = try yard.here.create(with: yard.credential)
        try yard.export(vault, .keysOnly)
        try yard.importBackup()
        try vault.makeKey(for: .whenUnlocked)
        let later = yard.here.directory.path("later")
        try yard.export(vault, .keysOnly, to: later)
        let copy = try yard.opened()
        let report = try Vault.import(
            from: later, opening: yard.credential, yard.there.accessGroup, in: yard.there.home, with: yard.credential)
        // The class had no key here, so sealing begins beyond the imported key. The other class remains as it is.
        #expect(report.rotationEpoch == nil)
        try copy.makeKey(for: .whenUnlocked)
        let key = try copy.activeKey(for: .whenUnlocked)
        #expect(try key.epoch == 2 && copy.activeKey().epoch == 1)
        #expect(try copy.keySummaries().map(\.epoch) == [1, 1, 2])
        // A backup of this vault is valid.
        try yard.export(copy, .keysOnly, to: yard.here.directory.path("last"))
        let old = try vault.activeKey(for: .whenUnlocked)
        #expect(try SealedFile(yard.here, under: old).opens(with: copy.keyring(toOpen: old.id)))
        _ = try Backup.open(
            yard.here.directory.path("last"), with: yard.credential, for: yard.there.place, taking: .everything)
    }

    @Test func twoVaultsWithKeysOfTheirOwnClash() throws {
        let vault = try yard.here.create(with: yard.credential)
        try yard.export(vault, .keysOnly)
        try yard.importBackup()
        try vault.makeKey(for: .whenUnlocked)
        let copy = try yard.opened()
        try copy.makeKey(for: .whenUnlocked)
        try yard.export(vault, .keysOnly, to: yard.here.directory.path("later"))
        #expect(
            code { () throws(VaultError) in
                _ = try Vault.import(
                    from: yard.here.directory.path("later"), opening: yard.credential, yard.there.accessGroup,
                    in: yard.there.home, with: yard.credential)
            } == .epochClash)
    }

    // MARK: Token keys

    @Test func tokenKeysComeBackAndAreAddedToCheckOnly() throws {
        let vault = try vault()
        let id = try vault.withTokenKey { id, _ in id }
        try yard.export(vault, .keysOnly)
        try yard.importBackup()
        let copy = try yard.opened()
        #expect(try copy.withTokenKey(id) { $0.count } == 32)
        // The other vault has its own token key.
        let other = try VaultFixture()
        let third = try other.create(with: yard.credential)
        let own = try third.withTokenKey { id, _ in id }
        #expect(try third.withTokenKey(id) { _ in true } == nil)
        try third.completeRotation(to: third.beginRotation())
        let active = try third.activeKey().id
        _ = try third.change(.keyDestroyed) { draft throws(VaultError) in
            draft.service.keyring.removeAll { KeySummary($0).id != active }
        }
        _ = try yard.importBackup(to: other)
        #expect(own != id)
        #expect(try third.withTokenKey { id, _ in id } == own)
        #expect(try third.withTokenKey(id) { $0.count } == 32)
        // A repetition changes nothing. The imported key is older.
        _ = try yard.importBackup(to: other)
        #expect(try third.current().service.tokenKeys.map(\.state) == [.checksOnly, .active])
    }

    @Test func aBackupOfItemsAloneHasNoTokenKeys() throws {
        try yard.export(vault(), .itemsOnly)
        let backup = try Backup.open(yard.path, with: yard.credential, for: yard.here.place, taking: .everything)
        #expect(backup.tokenKeys.isEmpty)
    }
}
