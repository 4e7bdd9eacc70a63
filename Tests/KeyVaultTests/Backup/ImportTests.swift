import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a backup that is imported without an existing vault.
@Suite struct ImportTests {
    private let sandbox: BackupSandbox

    init() throws { sandbox = try BackupSandbox() }

    @Test func anotherMachineGetsTheSameItems() throws {
        let vault = try sandbox.vault()
        let large = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try vault.add("große Datei", "anna", .afterFirstUnlock, large)
        try vault.add("empty", "anna", .whenUnlocked, [])
        waitForTheNextMillisecond()
        try vault.update("mail", "anna", value: [9])
        try sandbox.export(vault)
        let items = try vault.items()
        let report = try ItemValues.$machineIDPath.withValue(sandbox.there.otherMachine()) {
            try sandbox.importBackup()
        }
        #expect(report.isNewVault)
        #expect(report.itemsAdded == items)
        let copy = try sandbox.opened()
        // This includes labels, accessibilities and dates.
        #expect(try copy.items() == items)
        #expect(try copy.value("mail", "anna") == [9])
        #expect(try copy.value("bank", "anna") == [4, 5, 6])
        #expect(try copy.value("große Datei", "anna") == large)
        #expect(try copy.value("empty", "anna") == [])
        // The same vault in a new period.
        #expect(copy.vaultID == vault.vaultID)
        #expect(copy.period == vault.period + 1)
    }

    /// The creation writes both files first, and both writes have an entry.
    @Test func theLogOfANewVaultNamesItsFirstWrite() throws {
        let vault = try sandbox.vault()
        #expect(try vault.readAccessLog().unloggedCount == 0)
        let fresh = try VaultFixture()
        #expect(try fresh.create(with: sandbox.credential).readAccessLog().unloggedCount == 0)
        try sandbox.export(vault)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        var writes: [AccessEvent: [UInt64]] = [:]
        let found = try copy.readAccessLog { entry, _ in
            writes[entry.event, default: []] += [UInt64(entry.period), entry.generation]
        }
        let first = [UInt64(vault.period) + 1, 1]
        #expect(writes[.created] == first && writes[.imported] == first)
        #expect(found.isIntact && found.unloggedCount == 0, "\(found)")
    }

    @Test func blobsThatWereSealedBeforeOpenAfterwards() throws {
        let vault = try sandbox.vault()
        let old = SealedFile(sandbox.here, under: try vault.activeKey())
        _ = try vault.beginRotation()
        let new = SealedFile(sandbox.here, under: try vault.activeKey())
        try sandbox.export(vault)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        #expect(try old.opens(with: copy.keyring))
        #expect(try new.opens(with: copy.keyring))
        // A restored vault begins a period, and sealing continues in a new epoch.
        #expect(try copy.keySummaries().dropLast().map(\.id) == vault.keySummaries().map(\.id))
        #expect(try copy.keySummaries().map(\.state) == [.decryptOnly, .decryptOnly, .active])
        #expect(try copy.activeKey().epoch == 3)
        #expect(try copy.rotationState().isResealing)
    }

    @Test func destroyedKeysStayDestroyedAndKnown() throws {
        let vault = try sandbox.vault()
        let first = try vault.activeKey().id
        try vault.completeRotation(to: try vault.beginRotation())
        try vault.destroyKey(first)
        try sandbox.export(vault)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        #expect(try copy.keySummaries().map(\.state) == [.destroyed, .decryptOnly, .active])
        #expect(try copy.rotationState().minimumEpoch == 2)
    }

