import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a backup that is imported into an existing vault.
@Suite struct BackupMergeTests {
    private let sandbox: BackupSandbox

    init() throws { sandbox = try BackupSandbox() }

    /// Creates a vault elsewhere with the same keys, from an earlier backup.
    private func twin(of vault: Vault) throws -> Vault {
        let early = sandbox.here.directory.path("early")
        try sandbox.export(vault, .keysOnly, to: early)
        _ = try Vault.import(
            from: early, opening: sandbox.credential, sandbox.there.accessGroup, in: sandbox.there.home,
            with: sandbox.credential,
            slots: sandbox.slots)
        return try sandbox.opened()
    }

    @Test func missingItemsAreImportedAndExistingOnesAreKeptAndNamed() throws {
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        try twin.add("mail", "anna", [42])
        try twin.add("only", "here")
        try sandbox.export(vault)
        let report = try sandbox.importBackup()
        #expect(!report.isNewVault)
        #expect(report.itemsAdded.map(\.service) == ["bank"])
        #expect(report.itemsLeft.map(\.service) == ["mail"])
        #expect(report.itemsReplaced.isEmpty)
        #expect(report.keysKnown.count == 1)
        #expect(report.keyCount == 0)
        #expect(try twin.items().map(\.service) == ["bank", "mail", "only"])
        #expect(try twin.value("mail", "anna") == [42])
        #expect(try twin.value("bank", "anna") == [4, 5, 6])
    }

    @Test func existingItemsAreReplacedOnRequest() throws {
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        try twin.add("mail", "anna", [42])
        try sandbox.export(vault)
        let report = try sandbox.importBackup(ImportOptions(replacesItems: true))
        #expect(report.itemsReplaced.map(\.service) == ["mail"])
        #expect(report.itemsLeft.isEmpty)
        #expect(try twin.value("mail", "anna") == [1, 2, 3])
        #expect(try twin.item(service: "mail", account: "anna") == vault.item(service: "mail", account: "anna"))
    }

    @Test func anUnknownKeyOpensAndNeverSeals() throws {
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        let mine = try twin.activeKey().id
        _ = try vault.beginRotation()
        let blob = SealedFile(sandbox.here, under: try vault.activeKey())
        try sandbox.export(vault)
        #expect(blob.isRefused(by: twin.keyring) == .unknownKey)
        let report = try sandbox.importBackup()
        #expect(report.keysAdded.map(\.epoch) == [2])
        #expect(try blob.opens(with: twin.currentKeyring()))
        #expect(try twin.activeKey().id != vault.activeKey().id)
        #expect(try twin.keySummaries().first { $0.id == mine }?.state == .decryptOnly)
    }

    @Test func afterAKeyOfALaterEpochSealingContinuesBeyondIt() throws {
        // Otherwise a write over a blob of epoch 2 would have epoch 1, and readers would refuse it as a replay.
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        _ = try vault.beginRotation()
        try sandbox.export(vault)
        #expect(try sandbox.importBackup().rotationEpoch == 3)
        #expect(try twin.activeKey().epoch == 3)
        #expect(try twin.rotationState().isResealing)
        #expect(try sandbox.importBackup().rotationEpoch == nil)
        #expect(try twin.activeKey().epoch == 3)
    }

    /// Returns the vault without its first keys and without a minimum epoch, for a user who has not seen the minimum.
    private func reopened(_ vault: Vault, without count: Int) throws -> Vault {
        _ = try vault.change(.keyDestroyed) { draft throws(VaultError) in
            draft.service.keyring.removeFirst(count)
            draft.service.state.rotation.minimumEpoch = 1
        }
        try sandbox.there.forgetPlaces()
        return try sandbox.there.open(with: sandbox.credential)
    }

    @Test func aKeyOfAnEarlierEpochLeavesTheActiveOneAlone() throws {
        let vault = try sandbox.vault()
        let old = SealedFile(sandbox.here, under: try vault.activeKey())
        try sandbox.export(vault)
        let rotated = try sandbox.there.create(with: sandbox.credential)
        try rotated.completeRotation(to: try rotated.beginRotation())
        // The vault's own first key would collide, so the vault begins in epoch 2.
        let other = try reopened(rotated, without: 1)
        let active = try other.activeKey().id
        let report = try sandbox.importBackup()
        #expect(report.keysAdded.map(\.epoch) == [1])
        #expect(report.rotationEpoch == nil)
        #expect(try other.activeKey().id == active)
        #expect(try old.opens(with: other.currentKeyring()))
    }

    @Test func anotherKeyOfTheSameEpochRefusesTheWholeBackup() throws {
        try sandbox.export(try sandbox.vault())
        let other = try sandbox.there.create(with: sandbox.credential)
        let before = try SystemFile.read(sandbox.there.path)
        #expect(code { () throws(VaultError) in try sandbox.importBackup() } == .epochClash)
        #expect(try SystemFile.read(sandbox.there.path) == before)
        // The solution that the error advises.
        let report = try sandbox.importBackup(ImportOptions(contents: .itemsOnly))
        #expect(report.itemsAdded.count == 2)
        #expect(try other.value("mail", "anna") == [1, 2, 3])
        #expect(try other.keySummaries().count == 1)
    }

