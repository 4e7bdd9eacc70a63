import AppGroups
import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of sealing keys of the class *when unlocked*: created once, used one at a time, removed by a lock.
@Suite struct WhenUnlockedKeyTests {
    private let fixture: VaultFixture
    private let identity: Identity

    init() throws {
        fixture = try VaultFixture()
        identity = try .random()
    }

    /// Creates a vault that a person's identity opens, and a key file with less reach.
    private func create() throws -> (person: Vault, service: Vault) {
        let slots: [NewSlot] = [.recipient(identity.recipient), .defaultKeyFile]
        let person = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: slots, openingWith: .identity(identity))
        return (person, try fixture.open())
    }

    private func keys(_ vault: Vault) throws -> [String] {
        try vault.keySummaries().map { "\($0.epoch) \($0.protection) \($0.state)" }
    }

    // MARK: Birth

    @Test func theFirstUseMakesTheKeyOnceInTheFirstEpoch() throws {
        let (person, service) = try create()
        #expect(code { () throws(VaultError) in _ = try person.activeKey(for: .whenUnlocked) } == .noActiveKey)
        try person.makeKey(for: .whenUnlocked)
        try person.makeKey(for: .whenUnlocked)
        #expect(try keys(service) == ["1 afterFirstUnlock active", "1 whenUnlocked active"])
        let key = try person.activeKey(for: .whenUnlocked)
        #expect(try key.epoch == 1 && key.id != person.activeKey().id)
        #expect(try person.activeKey(for: .whenUnlocked).id == key.id)
    }

    @Test func aLockedVaultMakesNone() throws {
        let (_, service) = try create()
        #expect(code { () throws(VaultError) in try service.makeKey(for: .whenUnlocked) } == .locked)
        #expect(try keys(service) == ["1 afterFirstUnlock active"])
        #expect(service.generation == 1)
    }

    @Test func aVaultWithoutAPersonsSlotMakesNone() throws {
        let vault = try fixture.create()
        #expect(code { () throws(VaultError) in try vault.makeKey(for: .whenUnlocked) } == .locked)
        #expect(try keys(vault).count == 1)
    }

    @Test func sixteenThreadsGetOneKey() throws {
        _ = try create()
        let results = try concurrently(16) { _ in
            let vault = try fixture.open(with: .identity(identity))
            try vault.makeKey(for: .whenUnlocked)
            return try vault.activeKey(for: .whenUnlocked).id
        }
        #expect(Set(try results.map { try $0.get() }).count == 1)
        #expect(try keys(fixture.open()).count == 2)
    }

    @Test func eachClassCountsItsOwnEpochs() throws {
        let (person, _) = try create()
        try person.completeRotation(to: person.beginRotation())
        try person.makeKey(for: .whenUnlocked)
        #expect(try person.activeKey(for: .whenUnlocked).epoch == 1)
        #expect(person.keyring.minimumEpoch(of: .afterFirstUnlock) == 2)
        #expect(person.keyring.minimumEpoch(of: .whenUnlocked) == 1)
        let epoch = try #require(try person.beginRotation(of: .whenUnlocked))
        #expect(epoch == 2)
        #expect(try person.rotationState(of: .whenUnlocked).isResealing)
        #expect(try !person.rotationState(of: .afterFirstUnlock).isResealing)
        #expect(try person.completeRotation(of: .whenUnlocked, to: epoch))
        #expect(person.keyring.minimumEpoch(of: .whenUnlocked) == 2)
        #expect(
            try keys(person) == [
                "1 afterFirstUnlock decrypt-only", "1 whenUnlocked decrypt-only", "2 afterFirstUnlock active",
                "2 whenUnlocked active",
            ])
    }

    @Test func noFirstKeyIsCreatedBesideBlobsOfALostOne() throws {
        let (person, _) = try create()
        let lost = SealedFile(fixture, under: try SealingKey.random(epoch: 1))
        try SystemFile.write(fixture.inContainer("Library/lost.sealed"), lost.bytes)
        #expect(code { () throws(VaultError) in try person.makeKey(for: .whenUnlocked) } == .orphanedBlobs)
        #expect(try keys(person) == ["1 afterFirstUnlock active"])
    }

    @Test func blobsOfItsOwnKeysDoNotPreventIt() throws {
        let (person, _) = try create()
        try SystemFile.write(
            fixture.inContainer("Library/own.sealed"), SealedFile(fixture, under: person.activeKey()).bytes)
        try person.makeKey(for: .whenUnlocked)
        #expect(try keys(person).count == 2)
    }

    @Test func aClassThatHadAKeyContinuesBesideStrangeBlobs() throws {
        let (person, _) = try create()
        try person.makeKey(for: .whenUnlocked)
        let lost = SealedFile(fixture, under: try SealingKey.random(epoch: 1))
        try SystemFile.write(fixture.inContainer("Library/lost.sealed"), lost.bytes)
        #expect(try person.beginRotation(of: .whenUnlocked) == 2)
        #expect(try person.activeKey(for: .whenUnlocked).epoch == 2)
    }

    @Test func theNameOfARecordIsListedWithItsFirstKey() throws {
        let (person, service) = try create()
        try person.makeKey(for: .whenUnlocked, record: "diary")
        let keyring = try service.currentKeyring()
        #expect(service.isListed(record: "diary", in: keyring))
        #expect(!service.isListed(record: "other", in: keyring))
        try person.makeKey(for: .whenUnlocked, record: "other")
        #expect(try service.isListed(record: "other", in: service.currentKeyring()))
        #expect(code { () throws(VaultError) in try service.lowerClass(ofRecord: "diary") } == .locked)
        try person.lowerClass(ofRecord: "diary")
        #expect(try !service.isListed(record: "diary", in: service.currentKeyring()))
        #expect(try keys(person).count == 2)
    }

    // MARK: Use

    @Test func aKeyIsLentForOneUseAndNeverKept() throws {
        let (person, service) = try create()
        try person.makeKey(for: .whenUnlocked)
        let key = try person.activeKey(for: .whenUnlocked)
        let blob = SealedFile(fixture, under: key)
        #expect(try blob.opens(with: person.keyring(toOpen: key.id)))
        #expect(blob.isRefused(by: person.keyring) == .unknownKey)
        #expect(person.keyring.isLocked(key.id))
        #expect(code { () throws(VaultError) in _ = try service.currentKeyring(toOpen: key.id) } == .locked)
        let other = try #require(person.keyring.active)
        #expect(try service.keyring(toOpen: other.id).sealingKey(for: other.id) != nil)
    }

    @Test func aLockTakesItFromEveryProgramThatHasTheVaultOpen() throws {
        let (person, _) = try create()
        try person.makeKey(for: .whenUnlocked)
        let id = try person.activeKey(for: .whenUnlocked).id
        try Vault.lock(fixture.accessGroup, in: fixture.home)
        #expect(code { () throws(VaultError) in _ = try person.activeKey(for: .whenUnlocked) } == .locked)
        #expect(code { () throws(VaultError) in _ = try person.keyring(toOpen: id) } == .locked)
        #expect(code { () throws(VaultError) in try person.makeKey(for: .whenUnlocked) } == .locked)
        _ = try person.activeKey(for: .afterFirstUnlock)
    }

    @Test(.enabled(if: MemoryDirectory.isAvailable), arguments: CacheKind.usable)
    func unlockingLetsEveryProgramCreateAndUseIt(_ kind: CacheKind) throws {
        let fixture = try UnlockFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        try fixture.person().unlock()
        let other = try fixture.withoutCredential()
        try other.makeKey(for: .whenUnlocked)
        let id = try other.activeKey(for: .whenUnlocked).id
        #expect(try fixture.person().activeKey(for: .whenUnlocked).id == id)
        try fixture.lock()
        #expect(code { () throws(VaultError) in _ = try other.activeKey(for: .whenUnlocked) } == .locked)
    }

    // MARK: Life

    @Test func aRotationOfTheClassNeedsAPerson() throws {
        let (person, service) = try create()
        #expect(try person.beginRotation(of: .whenUnlocked) == nil)
        try person.makeKey(for: .whenUnlocked)
        #expect(code { () throws(VaultError) in _ = try service.beginRotation(of: .whenUnlocked) } == .locked)
        try service.completeRotation(to: service.beginRotation())
        #expect(
            try keys(service) == [
                "1 afterFirstUnlock decrypt-only", "1 whenUnlocked active", "2 afterFirstUnlock active",
            ])
        let epoch = try #require(try person.beginRotation(of: .whenUnlocked))
        #expect(
            code { () throws(VaultError) in try service.completeRotation(of: .whenUnlocked, to: epoch) } == .locked)
        let old = try #require(try person.keySummaries().first { $0.epoch == 1 && $0.protection == .whenUnlocked })
        #expect(
            code { () throws(VaultError) in try person.destroyKey(old.id, onlyIfRetired: true) } == .keyInUse)
        try person.completeRotation(of: .whenUnlocked, to: epoch)
        #expect(code { () throws(VaultError) in try service.destroyKey(old.id) } == .locked)
        // Every open vault shows the newest epoch at its next check.
        _ = try service.current()
        try person.destroyKey(old.id, onlyIfRetired: true)
        #expect(try person.keyring(toOpen: old.id).sealingKey(for: old.id) == nil)
    }

    @Test func aProgramThatHasNotLookedHoldsTheEpochOfItsClassAlone() throws {
        let (person, service) = try create()
        try person.makeKey(for: .whenUnlocked)
        _ = try service.current()
        _ = try person.beginRotation(of: .whenUnlocked)
        #expect(person.isEpochHeld(1, .whenUnlocked) == true)
        _ = try service.current()
        #expect(person.isEpochHeld(1, .whenUnlocked) == false)
        #expect(person.isEpochHeld(1, .afterFirstUnlock) == true)
        #expect(person.isEpochHeld(2, .whenUnlocked) == true)
    }

    @Test func theLastSlotOfAPersonStays() throws {
        let (person, _) = try create()
        let slot = try #require(try person.slots().first { $0.reach == .whenUnlocked })
        #expect(code { () throws(VaultError) in try person.removeSlot(id: slot.id) } == .lastSlot)
    }
}
