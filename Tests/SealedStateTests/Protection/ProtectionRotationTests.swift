import FoundationEssentials
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of rotations with blobs of the class *when unlocked*.
@Suite(.enabled(if: ProtectedYard.isAvailable)) final class ProtectionRotationTests {
    private let yard: ProtectedYard

    init() throws {
        yard = try ProtectedYard()
        try yard.person.write(Guarded(number: 1))
        try yard.person.write(ProbeRecord(number: 2))
    }

    deinit { yard.end() }

    private func keys() throws -> [String] {
        try yard.service.rotationStatus().keys.map { "\($0.epoch) \($0.protection) \($0.state)" }
    }

    @Test func aPersonsRotationResealsBothClasses() throws {
        let report = try yard.person.rotate()
        #expect(report.isCompleted && report.resealed == 2 && !report.needsUnlocking)
        #expect(try yard.protection() == .whenUnlocked)
        #expect(try yard.protection(ProbeRecord.recordName) == .afterFirstUnlock)
        #expect(try [yard.header().epoch, yard.header(ProbeRecord.recordName).epoch] == [2, 2])
        #expect(try yard.person.read(Guarded.self).number == 1)
        #expect(try yard.person.write(Guarded(number: 5)) == 2)
        let status = try yard.person.rotationStatus()
        #expect(status.activeEpoch == 2)
        #expect(status.keys.filter { $0.state == .active }.map(\.blobCount) == [1, 1])
    }

    @Test func theOldKeysOfBothClassesMayBeDestroyed() throws {
        try yard.person.rotate()
        // The other program notices at its next check.
        _ = try yard.service.write(ProbeRecord(number: 3))
        for key in try yard.person.rotationStatus().keys where key.epoch == 1 {
            #expect(key.obstacles == [])
            try yard.person.destroyKey(key.id)
        }
        #expect(try yard.person.read(Guarded.self).number == 1)
    }

    // service:  rotate: 1 -> 2, completed for its class ............................ rotate: the other class
    // person:   ................................................ read, write, unlock
    @Test func aRotationOfOneClassDoesNotWaitForTheOther() throws {
        let report = try yard.service.rotate()
        #expect(!report.isCompleted && report.needsUnlocking && report.resealed == 1)
        #expect((report.epoch, report.whenUnlockedEpoch) == (2, nil))
        #expect(report.left.map(\.code) == [.locked])
        let vault = yard.service.vault
        #expect(try vault.rotationState(of: .afterFirstUnlock).minimumEpoch == 2)
        #expect(try vault.rotationState(of: .whenUnlocked).completed == 0)
        #expect(try !yard.service.rotationStatus().isRotating)
        #expect(try yard.header().epoch == 1)
        #expect(
            try keys() == [
                "1 afterFirstUnlock decryptOnly", "1 whenUnlocked active", "2 afterFirstUnlock active",
            ])
        // The locked class continues under its own key.
        #expect(try yard.person.read(Guarded.self).number == 1)
        #expect(try yard.person.write(Guarded(number: 2)) == 2)
        #expect(try yard.header().epoch == 1)
        try yard.unlock()
        let last = try yard.service.rotate()
        #expect(last.isCompleted && !last.needsUnlocking && last.resealed == 2)
        #expect((last.epoch, last.whenUnlockedEpoch) == (3, 2))
        #expect(try [yard.header().epoch, yard.header(ProbeRecord.recordName).epoch] == [2, 3])
        #expect(try yard.service.read(Guarded.self).number == 2)
        #expect(try vault.rotationState(of: .whenUnlocked).minimumEpoch == 2)
    }

    @Test func eachClassRefusesItsOwnRetiredEpochs() throws {
        let open = try yard.fixture.blob(ProbeRecord.recordName)
        let guarded = try yard.fixture.blob(Guarded.recordName)
        try yard.service.rotate()
        try yard.fixture.plant(open, ProbeRecord.recordName)
        // A reader on a hot path checks the vault once in a second.
        _ = try yard.person.vault.currentKeyring()
        #expect(code { _ = try yard.person.read(ProbeRecord.self) } == .retiredEpoch)
        #expect(try yard.person.read(Guarded.self).number == 1)
        try yard.person.rotate()
        try yard.fixture.plant(guarded, Guarded.recordName)
        #expect(code { _ = try yard.person.read(Guarded.self) } == .retiredEpoch)
    }

    @Test func whatIsLockedSpeaksAgainstDestroyingItsOwnKeyOnly() throws {
        _ = try yard.person.vault.beginRotation(of: .whenUnlocked)
        try yard.service.rotate()
        let keys = try yard.service.rotationStatus().keys
        let own = try #require(keys.first { $0.epoch == 1 && $0.protection == .whenUnlocked })
        let other = try #require(keys.first { $0.epoch == 1 && $0.protection == .afterFirstUnlock })
        #expect(own.obstacles.contains(.lockedBlobs(1)))
        #expect(!other.obstacles.contains { if case .unknownFiles = $0 { true } else { false } })
        #expect(!other.obstacles.contains(.lockedBlobs(1)))
        #expect(code { try yard.service.destroyKey(own.id) } == .keyInUse)
        // Its key is in the compartment of persons.
        #expect(code { try yard.service.destroyKey(own.id, forcedByName: true) } == .locked)
        #expect(code { try yard.person.destroyKey(own.id, forcedByName: true) } == nil)
        #expect(code { _ = try yard.person.read(Guarded.self) } == .unknownKey)
    }

    @Test func aLockThatComesBetweenTwoWalksStopsOnlyThatClass() throws {
        try yard.unlock()
        var options = RotationOptions()
        options.durability = .unsynced
        let lock = { [yard] in try? yard.lock() }
        var isLocked = false
        let report = try yard.service.rotate(options) { progress in
            if !isLocked { lock() }
            isLocked = true
            _ = progress
        }
        #expect(!report.isCompleted && report.needsUnlocking)
        #expect(try yard.header(ProbeRecord.recordName).epoch == 2)
        try yard.unlock()
        #expect(try yard.service.rotate(options).isCompleted)
    }

    @Test func aProcessThatMayNotUnlockLeavesTheRestToOneThatMay() throws {
        let service = try yard.session(asPerson: false)
        let person = try yard.session(asPerson: true)
        #expect(try service.ask("rotate") == "locked")
        #expect(try person.ask("rotate") == "completed")
        #expect(try person.ask("read \(Guarded.recordName)") == "1")
        for child in [service, person] { _ = try child.finish() }
        #expect(try yard.header().epoch == 2)
    }
}