    @Test func aContainerWhoseKeysTheBackupHoldsIsNotAnObstacle() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let blob = SealedFile(sandbox.here, under: try vault.activeKey())
        try SystemFile.write(try sandbox.there.inContainer("Library/Caches/ours.sealed"), blob.bytes)
        #expect(throws: Never.self) { try sandbox.importBackup() }
    }

    @Test func aContainerWithBlobsUnderAnotherKeyIs() throws {
        try sandbox.export(try sandbox.vault())
        let stranger = SealedFile(sandbox.there, under: try .random(epoch: 1))
        try SystemFile.write(try sandbox.there.inContainer("Library/Caches/theirs.sealed"), stranger.bytes)
        #expect(code { () throws(VaultError) in try sandbox.importBackup() } == .orphanedBlobs)
        #expect(!sandbox.there.hasVault)
    }

    @Test func itemsAloneMakeAVaultWithAKeyOfItsOwn() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let report = try sandbox.importBackup(ImportOptions(contents: .itemsOnly))
        #expect(report.keyCount == 0)
        let copy = try sandbox.opened()
        #expect(try copy.activeKey().id != vault.activeKey().id)
        #expect(try copy.value("bank", "anna") == [4, 5, 6])
    }

    @Test func keysAloneMakeAVaultWithoutItems() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        try sandbox.importBackup(ImportOptions(contents: .keysOnly))
        let copy = try sandbox.opened()
        #expect(try copy.activeKey().id == vault.activeKey().id)
        #expect(try copy.items().isEmpty)
    }

    @Test func personalItemsAreNotPutIntoAnUnattendedVault() throws {
        try sandbox.export(try sandbox.vault())
        let code = code { () throws(VaultError) in
            _ = try Vault.import(
                from: sandbox.path, opening: sandbox.credential, sandbox.there.accessGroup, in: sandbox.there.home)
        }
        #expect(code == .invalidArgument)
        #expect(!sandbox.there.hasVault)
        #expect(!SystemFile.exists(sandbox.there.keyFile))
    }

    @Test func anUnattendedVaultTakesUnattendedItems() throws {
        let vault = try sandbox.here.create(with: sandbox.credential)
        try vault.add("mail", "anna")
        try sandbox.export(vault)
        _ = try Vault.import(
            from: sandbox.path, opening: sandbox.credential, sandbox.there.accessGroup, in: sandbox.there.home)
        #expect(try sandbox.there.open().value("mail", "anna") == [1, 2, 3])
    }

    @Test func aWrongCredentialSaysWhichAndMakesNothing() throws {
        try sandbox.export(try sandbox.vault())
        let cases: [(VaultCredential, VaultError.Code)] = [
            (.identity(try .random()), .wrongIdentity), (try passphrase("guess"), .wrongPassphrase),
            (.automatic, .locked),
            (.defaultKeyFile, .locked),
        ]
        for (credential, expected) in cases {
            let code = code { () throws(VaultError) in
                _ = try Vault.import(
                    from: sandbox.path, opening: credential, sandbox.there.accessGroup, in: sandbox.there.home,
                    with: sandbox.credential, slots: sandbox.slots)
            }
            #expect(code == expected)
        }
        #expect(!sandbox.there.hasVault)
    }

    @Test func aBackupOfAnotherGroupIsRefused() throws {
        try sandbox.export(try sandbox.vault())
        let other = try VaultFixture("group.com.example.other")
        #expect(code { () throws(VaultError) in try sandbox.importBackup(to: other) } == .wrongGroup)
        #expect(!other.hasVault)
    }

    @Test func aVaultInUseIsNotABackupAndABackupNoVaultInUse() throws {
        try sandbox.export(try sandbox.vault())
        let (backup, vault) = (try SystemFile.read(sandbox.path), try SystemFile.read(sandbox.here.path))
        try SystemFile.write(sandbox.path, vault)
        #expect(code { () throws(VaultError) in try sandbox.importBackup() } == .notAnExport)
        // A refused file affects only its own class. A person opens the other one.
        try SystemFile.write(sandbox.here.personPath, backup)
        let credential = sandbox.credential
        #expect(code { () throws(VaultError) in _ = try sandbox.here.open(with: credential) } == .isAnExport)
        #expect(code { () throws(VaultError) in _ = try sandbox.here.openOrCreate(with: credential) } == .isAnExport)
    }

    @Test func aMissingBackupIsNotAnEmptyOne() throws {
        #expect(code { () throws(VaultError) in try sandbox.importBackup() } == .file)
        #expect(!sandbox.there.hasVault)
    }

    @Test func aDamagedVaultIsSetAsideOnlyWhenAskedFor() throws {
        let vault = try sandbox.vault()
        let key = try vault.activeKey()
        try sandbox.export(vault)
        let log = try SystemFile.read(sandbox.here.beside("access.log"))
        let damaged = Array("no vault".utf8)
        try SystemFile.write(sandbox.here.path, damaged)
        #expect(code { () throws(VaultError) in try sandbox.importBackup(to: sandbox.here) } == .corrupt)
        #expect(try SystemFile.read(sandbox.here.path) == damaged)
        try SystemFile.write(
            try sandbox.here.inContainer("Library/Caches/ours.sealed"), SealedFile(sandbox.here, under: key).bytes)
        let report = try sandbox.importBackup(to: sandbox.here, ImportOptions(setsVaultAside: true))
        #expect(report.setAside.first?.from == sandbox.here.path)
        #expect(try SystemFile.read(try #require(report.setAside.first?.to)) == damaged)
        #expect(try SystemFile.read(try #require(report.setAside.last?.to)) == log)
        let restored = try sandbox.opened(sandbox.here)
        #expect(try restored.currentKeyring().sealingKey(for: key.id) != nil)
        #expect(try restored.value("bank", "anna") == [4, 5, 6])
        #expect(try restored.log.verify(noted: restored.current().service.state.logHead).badCount == 0)
    }

    @Test func theLogOfAVaultThatWasLostIsKeptAndNotContinued() throws {
        try sandbox.export(try sandbox.vault())
        let log = try SystemFile.read(sandbox.here.beside("access.log"))
        for leaf in VaultPlace.leaves { unlink(sandbox.here.beside(leaf)) }
        try sandbox.importBackup(to: sandbox.here)
        let restored = try sandbox.opened(sandbox.here)
        let verified = try restored.log.verify(noted: restored.current().service.state.logHead)
        #expect(verified.badCount == 0)
        var events: [String] = []
        _ = try restored.readAccessLog { entry, _ in events.append("\(entry.event)") }
        #expect(verified.count == 3, "\(events)")
        let kept = try #require(
            try SystemFile.names(sandbox.here.beside(".")).first { $0.hasPrefix("access.log.abandoned-") })
        #expect(try SystemFile.read(sandbox.here.beside(kept)) == log)
    }

    @Test func aVaultIsNotSetAsideForABackupThatCannotTakeItsPlace() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        _ = try vault.beginRotation()
        let newer = SealedFile(sandbox.here, under: try vault.activeKey())
        try SystemFile.write(try sandbox.here.inContainer("Library/Caches/newer.sealed"), newer.bytes)
        let before = try SystemFile.read(sandbox.here.path)
        let code = code { () throws(VaultError) in
            try sandbox.importBackup(to: sandbox.here, ImportOptions(setsVaultAside: true))
        }
        #expect(code == .orphanedBlobs)
        #expect(try SystemFile.read(sandbox.here.path) == before)
    }

    /// After the last period the vault cannot be restored. Its keys and items are imported into a new one.
    @Test(arguments: [CompartmentHead.maximumPeriod, .max]) func afterTheLastPeriodNothingIsRestored(
        period: UInt32
    ) throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.there.place, taking: .everything)
        let refusal = code { () throws(VaultError) in
            _ = try backup.restoredDraft(sandbox.there.place, knownPeriod: period, lowestPeriod: 1)
        }
        #expect(refusal == .tooLarge)
        let last = CompartmentHead.maximumPeriod - 1
        #expect(
            try backup.restoredDraft(sandbox.there.place, knownPeriod: last, lowestPeriod: 1).register.period == last
                + 1)
        let keys = try Backup.open(sandbox.path, with: sandbox.credential, for: sandbox.there.place, taking: .keysOnly)
        #expect(try keys.restoredDraft(sandbox.there.place, knownPeriod: period, lowestPeriod: 1).register.period == 1)
    }

    /// A later period has more epochs.
    @Test func keysOfALaterPeriodMakeAVaultThatHasThem() throws {
        let vault = try sandbox.vault()
        try vault.rekey()
        let epoch = KeyringEntry.maximumEpoch(period: 1) + 1
        try vault.change(.itemAdded) { draft throws(VaultError) in
            draft.service.keyring.append(
                .random(
                    epoch: epoch, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1,
                    vaultID: draft.vaultID, root: draft.service.root))
        }
        try sandbox.export(vault, .keysOnly)
        try sandbox.importBackup()
        let copy = try sandbox.opened()
        #expect(copy.period == 2)
        #expect(try copy.keySummaries().map(\.epoch).max() == epoch)
    }
}
