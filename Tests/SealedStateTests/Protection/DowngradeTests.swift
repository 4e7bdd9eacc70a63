import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of records of the class *after first unlock* under names that are *when unlocked*.
@Suite(.enabled(if: ProtectedSandbox.isAvailable)) final class DowngradeTests {
    private let sandbox: ProtectedSandbox

    init() throws {
        sandbox = try ProtectedSandbox()
        try sandbox.person.write(Guarded(number: 1))
    }

    deinit { sandbox.end() }

    /// Creates a blob under the key that every service of the group has.
    private func forged(_ flags: BlobFlags = [], sequence: UInt64 = 2) throws -> [UInt8] {
        var forgery = try Forgery(sandbox.service)
        forgery.name = Guarded.recordName
        forgery.sequence = sequence
        forgery.flags = flags
        let isDeletion = flags.contains(.tombstone)
        (forgery.schemaVersion, forgery.codec) = isDeletion ? (0, .raw) : (1, .json)
        forgery.payload = .bytes(isDeletion ? [] : Array(#"{"number":666}"#.utf8))
        return forgery.blob
    }

    private func expectRefused(_ store: SealedStore) throws {
        let error = try #require(refusal { _ = try store.read(Guarded.self) })
        #expect(error.code == .downgraded)
        #expect(code { _ = try store.read(Unguarded.self) } == .downgraded)
        #expect(try store.list().first { $0.name == Guarded.recordName }?.rejection?.code == .downgraded)
    }

    @Test(arguments: [BlobFlags(), .tombstone])
    func aServiceWithWriteAccessCannotReplaceARecordOfThePersons(flags: BlobFlags) throws {
        let planted = try forged(flags)
        try sandbox.fixture.plant(planted, Guarded.recordName)
        try expectRefused(sandbox.person)
        try expectRefused(sandbox.service)
        // The next write of a person exceeds its sequence, and keeps it as evidence.
        #expect(try sandbox.person.write(Guarded(number: 2)) == 3)
        #expect(try sandbox.person.read(Guarded.self).number == 2)
        let kept = try SystemFile.names(sandbox.fixture.quarantine).filter { $0.hasSuffix(".sealed") }
        #expect(kept.count == 1)
        let blob = try SystemFile.read("\(sandbox.fixture.quarantine)/\(kept.first ?? "")")
        #expect(blob == planted)
    }

    @Test func anotherProcessRefusesItToo() throws {
        try sandbox.fixture.plant(forged(), Guarded.recordName)
        for asPerson in [true, false] {
            let child = try sandbox.session(asPerson: asPerson)
            #expect(try child.ask("read \(Guarded.recordName)") == "downgraded")
            _ = try child.finish()
        }
    }

    @Test func whileLockedNoServiceReplacesOrDeletesAListedName() throws {
        let before = try sandbox.fixture.blob(Guarded.recordName)
        #expect(code { try sandbox.service.write(Unguarded(number: 2)) } == .downgraded)
        #expect(code { try sandbox.service.update(Unguarded.self) { $0.number = 2 } } == .downgraded)
        #expect(code { try sandbox.service.delete(Unguarded.self) } == .locked)
        #expect(code { try sandbox.service.purge(named: Guarded.recordName) } == .locked)
        #expect(try sandbox.fixture.blob(Guarded.recordName) == before)
    }

    private func lowering(_ number: Int) -> RecordPayload {
        RecordPayload(
            Data(#"{"number":\#(number)}"#.utf8), codec: .json, schemaVersion: 1, notAfter: 0,
            protection: .afterFirstUnlock, mayLowerClass: true)
    }

    /// A type's class is not a person's decision: any daemon of an unlocked user has one.
    @Test func aTypeOfTheLowerClassKeepsTheClassOfTheName() throws {
        try sandbox.unlock()
        #expect(try sandbox.service.write(Unguarded(number: 2)) == 2)
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(try sandbox.service.update(Unguarded.self) { $0.number = 3 } == 3)
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(try sandbox.person.read(Guarded.self).number == 3)
        try sandbox.lock()
        #expect(code { try sandbox.service.write(Unguarded(number: 4)) } == .downgraded)
    }

    // another: has the lock ....................................... ends
    // service: not listed, waits for the lock ........................... looks: listed, writes nothing
    // person:  ............................ lists the name, waits for the lock
    @Test func aNameThatIsListedWhileAServiceWaitsIsRefusedToIt() throws {
        let (person, service) = (sandbox.person, sandbox.service)
        let place = try person.places.place("late")
        let holder = try ChildProcess(
            "sealed-probe", ["lock", sandbox.fixture.container, ".sealedstate.lock", "whole", "exclusive", "1000"])
        #expect(try holder.readLine() == "held")
        let outcomes = try concurrently(3) { index -> StoreError.Code? in
            switch index {
            case 0: return code { try service.write(Unguarded(number: 1), named: "late") }
            case 1:
                usleep(50_000)
                return code { try person.write(Guarded(number: 2), named: "late") }
            default:
                while !person.reader.keys.isProtected(place) { usleep(1000) }
                holder.kill(SIGKILL)
                return nil
            }
        }
        #expect(try outcomes.map { try $0.get() } == [.downgraded, nil, nil])
        #expect(try person.read(Guarded.self, named: "late").number == 2)
        #expect(try sandbox.header("late").sequence == 1)
    }

    @Test func aRefusedStatementTakesNoProtectionAway() throws {
        let refused = code {
            try sandbox.person.write(payload: lowering(2), named: Guarded.recordName, onlyIf: .sequence(77))
        }
        #expect(refused == .conflict)
        #expect(code { try sandbox.service.write(payload: lowering(2), named: Guarded.recordName) } == .downgraded)
        #expect(code { try sandbox.service.write(Unguarded(number: 2)) } == .downgraded)
    }

    @Test func aPersonWhoHasTheVaultUnlockedMayLowerAName() throws {
        try sandbox.unlock()
        #expect(try sandbox.service.write(payload: lowering(2), named: Guarded.recordName) == 2)
        #expect(try sandbox.protection() == .afterFirstUnlock)
        try sandbox.lock()
        #expect(try sandbox.service.read(Unguarded.self).number == 2)
        #expect(try sandbox.service.write(Unguarded(number: 3)) == 3)
    }

    @Test func aNameThatWasRefusedToAServiceStaysWithItsValue() throws {
        try sandbox.fixture.plant(forged(), Guarded.recordName)
        #expect(code { try sandbox.service.write(Unguarded(number: 3)) } == .downgraded)
        #expect(code { try sandbox.service.delete(Unguarded.self) } == .locked)
    }

    @Test func otherNamesOfTheSameServiceAreNotAffected() throws {
        #expect(try sandbox.service.write(Unguarded(number: 1), named: "other") == 1)
        #expect(try sandbox.person.read(Unguarded.self, named: "other").number == 1)
    }

    /// The new key does not vouch for blobs that readers refuse, and the rotation continues.
    @Test func aRotationDoesNotResealADowngradedBlob() throws {
        let planted = try forged()
        try sandbox.fixture.plant(planted, Guarded.recordName)
        try sandbox.person.write(ProbeRecord(number: 1))
        let report = try sandbox.person.rotate()
        #expect(report.isCompleted && report.resealed == 1)
        #expect(report.left.map(\.code) == [.downgraded])
        #expect(try sandbox.fixture.blob(Guarded.recordName) == planted)
    }

    @Test func aClassThatIsNotStatedIsThatOfTheName() throws {
        let payload = {
            RecordPayload(
                Data(#"{"number":5}"#.utf8), codec: .json, schemaVersion: 1, notAfter: 0, protection: nil)
        }
        #expect(code { try sandbox.service.write(payload: payload(), named: Guarded.recordName) } == .locked)
        #expect(try sandbox.person.write(payload: payload(), named: Guarded.recordName) == 2)
        #expect(try sandbox.protection() == .whenUnlocked)
        // A service opens this vault as well, so it may write a new name.
        #expect(try sandbox.person.write(payload: payload(), named: "new") == 1)
        #expect(try sandbox.protection("new") == .afterFirstUnlock)
    }

    @Test func aVaultThatOnlyPersonsOpenProtectsNewNames() throws {
        let fixture = try StoreFixture()
        let identity = try Identity.random()
        let store = try SealedStore(
            group: fixture.group, in: fixture.home, unlockingWith: .identity(identity), options: StoreOptions())
        let payload = RecordPayload(
            Data(#"{"number":5}"#.utf8), codec: .json, schemaVersion: 1, notAfter: 0, protection: nil)
        try store.write(payload: payload, named: "new")
        let id = try UnverifiedHeader(parsing: fixture.blob("new")).claimed.keyID
        #expect(store.vault.keyring.protection(of: id) == .whenUnlocked)
    }

    // MARK: A list of names that is older than a blob

    /// The ways in which a person uses a record whose name the restored list does not contain.
    enum Use: CaseIterable, Sendable { case write, writeAsLowerType, update, rotate, delete }

    /// Without the tag the next blob of a service would be read as the record, and further writes would keep its class.
    @Test(arguments: Use.allCases) func aNameThatARestoredListLacksIsListedAgain(_ use: Use) throws {
        let list = "\(sandbox.fixture.home.vaultsPath)/\(sandbox.fixture.group)/vault.person"
        let older = try SystemFile.read(list)
        try sandbox.person.write(Late(number: 1))
        try SystemFile.write(list, older)
        _ = try Vault.accept(
            AccessGroup(sandbox.fixture.group), in: sandbox.fixture.home, with: .identity(sandbox.identity))
        let person = try SealedStore(
            group: sandbox.fixture.group, in: sandbox.fixture.home, unlockingWith: .identity(sandbox.identity))
        #expect(try !person.vault.isListed(record: Late.recordName, in: person.vault.currentKeyring()))
        switch use {
        case .write: try person.write(Plain(number: 2))
        case .writeAsLowerType: try person.write(Lower(number: 2))
        case .update: try person.update(Plain.self) { $0.number += 1 }
        case .rotate: #expect(try person.rotate().isCompleted)
        case .delete: try person.delete(Plain.self)
        }
        #expect(try person.vault.isListed(record: Late.recordName, in: person.vault.currentKeyring()))
        #expect(try sandbox.protection(Late.recordName) == .whenUnlocked)
        _ = try sandbox.service.vault.currentKeyring()
        #expect([.downgraded, .locked].contains(code { try sandbox.service.write(Lower(number: 666)) }))
    }
}

private struct Late: SealedRecord {
    static let recordName = "late"
    static let schemaVersion = 1
    static let protection = RecordProtection.whenUnlocked
    var number: Int
}

private struct Plain: SealedRecord {
    static let recordName = Late.recordName
    static let schemaVersion = 1
    var number: Int
}

private struct Lower: SealedRecord {
    static let recordName = Late.recordName
    static let schemaVersion = 1
    static let protection = RecordProtection.afterFirstUnlock
    var number: Int
}
