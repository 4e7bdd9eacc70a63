import Glibc
import KeyVault
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import SealedState

/// Tests of files that are exchanged during a rotation.
struct RotationSwapTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    private func survey() throws(StoreError) -> [SurveyedBlob] {
        var blobs: [SurveyedBlob] = []
        try BlobSurvey(sandbox.store).visit { blobs.append($0) }
        return blobs
    }

    // rotation:  walk: r0 and s are of epoch 2 ........................................ open, refuse
    // a member:  ............................. puts forgeries of epoch 1 in their places
    @Test func aRetiredBlobThatTakesAPlaceAfterTheWalkIsNotResealed() throws {
        try sandbox.write(1)
        try sandbox.plantStream("s", [1])
        try sandbox.rotate()
        let epoch = try #require(try sandbox.store.vault.beginRotation(of: .afterFirstUnlock))
        let blobs = try survey()
        let forged = try sandbox.forge("r0", sequence: 1000)
        try sandbox.fixture.plant(forged, "r0")
        try sandbox.plantStream("s", [2])
        let options = sandbox.options()
        let resealer = Resealer(
            store: sandbox.store, options: options, throttle: Throttle(options), epochs: [.afterFirstUnlock: epoch])
        var left: [SkippedBlob] = []
        for blob in blobs {
            if case .left(let reason, _) = try resealer.reseal(blob) { left.append(reason) }
        }
        #expect(left.map(\.code) == [.retiredEpoch, .retiredEpoch])
        #expect(left.allSatisfy { !$0.isBlocking })
        #expect(try sandbox.fixture.blob("r0") == forged)
        #expect(try sandbox.header("s").epoch == 1)
    }

    // rotation:  walk 1: s ................ open: damaged ................ walk 2: s, reseal
    // a member:  ......... puts another there ........... puts s back
    @Test func aRefusalIsOfTheBlobThatWasOpenedNotOfTheOneThatWasFound() throws {
        try sandbox.plantStream("s", [1, 2, 3])
        var damaged = sandbox.sealStream([4, 5, 6])
        damaged[damaged.count - 1] ^= 1
        try SystemFile.write(sandbox.fixture.place.path("damaged"), damaged, mode: 0o600)
        let (own, other) = (sandbox.path("s"), sandbox.fixture.place.path("damaged"))
        let report = try sandbox.store.rotate(sandbox.options()) { progress in
            guard progress.pass == 1 else { return }
            _ = (rename(own, other + ".x"), rename(other, own), rename(other + ".x", other))
        }
        #expect(report.isCompleted)
        #expect(try sandbox.header("s").epoch == 2)
        #expect(try sandbox.openStream("s") == [1, 2, 3])
    }

    @Test func aDamagedBlobThatStaysIsTriedOnce() throws {
        var damaged = sandbox.sealStream([4, 5, 6])
        damaged.removeLast()
        try sandbox.plant("s", damaged)
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.passes) == (true, 3))
        #expect(report.left.map(\.isBlocking) == [false])
    }
}
