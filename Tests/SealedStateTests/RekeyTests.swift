import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of stores that are open while the vault is rekeyed.
struct RekeyTests {
    private let fixture: StoreFixture
    private let passphrase: Passphrase
    /// The store that rekeys, opened with the passphrase.
    private let person: SealedStore

    init() throws {
        fixture = try StoreFixture()
        passphrase = try Array("correct horse".utf8).withUnsafeBytes { try Passphrase(copying: $0) }
        // Slot 1 is the passphrase, slot 2 the key file.
        _ = try Vault.create(
            AccessGroup(fixture.group), in: fixture.home,
            slots: [.passphrase(passphrase, .minimum), .defaultKeyFile], openingWith: .passphrase(passphrase))
        person = try Self.open(fixture, .passphrase(passphrase))
    }

    private static func open(_ fixture: StoreFixture, _ credential: VaultCredential) throws -> SealedStore {
        var options = StoreOptions()
        options.durability = .unsynced
        options.now = { [place = fixture.place] in withExtendedLifetime(place) { Date() } }
        return try SealedStore(group: fixture.group, in: fixture.home, unlockingWith: credential, options: options)
    }

    /// Adds an unattended recipient and opens the store as that program.
    private func addedService() throws -> (id: UInt32, store: SealedStore) {
        let identity = try Identity.random()
        let slot = try person.vault.addSlot(.recipient(identity.recipient, unattended: true), label: "service")
        return (slot.id, try Self.open(fixture, .identity(identity)))
    }

    private func epoch(_ name: String = ProbeRecord.recordName) throws -> UInt32 {
        try UnverifiedHeader(parsing: fixture.blob(name)).claimed.epoch
    }

    // person:  write ........ rekey ............................. read, write
    // service: ....... read ......... read, write under the new key
    @Test(arguments: [VaultCredential.defaultKeyFile, .automatic])
    func anOpenStoreFollowsARekey(credential: VaultCredential) throws {
        let service = try Self.open(fixture, credential)
        try person.write(ProbeRecord(number: 1))
        #expect(try service.read(ProbeRecord.self).number == 1)
        let report = try person.vault.rekey()
        #expect(report.period == 2 && report.removed.isEmpty && report.kept.count == 2)
        #expect(try service.read(ProbeRecord.self).number == 1)
        #expect(try service.write(ProbeRecord(number: 2)) == 2)
        #expect(try epoch() == 2)
        #expect(try person.read(ProbeRecord.self).number == 2)
        #expect(try service.update(ProbeRecord.self) { $0.number += 1 } == 3)
    }

    @Test func aStoreThatAPassphraseOpenedFollowsARekeyByAnother() throws {
        let other = try Self.open(fixture, .passphrase(passphrase))
        try other.write(Guarded(number: 1))
        var options = RekeyOptions()
        options.renewsPersons = true
        #expect(try person.vault.rekey(options).period == 2)
        #expect(try other.read(Guarded.self).number == 1)
        #expect(try other.write(Guarded(number: 2)) == 2)
        #expect(try person.read(Guarded.self).number == 2)
        #expect(try epoch(Guarded.recordName) == 2)
        #expect(try other.write(ProbeRecord(number: 3)) == 1)
        #expect(try epoch() == 2)
    }

