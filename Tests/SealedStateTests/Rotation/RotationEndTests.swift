import Sealing
import TestSupport
import Testing

@testable import KeyVault
@testable import SealedState

/// Tests of the conditions under which a rotation reports its completion.
struct RotationEndTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    @Test func fewerThanThreeWalksAreThree() throws {
        try sandbox.write(1)
        let report = try sandbox.rotate { $0.maximumPasses = 1 }
        #expect((report.isCompleted, report.passes) == (true, 3))
    }

    // walks:     1 ....... 2 ....... 3 ....... 4 (clean), wait; no walk is left
    // a member:  .. plant ... plant ...
    @Test func aWalkFromBeforeTheWaitForWritersIsNotTheLast() throws {
        try sandbox.write(1)
        let report = try sandbox.store.rotate(sandbox.options { $0.maximumPasses = 4 }) { progress in
            if progress.done == 0, progress.pass < 3 { try? sandbox.plantStream("s\(progress.pass)", [1]) }
        }
        #expect((report.isCompleted, report.passes, report.resealed) == (false, 4, 3))
        #expect(try sandbox.store.rotationStatus().minimumEpoch == 1)
        #expect(try sandbox.rotate().isCompleted)
    }

    // As after a merge of a backup with later epochs: the vault rotates again, beyond this rotation's target.
    @Test func aRotationThatWasOvertakenIsNotCompleted() throws {
        try sandbox.write(1)
        let vault = sandbox.store.vault
        let report = try sandbox.store.rotate(sandbox.options()) { progress in
            guard progress.pass == 3 else { return }
            _ = try? vault.change(.rotationBegun) { draft throws(VaultError) in
                try draft.service.beginEpoch(
                    .afterFirstUnlock, vaultID: draft.vaultID, at: draft.now, path: draft.place.path)
            }
        }
        #expect(try vault.activeKey().epoch == 3)
        #expect((report.isCompleted, report.epoch) == (false, 2))
        let next = try sandbox.rotate()
        #expect((next.isCompleted, next.epoch, next.resealed) == (true, 3, 1))
    }

    @Test func theVaultSaysWhetherARotationIsCompleted() throws {
        let vault = sandbox.store.vault
        #expect(try !vault.completeRotation(of: .afterFirstUnlock, to: 2))
        #expect(try vault.beginRotation(of: .afterFirstUnlock) == 2)
        #expect(try !vault.completeRotation(of: .afterFirstUnlock, to: 3))
        #expect(try vault.completeRotation(of: .afterFirstUnlock, to: 2))
        // Another process has completed it, and begun the next.
        #expect(try vault.beginRotation(of: .afterFirstUnlock) == 3)
        #expect(try vault.completeRotation(of: .afterFirstUnlock, to: 2))
    }
}
