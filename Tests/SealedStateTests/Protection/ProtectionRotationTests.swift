import FoundationEssentials
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of rotations with blobs of the class *when unlocked*.
@Suite(.enabled(if: ProtectedSandbox.isAvailable)) final class ProtectionRotationTests {
    private let sandbox: ProtectedSandbox

    init() throws {
        sandbox = try ProtectedSandbox()
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.person.write(ProbeRecord(number: 2))
    }

    deinit { sandbox.end() }

    private func keys() throws -> [String] {
        try sandbox.service.rotationStatus().keys.map { "\($0.epoch) \($0.protection) \($0.state)" }
    }

    @Test func aPersonsRotationResealsBothClasses() throws {
        let report = try sandbox.person.rotate()
        #expect(report.isCompleted && report.resealed == 2 && !report.needsUnlocking)
        #expect(try sandbox.protection() == .whenUnlocked)
        #expect(try sandbox.protection(ProbeRecord.recordName) == .afterFirstUnlock)
        #expect(try [sandbox.header().epoch, sandbox.header(ProbeRecord.recordName).epoch] == [2, 2])
        #expect(try sandbox.person.read(Guarded.self).number == 1)
        #expect(try sandbox.person.write(Guarded(number: 5)) == 2)
        let status = try sandbox.person.rotationStatus()
        #expect(status.activeEpoch == 2)
        #expect(status.keys.filter { $0.state == .active }.map(\.blobCount) == [1, 1])
    }

    @Test func theOldKeysOfBothClassesMayBeDestroyed() throws {
        try sandbox.person.rotate()
        // The other program notices at its next check.
        _ = try sandbox.service.write(ProbeRecord(number: 3))
        for key in try sandbox.person.rotationStatus().keys where key.epoch == 1 {
            #expect(key.obstacles == [])
            try sandbox.person.destroyKey(key.id)
        }
        #expect(try sandbox.person.read(Guarded.self).number == 1)
    }

    // service:  rotate: 1 -> 2, completed for its class ............................ rotate: the other class
    // person:   ................................................ read, write, unlock
    @Test func aRotationOfOneClassDoesNotWaitForTheOther() throws {
        let report = try sandbox.service.rotate()
        #expect(!report.isCompleted && report.needsUnlocking && report.resealed == 1)
        #expect((report.epoch, report.whenUnlockedEpoch) == (2, nil))
        #expect(report.left.map(\.code) == [.locked])
        let vault = sandbox.service.vault
        #expect(try vault.rotationState(of: .afterFirstUnlock).minimumEpoch == 2)
        #expect(try vault.rotationState(of: .whenUnlocked).completed == 0)
        #expect(try !sandbox.service.rotationStatus().isRotating)
        #expect(try sandbox.header().epoch == 1)
        #expect(
            try keys() == [
                "1 afterFirstUnlock decryptOnly", "1 whenUnlocked active", "2 afterFirstUnlock active",
            ])
        // The locked class continues under its own key.
        #expect(try sandbox.person.read(Guarded.self).number == 1)
        #expect(try sandbox.person.write(Guarded(number: 2)) == 2)
        #expect(try sandbox.header().epoch == 1)
        try sandbox.unlock()
        let last = try sandbox.service.rotate()
        #expect(last.isCompleted && !last.needsUnlocking && last.resealed == 2)
        #expect((last.epoch, last.whenUnlockedEpoch) == (3, 2))
        #expect(try [sandbox.header().epoch, sandbox.header(ProbeRecord.recordName).epoch] == [2, 3])
        #expect(try sandbox.service.read(Guarded.self).number == 2)
        #expect(try vault.rotationState(of: .whenUnlocked).minimumEpoch == 2)
    }

    @Test func eachClassRefusesItsOwnRetiredEpochs() throws {
        let open = try sandbox.fixture.blob(ProbeRecord.recordName)
        let guarded = try sandbox.fixture.blob(Guarded.recordName)
        try sandbox.service.rotate()
        try sandbox.fixture.plant(open, ProbeRecord.recordName)
        // A reader on a hot path checks the vault once in a second.
        _ = try sandbox.person.vault.currentKeyring()
        #expect(code { _ = try sandbox.person.read(ProbeRecord.self) } == .retiredEpoch)
        #expect(try sandbox.person.read(Guarded.self).number == 1)
        try sandbox.person.rotate()
        try sandbox.fixture.plant(guarded, Guarded.recordName)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } == .retiredEpoch)
    }

    @Test func lockedBlobsPreventDestroyingOnlyTheirOwnKey() throws {
        _ = try sandbox.person.vault.beginRotation(of: .whenUnlocked)
        try sandbox.service.rotate()
        let keys = try sandbox.service.rotationStatus().keys
        let own = try #require(keys.first { $0.epoch == 1 && $0.protection == .whenUnlocked })
        let other = try #require(keys.first { $0.epoch == 1 && $0.protection == .afterFirstUnlock })
        #expect(own.obstacles.contains(.lockedBlobs(1)))
        #expect(!other.obstacles.contains { if case .unknownFiles = $0 { true } else { false } })
        #expect(!other.obstacles.contains(.lockedBlobs(1)))
        #expect(code { try sandbox.service.destroyKey(own.id) } == .keyInUse)
        // Its key is in the compartment of persons.
        #expect(code { try sandbox.service.destroyKey(own.id, forcedByName: true) } == .locked)
        #expect(code { try sandbox.person.destroyKey(own.id, forcedByName: true) } == nil)
        #expect(code { _ = try sandbox.person.read(Guarded.self) } == .unknownKey)
    }

    @Test func aLockThatComesBetweenTwoWalksStopsOnlyThatClass() throws {
        try sandbox.unlock()
        var options = RotationOptions()
        options.durability = .unsynced
        let lock = { [sandbox] in try? sandbox.lock() }
        var isLocked = false
        let report = try sandbox.service.rotate(options) { progress in
            if !isLocked { lock() }
            isLocked = true
            _ = progress
        }
        #expect(!report.isCompleted && report.needsUnlocking)
        #expect(try sandbox.header(ProbeRecord.recordName).epoch == 2)
        try sandbox.unlock()
        #expect(try sandbox.service.rotate(options).isCompleted)
    }

    @Test func aProcessThatMayNotUnlockLeavesTheRestToOneThatMay() throws {
        let service = try sandbox.session(asPerson: false)
        let person = try sandbox.session(asPerson: true)
        #expect(try service.ask("rotate") == "locked")
        #expect(try person.ask("rotate") == "completed")
        #expect(try person.ask("read \(Guarded.recordName)") == "1")
        for child in [service, person] { _ = try child.finish() }
        #expect(try sandbox.header().epoch == 2)
    }
}