    @Test func aKeyThatWasDestroyedHereStaysDestroyed() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let first = try vault.activeKey().id
        try vault.completeRotation(to: try vault.beginRotation())
        try vault.destroyKey(first)
        let report = try sandbox.importBackup(to: sandbox.here)
        #expect(report.keysStillDestroyed.map(\.id) == [first])
        #expect(report.keyCount == 0)
        #expect(try vault.keySummaries().map(\.state) == [.destroyed, .active])
    }

    @Test func aKeyThatWasDestroyedThereIsLeftAloneHere() throws {
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        let first = try vault.activeKey().id
        let blob = SealedFile(sandbox.there, under: try twin.activeKey())
        try vault.completeRotation(to: try vault.beginRotation())
        try vault.destroyKey(first)
        try sandbox.export(vault)
        let report = try sandbox.importBackup()
        #expect(report.keysDestroyedThere.map(\.id) == [first])
        #expect(try twin.keySummaries().first { $0.id == first }?.state == .decryptOnly)
        // Earlier blobs open until they are resealed.
        #expect(try twin.rotationState().minimumEpoch == 1)
        #expect(try blob.opens(with: twin.currentKeyring()))
        try twin.completeRotation(to: 3)
        try twin.destroyKey(first)
        #expect(try sandbox.importBackup().keysDestroyedThere.isEmpty)
    }

    @Test func anEpochThatWasEndedThereDoesNotComeBackWithItsKey() throws {
        let vault = try sandbox.vault()
        try vault.completeRotation(to: try vault.beginRotation())
        try sandbox.export(vault)
        let rotated = try sandbox.there.create(with: sandbox.credential)
        for _ in 0..<2 { try rotated.completeRotation(to: try rotated.beginRotation()) }
        // The vault appears to have begun in epoch 3 and to have ended no epoch.
        let other = try reopened(rotated, without: 2)
        #expect(try sandbox.importBackup().keysAdded.map(\.epoch) == [1, 2])
        #expect(try other.rotationState().minimumEpoch == 2)
        #expect(try other.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == 2)
    }

    @Test func allComesInOrNothing() throws {
        try sandbox.export(try sandbox.vault())
        // The first item requires no person, the second does.
        _ = try Vault.create(
            sandbox.there.accessGroup, in: sandbox.there.home, slots: sandbox.slots + [.defaultKeyFile],
            openingWith: .defaultKeyFile)
        let before = try SystemFile.read(sandbox.there.path)
        let code = code { () throws(VaultError) in
            _ = try Vault.import(
                from: sandbox.path, opening: sandbox.credential, sandbox.there.accessGroup, in: sandbox.there.home,
                importing: ImportOptions(contents: .itemsOnly))
        }
        #expect(code == .locked)
        #expect(try SystemFile.read(sandbox.there.path) == before)
    }

    @Test func theSameBackupTwiceChangesNothingMore() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let keys = try vault.keySummaries()
        for _ in 0..<2 {
            let report = try sandbox.importBackup(to: sandbox.here)
            #expect(report.itemsAdded.isEmpty && report.keysAdded.isEmpty)
            #expect(report.itemsLeft.count == 2)
        }
        #expect(try vault.keySummaries() == keys)
    }

    /// The vault's own reader would refuse the epoch, and with it the whole vault.
    @Test(arguments: [UInt32(0), 1]) func aKeyOfAnEpochBeyondThePeriodIsNotTaken(more: UInt32) throws {
        let vault = try sandbox.vault()
        let twin = try twin(of: vault)
        let highest = KeyringEntry.maximumEpoch(period: 1)
        try vault.rekey()
        try vault.change(.itemAdded) { draft throws(VaultError) in
            draft.service.keyring.append(
                .random(
                    epoch: highest + more, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1,
                    vaultID: draft.vaultID, root: draft.service.root))
        }
        try sandbox.export(vault, .keysOnly)
        let before = try sandbox.there.copy().files
        #expect(code { () throws(VaultError) in try sandbox.importBackup() } == .tooLarge)
        #expect(try sandbox.there.copy().files == before)
        #expect(throws: Never.self) { try twin.reload() }
    }

    /// A replaced item leaves no value behind.
    @Test func aReplacedItemsValueFileIsRemoved() throws {
        let vault = try sandbox.vault()
        let large = [UInt8](repeating: 1, count: 1000)
        for accessibility in [Accessibility.afterFirstUnlock, .whenUnlocked] {
            try vault.add(
                "large", accessibility.protection == .whenUnlocked ? "person" : "service", accessibility, large)
        }
        try sandbox.export(vault)
        for folder in ["values", "values.person"] {
            let before = try SystemFile.names(sandbox.here.beside(folder))
            #expect(before.count == 1)
        }
        let old = try ["values", "values.person"].map { try SystemFile.names(sandbox.here.beside($0)) }
        let report = try sandbox.importBackup(to: sandbox.here, ImportOptions(replacesItems: true))
        #expect(report.itemsReplaced.count == 4)
        for (folder, old) in zip(["values", "values.person"], old) {
            let names = try SystemFile.names(sandbox.here.beside(folder))
            #expect(names.count == 1 && names != old, "\(folder)")
        }
        #expect(try vault.value("large", "person") == large && vault.value("large", "service") == large)
    }
}
