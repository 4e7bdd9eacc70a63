import AppGroups
import FoundationEssentials
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of records of the class *when unlocked*, with a person's credential, without one, and after locking.
@Suite(.enabled(if: ProtectedSandbox.isAvailable)) final class ProtectionTests {
    private let sandbox: ProtectedSandbox

    init() throws { sandbox = try ProtectedSandbox() }
    deinit { sandbox.end() }

    // MARK: Locked

    @Test func aPersonsCredentialAloneIsEnough() throws {
        #expect(try sandbox.person.write(Guarded(number: 1)) == 1)
        #expect(try sandbox.person.write(Guarded(number: 2)) == 2)
        #expect(try sandbox.person.read(Guarded.self) == Guarded(number: 2))
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(try sandbox.header().epoch == 1)
    }

    @Test func everyCallWithoutOneSaysLockedAndChangesNothing() throws {
        try sandbox.person.write(Guarded(number: 1))
        let before = try sandbox.fixture.blob(Guarded.recordName)
        let service = sandbox.service
        #expect(code { _ = try service.read(Guarded.self) } == .locked)
        #expect(code { try service.write(Guarded(number: 2)) } == .locked)
        #expect(code { try service.update(Guarded.self) { $0.number = 3 } } == .locked)
        #expect(code { try service.delete(Guarded.self) } == .locked)
        #expect(try service.list().first { $0.name == Guarded.recordName }?.rejection?.code == .locked)
        #expect(code { try service.write(Guarded(number: 1), named: "new") } == .locked)
        // A program that has the record in the other class would lower the class.
        #expect(code { try service.write(Unguarded(number: 2)) } == .downgraded)
        #expect(try sandbox.fixture.blob(Guarded.recordName) == before)
        #expect(!SystemFile.exists(sandbox.fixture.file("new")))
        #expect(try sandbox.fixture.files().filter { $0.contains("/Quarantine/") } == [])
    }

    @Test func theOtherClassGoesOn() throws {
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.service.write(ProbeRecord(number: 5))
        #expect(try sandbox.service.read(ProbeRecord.self).number == 5)
        #expect(try sandbox.protection(ProbeRecord.recordName) == .afterFirstUnlock)
    }

    @Test func theAdviceIsToUnlock() throws {
        try sandbox.person.write(Guarded(number: 1))
        let error = try #require(refusal { _ = try sandbox.service.read(Guarded.self) })
        #expect(error.advice.contains("sealctl vault unlock"))
        #expect((error.cause as? VaultError)?.code == .locked)
    }

    // MARK: Damage

    /// A flipped bit in each of key id, epoch, format, suite, kind, flags, writer, codec and the reserved bytes.
    @Test(arguments: [48, 12, 4, 5, 6, 7, 88, 104, 105]) func aFlippedBitStopsNoWriterWhoHasTheKey(
        _ offset: Int
    ) throws {
        try sandbox.person.write(Guarded(number: 1))
        var blob = try sandbox.fixture.blob(Guarded.recordName)
        blob[offset] ^= 0x40
        try sandbox.fixture.plant(blob, Guarded.recordName)
        #expect(code { try sandbox.service.write(Guarded(number: 2)) } == .locked)
        #expect(try sandbox.fixture.blob(Guarded.recordName) == blob)
        #expect(try sandbox.person.write(Guarded(number: 2)) == 2)
        #expect(try sandbox.person.read(Guarded.self).number == 2)
        #expect(try sandbox.protection() == .whenUnlocked)
    }

    // MARK: Unlocking and locking

    @Test func anUnlockedVaultServesEverybodyAndALockedOneNobody() throws {
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.unlock()
        #expect(try sandbox.service.read(Guarded.self).number == 1)
        #expect(try sandbox.service.update(Guarded.self) { $0.number += 1 } == 2)
        #expect(try sandbox.service.list().first?.provenance?.sequence == 2)
        try sandbox.lock()
        for store in [sandbox.person, sandbox.service] {
            #expect(code { _ = try store.read(Guarded.self) } == .locked)
            #expect(code { try store.write(Guarded(number: 9)) } == .locked)
        }
        try sandbox.unlock()
        #expect(try sandbox.service.read(Guarded.self).number == 2)
    }

    @Test func aDeletionIsOfTheClassOfItsRecord() throws {
        try sandbox.person.write(Guarded(number: 1))
        #expect(code { try sandbox.service.delete(Guarded.self) } == .locked)
        try sandbox.person.delete(Guarded.self)
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } == .absent)
        #expect(code { _ = try sandbox.service.read(Guarded.self) } == .locked)
        #expect(code { try sandbox.service.purge(named: Guarded.recordName) } == .locked)
        #expect(code { try sandbox.service.write(Guarded(number: 1)) } == .locked)
    }

    @Test func aNameStaysProtectedAfterADeletion() throws {
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.person.delete(Guarded.self)
        try sandbox.person.purge(named: Guarded.recordName)
        #expect(code { try sandbox.service.write(Unguarded(number: 2)) } == .downgraded)
        try sandbox.person.write(Guarded(number: 3))
        #expect(try sandbox.protection() == .whenUnlocked)
    }

    // MARK: A class that changes

    @Test func theNextWriteRaisesARecordToItsTypesClass() throws {
        try sandbox.service.write(Unguarded(number: 2), named: Guarded.recordName)
        #expect(try sandbox.protection() == .afterFirstUnlock)
        #expect(try sandbox.service.read(Guarded.self).number == 2)
        try sandbox.person.update(Guarded.self) { $0.number += 1 }
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(code { _ = try sandbox.service.read(Unguarded.self) } == .locked)
        #expect(try sandbox.person.read(Unguarded.self).number == 3)
    }

    // MARK: Damage that is visible without the key

    @Test func aBlobThatWasMovedIsInTheWrongPlaceAlsoWhileLocked() throws {
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.fixture.plant(sandbox.fixture.blob(Guarded.recordName), "moved")
        #expect(code { _ = try sandbox.service.read(Guarded.self, named: "moved") } == .wrongName)
    }

    @Test(arguments: [(20, StoreError.Code.wrongGroup), (60, .unknownKey), (0, .malformed)])
    func damageThatShowsWithoutTheKeyIsNotLocked(offset: Int, expected: StoreError.Code) throws {
        try sandbox.person.write(Guarded(number: 1))
        var blob = try sandbox.fixture.blob(Guarded.recordName)
        blob[offset] ^= 1
        try sandbox.fixture.plant(blob, Guarded.recordName)
        #expect(code { _ = try sandbox.service.read(Guarded.self) } == expected)
    }

    @Test(arguments: [(70, StoreError.Code.wrongCommitment), (180, .tampered)])
    func damageThatTakesTheKeyShowsOnceUnlocked(offset: Int, expected: StoreError.Code) throws {
        try sandbox.person.write(Guarded(number: 1))
        var blob = try sandbox.fixture.blob(Guarded.recordName)
        blob[offset] ^= 1
        try sandbox.fixture.plant(blob, Guarded.recordName)
        #expect(code { _ = try sandbox.service.read(Guarded.self) } == .locked)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } == expected)
    }

    @Test func aReplayIsRefused() throws {
        try sandbox.person.write(Guarded(number: 1))
        let old = try sandbox.fixture.blob(Guarded.recordName)
        try sandbox.person.write(Guarded(number: 2))
        try sandbox.fixture.plant(old, Guarded.recordName)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } == .replayed)
    }

    @Test func aBlobUnderALostKeyKeepsTheClassFromBeginningAnew() throws {
        try sandbox.service.write(ProbeRecord(number: 1))
        var blob = try sandbox.fixture.blob(ProbeRecord.recordName)
        blob[60] ^= 1
        try sandbox.fixture.plant(blob, "lost")
        #expect(code { try sandbox.person.write(Guarded(number: 1)) } == .orphanedBlobs)
        #expect(try sandbox.person.vault.keySummaries().count == 1)
        #expect(try sandbox.service.write(ProbeRecord(number: 2)) == 2)
    }

    // MARK: Types that state no class

    private struct Plain: SealedRecord {
        static let recordName = Guarded.recordName
        static let schemaVersion = 1
        var number: Int
    }

    @Test func aTypeWithoutAClassFollowsTheVault() throws {
        #expect(try sandbox.person.write(Plain(number: 1)) == 1)
        #expect(try sandbox.protection() == .afterFirstUnlock)
        try sandbox.person.write(Guarded(number: 2))
        // The service asks for no lower class, so it lacks the class of the name.
        #expect(code { try sandbox.service.write(Plain(number: 3)) } == .locked)

        let other = try StoreFixture("group.com.example.persons")
        let identity = try Identity.random()
        _ = try Vault.create(
            AccessGroup(other.group), in: other.home, slots: [.recipient(identity.recipient)],
            openingWith: .identity(identity))
        let store = try SealedStore(group: other.group, in: other.home, unlockingWith: .identity(identity))
        try store.write(Plain(number: 1))
        try store.update(ProbeRecord.self, startingWith: ProbeRecord(number: 1)) { $0.number += 1 }
        try store.write(Unguarded(number: 3), named: "shared")
        func classes() throws -> [ProtectionClass?] {
            try store.list().map { $0.header.flatMap { store.reader.keys.protection(of: $0) } }
        }
        #expect(try store.list().map(\.name) == [Plain.recordName, ProbeRecord.recordName, "shared"].sorted())
        #expect(try classes() == [.whenUnlocked, .whenUnlocked, .afterFirstUnlock])
        // A name keeps its class when a service is added to the vault.
        try store.vault.addSlot(.defaultKeyFile)
        try store.write(Plain(number: 2))
        try store.write(Unguarded(number: 4), named: "shared")
        #expect(try classes() == [.whenUnlocked, .whenUnlocked, .afterFirstUnlock])
        let service = try SealedStore(group: other.group, in: other.home)
        #expect(try service.read(Unguarded.self, named: "shared").number == 4)
        #expect(code { _ = try service.read(Plain.self) } == .locked)
    }

    // MARK: Processes

    @Test func sixteenProcessesMakeOneKey() throws {
        // process 1..16: no key ......... vault's lock, look again, make or go on; then its own record
        let children = try (0..<16).map { _ in try sandbox.session(asPerson: true) }
        for (number, child) in children.enumerated() { try child.write("write \(number) r\(number)\n") }
        for child in children { #expect(try child.readLine() == "written 1") }
        for child in children { _ = try child.finish() }
        #expect(Set(try (0..<16).map { try sandbox.header("r\($0)").keyID }).count == 1)
        #expect(try sandbox.person.vault.keySummaries().map(\.protection) == [.afterFirstUnlock, .whenUnlocked])
        #expect(try sandbox.person.read(Guarded.self, named: "r7").number == 7)
    }

    @Test func aLockInOneProcessReachesTheOthers() throws {
        // person: write  unlock                       lock
        // service:               read  write  ...            read: locked
        let person = try sandbox.session(asPerson: true)
        let service = try sandbox.session(asPerson: false)
        #expect(try person.ask("write 1 r") == "written 1")
        #expect(try service.ask("read r") == "locked")
        #expect(try person.ask("unlock") == "true")
        #expect(try service.ask("read r") == "1")
        #expect(try service.ask("write 2 r") == "written 2")
        #expect(try person.ask("read r") == "2")
        #expect(try service.ask("lock") == "done")
        for child in [person, service] {
            #expect(try child.ask("read r") == "locked")
            #expect(try child.ask("write 3 r") == "locked")
            _ = try child.finish()
        }
    }
}