    @Test func severalRekeysAreFollowedAtOnce() throws {
        let service = try Self.open(fixture, .defaultKeyFile)
        try service.write(ProbeRecord(number: 1))
        for period: UInt32 in 2...4 { #expect(try person.vault.rekey().period == period) }
        #expect(try service.read(ProbeRecord.self).number == 1)
        #expect(try service.write(ProbeRecord(number: 2)) == 2)
        #expect(try epoch() == 4)
    }

    @Test func aRekeyInAnotherProcessIsFollowed() throws {
        let service = try fixture.probe("store-write", "1", "10", "unsynced")
        #expect(service == "written 1")
        let store = try Self.open(fixture, .defaultKeyFile)
        #expect(try store.read(ProbeRecord.self).number == 1)
        try person.vault.rekey()
        #expect(try fixture.probe("store-write", "2", "10", "unsynced") == "written 2")
        #expect(try store.read(ProbeRecord.self).number == 2)
    }

    @Test func aProgramWhoseSlotIsRemovedIsLockedOut() throws {
        let (removed, service) = try addedService()
        let (kept, other) = try addedService()
        try service.write(ProbeRecord(number: 1))
        #expect(try other.read(ProbeRecord.self).number == 1)
        let report = try person.vault.removeSlot(id: removed, keeping: [])
        #expect(report.removed.map(\.id) == [removed] && report.kept.map(\.id).contains(kept))
        #expect(try person.rotate().isCompleted)
        #expect(code { try service.write(ProbeRecord(number: 666)) } == .locked)
        #expect(try other.read(ProbeRecord.self).number == 1)
        #expect(try other.write(ProbeRecord(number: 2)) == 2)
        #expect(try person.read(ProbeRecord.self).number == 2)
        // Blobs that it can still seal under its old key are of a past epoch.
        #expect(code { _ = try service.read(ProbeRecord.self) } == .locked)
    }

    @Test func blobsPlantedByARemovedProgramAreRefused() throws {
        let (removed, service) = try addedService()
        try service.write(ProbeRecord(number: 1))
        var forgery = try Forgery(service)
        forgery.name = ProbeRecord.recordName
        forgery.schemaVersion = 1
        forgery.sequence = 1000
        forgery.payload = .bytes(Array(#"{"number":666,"text":""}"#.utf8))
        let planted = forgery.blob
        try person.vault.removeSlot(id: removed)
        #expect(try person.rotate().isCompleted)
        try fixture.plant(planted, ProbeRecord.recordName)
        #expect(code { _ = try person.read(ProbeRecord.self) } == .retiredEpoch)
        #expect(try fixture.probe("store-read") == "retiredEpoch")
    }

    @Test func slotsThatNoPersonAddedHaveToBeNamed() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.write(ProbeRecord(number: 1))
        let first = try store.vault.slots().map(\.id)
        // The key file's program adds the first person.
        try store.vault.addSlot(.passphrase(passphrase, .minimum))
        let person = try Self.open(fixture, .passphrase(passphrase))
        #expect { try person.vault.rekey() } throws: { ($0 as? VaultError)?.code == .unvouchedSlots }
        try person.vault.rekey(RekeyOptions(keeping: Set(first)))
        #expect(try store.read(ProbeRecord.self).number == 1)
        #expect(try store.write(ProbeRecord(number: 2)) == 2)
    }
}

/// Tests of missing vaults and compartments.
@Suite(.enabled(if: ProtectedSandbox.isAvailable)) final class MissingVaultTests {
    private let sandbox: ProtectedSandbox
    init() throws { sandbox = try ProtectedSandbox() }
    deinit { sandbox.end() }

    private var person: String { sandbox.fixture.vault + ".person" }

    /// Reopens the store as another program of the user: accepted states are read from the disk.
    private func reopened() throws -> SealedStore {
        try SealedStore(group: sandbox.fixture.group, in: sandbox.fixture.home, creating: false)
    }

    @Test func withoutThePersonsCompartmentOnlyAcceptedNamesAreRead() throws {
        try sandbox.service.write(ProbeRecord(number: 1))
        try sandbox.person.write(Guarded(number: 2))
        #expect(try sandbox.fixture.probe("store-read") == "1 0 1")
        // A name that this user has never accepted, and whose class is no longer recorded.
        var forgery = try Forgery(sandbox.service)
        forgery.name = "unknown"
        forgery.schemaVersion = 1
        forgery.payload = .bytes(Array(#"{"number":3,"text":""}"#.utf8))
        try sandbox.fixture.plant(forgery.blob, "unknown")
        unlink(person)
        let store = try reopened()
        #expect(try store.read(ProbeRecord.self).number == 1)
        #expect(code { _ = try store.read(ProbeRecord.self, named: "unknown") } == .vaultMissing)
        #expect(code { _ = try store.read(Guarded.self) } != nil)
    }

    @Test func withoutThePersonsCompartmentNothingOfTheVaultIsChanged() throws {
        try sandbox.service.write(ProbeRecord(number: 1))
        unlink(person)
        let before = try SystemFile.read(sandbox.fixture.vault)
        let store = try reopened()
        #expect(code { try store.rotate() } == .vaultMissing)
        #expect(try SystemFile.read(sandbox.fixture.vault) == before)
    }

    @Test func aCompartmentThatComesBackIsTaken() throws {
        try sandbox.person.write(Guarded(number: 2))
        let bytes = try SystemFile.read(person)
        unlink(person)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } != nil)
        try SystemFile.write(person, bytes)
        #expect(try sandbox.person.read(Guarded.self).number == 2)
    }

    @Test func aVaultThatIsGoneIsMissingAndNotMadeAgain() throws {
        try sandbox.service.write(ProbeRecord(number: 1))
        let directory = sandbox.fixture.place.path("Vaults/\(sandbox.fixture.group)")
        try FileTree.remove(directory)
        #expect(code { _ = try reopened() } == .vaultMissing)
        #expect(code { _ = try sandbox.fixture.open() } == .vaultMissing)
        #expect(!SystemFile.exists(sandbox.fixture.vault))
        #expect(code { try sandbox.service.write(ProbeRecord(number: 2)) } == .vaultMissing)
    }
}
