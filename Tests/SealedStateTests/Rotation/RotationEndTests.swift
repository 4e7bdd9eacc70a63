import Sealing
import TestSupport
import Testing

@testable import KeyVault
@testable import SealedState

/// Tests of the conditions under which a rotation reports its completion.
struct RotationEndTests {
    let yard: RotationYard

    init() throws { yard = try RotationYard() }

    @Test func fewerThanThreeWalksAreThree() throws {
        try yard.write(1)
        let report = try yard.rotate { $0.maximumPasses = 1 }
        #expect((report.isCompleted, report.passes) == (true, 3))
    }

    // walks:     1 ....... 2 ....... 3 ....... 4 (clean), wait; no walk is left
    // a member:  .. plant ... plant ...
    @Test func aWalkFromBeforeTheWaitForWritersIsNotTheLast() throws {
        try yard.write(1)
        let report = try yard.store.rotate(yard.options { $0.maximumPasses = 4 }) { progress in
            if progress.done == 0, progress.pass < 3 { try? yard.plantStream("s\(progress.pass)", [1]) }
        }
        #expect((report.isCompleted, report.passes, report.resealed) == (false, 4, 3))
        #expect(try yard.store.rotationStatus().minimumEpoch == 1)
        #expect(try yard.rotate().isCompleted)
    }

    // As after a merge of a backup with later epochs: the vault rotates again, beyond this rotation's target.
    @Test func aRotationThatWasOvertakenIsNotCompleted() throws {
        try yard.write(1)
        let vault = yard.store.vault
        let report = try yard.store.rotate(yard.options()) { progress in
            guard progress.pass == 3 else { return }
            _ = try? vault.change(.rotationBegun) { draft throws(VaultError) in
                try draft.service.beginEpoch(
                    .afterFirstUnlock, vaultID: draft.vaultID, at: draft.now, path: draft.place.path)
            }
        }
        #expect(try vault.activeKey().epoch == 3)
        #expect((report.isCompleted, report.epoch) == (false, 2))
        let next = try yard.rotate()
        #expect((next.isCompleted, next.epoch, next.resealed) == (true, 3, 1))
    }

    @Test func theVaultSaysWhetherARotationIsCompleted() throws {
        let vault = yard.store.vault
        #expect(try !vault.completeRotation(of: .afterFirstUnlock, to: 2))
        #expect(try vault.beginRotation(of: .afterFirstUnlock) == 2)
        #expect(try !vault.completeRotation(of: .afterFirstUnlock, to: 3))
        #expect(try vault.completeRotation(of: .afterFirstUnlock, to: 2))
        // Another process has completed it, and begun the next.
        #expect(try vault.beginRotation(of: .afterFirstUnlock) == 3)
        #expect(try vault.completeRotation(of: .afterFirstUnlock, to: 2))
    }
}
