import AppGroups
import Glibc
import KeyVault
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of the status of epochs in blobs and programs, and of the destruction of keys.
struct RotationStatusTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    private func oldKeyUse() throws -> KeyUse {
        try #require(try sandbox.store.rotationStatus().keys.first { $0.epoch == 1 })
    }

    @Test func theStatusFollowsARotation() throws {
        try sandbox.write(4)
        try sandbox.plantStream("stream", [1])
        let before = try sandbox.store.rotationStatus()
        #expect(!before.isRotating)
        #expect((before.activeEpoch, before.minimumEpoch, before.began) == (1, 1, nil))
        #expect(before.keys.map(\.state) == [.active])
        #expect(before.keys[0].blobCount == 5)
        #expect(before.keys[0].obstacles == [.active])
        #expect(before.keys[0].id == sandbox.oldKey.id.description)
        #expect(before.keys[0].holders.map(\.pid) == [getpid()])

        let isStopped = Mutex(false)
        #expect(
            code {
                try sandbox.store.rotate(sandbox.options { $0.isCancelled = { isStopped.withLock { $0 } } }) {
                    progress in
                    if progress.resealed == 2 { isStopped.withLock { $0 = true } }
                }
            } == .cancelled)
        let halfway = try sandbox.store.rotationStatus()
        #expect(halfway.isRotating)
        #expect((halfway.activeEpoch, halfway.minimumEpoch, halfway.completed) == (2, 1, nil))
        #expect(halfway.keys.map(\.state) == [.decryptOnly, .active])
        #expect(halfway.keys.map(\.blobCount) == [3, 2])
        #expect(halfway.keys[0].blobs.contains("stream"))
        #expect(halfway.keys[0].obstacles == [.rotationNotCompleted, .blobs(3)])

        try sandbox.rotate()
        let after = try sandbox.store.rotationStatus()
        #expect(!after.isRotating)
        #expect((after.activeEpoch, after.minimumEpoch) == (2, 2))
        #expect(after.completed != nil)
        #expect(after.keys.map(\.blobCount) == [0, 5])
        #expect(after.keys.map(\.mayBeDestroyed) == [true, false])
    }

    @Test func aCopyThatNoReaderTakesStillNeedsItsKey() throws {
        try sandbox.write(1)
        try sandbox.plant("copy", try sandbox.fixture.blob("r0"))
        try sandbox.rotate()
        let key = try oldKeyUse()
        #expect(key.obstacles == [.blobs(1)])
        #expect(key.blobs == ["copy"])
        #expect(code { try sandbox.store.destroyKey(key.id) } == .keyInUse)
        unlink(sandbox.path("copy"))
        try sandbox.store.destroyKey(key.id)
        #expect(try oldKeyUse().state == .destroyed)
    }

    @Test func anUnknownUsePreventsDestroying() throws {
        try sandbox.write(1)
        var newer = try sandbox.fixture.blob("r0")
        newer[Field.format] = 2
        try sandbox.plant("newer", newer)
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect(report.left.map(\.code) == [.unsupportedFormat])
        #expect(try oldKeyUse().obstacles == [.unknownFiles(1)])
        #expect(try sandbox.store.rotationStatus().unknown.map(\.path) == ["newer"])
        #expect(code { try sandbox.store.destroyKey(sandbox.oldKey.id.description) } == .keyInUse)
    }

    @Test func aCopyInQuarantineNeedsItsKey() throws {
        try sandbox.write(1)
        try sandbox.plant("Quarantine/r0.1.sealed", try sandbox.fixture.blob("r0"))
        try sandbox.rotate()
        let key = try oldKeyUse()
        #expect(key.obstacles == [.blobs(1, isInQuarantine: true)])
        #expect((key.blobCount, key.blobs) == (0, []))
        #expect(code { try sandbox.store.destroyKey(key.id) } == .keyInUse)
        unlink(sandbox.path("Quarantine/r0.1.sealed"))
        try sandbox.store.destroyKey(key.id)
    }

    @Test func aContainerInTheTrashNeedsItsKey() throws {
        try sandbox.write(2)
        let registry = GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home)
        let trashed = try #require(try registry.reset())
        let store = try sandbox.fixture.open()
        try store.rotate(sandbox.options())
        let key = try #require(try store.rotationStatus().keys.first { $0.epoch == 1 })
        #expect(key.obstacles.contains(.trashed(2)) && key.blobCount == 0)
        #expect(code { try store.destroyKey(key.id) } == .keyInUse)
        let trash = ContainerTrash(home: sandbox.fixture.home)
        for item in try trash.items() { try trash.delete(item) }
        #expect(!SystemFile.exists(trashed))
        #expect(try store.rotationStatus().keys.first { $0.epoch == 1 }?.obstacles.contains(.trashed(2)) == false)
    }

    @Test func theVaultItselfKeepsAKeyThatIsNotRetired() throws {
        let vault = sandbox.store.vault
        _ = try vault.beginRotation(of: .afterFirstUnlock)
        // Only begun: another process may be resealing.
        #expect(
            vaultCode { () throws(VaultError) in try vault.destroyKey(sandbox.oldKey.id, onlyIfRetired: true) }
                == .keyInUse)
        #expect(try vault.keySummaries().first?.state == .decryptOnly)
    }

    @Test func theVaultItselfKeepsAKeyThatAProgramHolds() throws {
        let holder = try sandbox.child("rotate-hold")
        #expect(try holder.readLine() == "ready")
        try sandbox.rotate()
        let vault = sandbox.store.vault
        #expect(
            vaultCode { () throws(VaultError) in try vault.destroyKey(sandbox.oldKey.id, onlyIfRetired: true) }
                == .keyInUse)
        #expect(try vault.keySummaries().first?.state == .decryptOnly)
        holder.kill(SIGKILL)
        _ = try holder.finish()
        try vault.destroyKey(sandbox.oldKey.id, onlyIfRetired: true)
        #expect(try oldKeyUse().state == .destroyed)
    }

    private func vaultCode(_ body: () throws(VaultError) -> Void) -> VaultError.Code? {
        do throws(VaultError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Programs

    // holder: open, ready .................................. read: looks at the vault
    // we:     ............. rotate, status names it, refused ......................... destroyed
    @Test func aProgramThatStillHoldsTheOldEpochIsNamedAndKeepsItsKey() throws {
        try sandbox.write(1)
        let holder = try sandbox.child("rotate-hold")
        #expect(try holder.readLine() == "ready")
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect(report.holders.map(\.pid) == [holder.pid])
        let key = try oldKeyUse()
        #expect(key.holders.map(\.pid) == [holder.pid])
        #expect(key.holders.first?.executable == builtProduct("sealed-probe"))
        #expect(key.obstacles == [.programs(key.holders)])
        let refused = refusal { try sandbox.store.destroyKey(key.id) }
        #expect(refused?.code == .keyInUse)
        #expect(refused?.reason.contains("\(holder.pid)") == true)
        for _ in 0..<200 where try !oldKeyUse().mayBeDestroyed {
            usleep(20_000)
            try holder.write("r0\n")
            #expect(try holder.readLine() == "2")
        }
        try sandbox.store.destroyKey(key.id)
        try holder.write("r0\n")
        #expect(try holder.readLine() == "2")
    }

    @Test func aProgramThatWasKilledHoldsNothing() throws {
        let holder = try sandbox.child("rotate-hold")
        #expect(try holder.readLine() == "ready")
        try sandbox.rotate()
        #expect(try !oldKeyUse().mayBeDestroyed)
        holder.kill(SIGKILL)
        _ = try holder.finish()
        #expect(try oldKeyUse().mayBeDestroyed)
    }

    @Test func forcedByNameAKeyThatIsHeldIsDestroyed() throws {
        let holder = try sandbox.child("rotate-hold")
        #expect(try holder.readLine() == "ready")
        try sandbox.rotate()
        #expect(code { try sandbox.store.destroyKey(sandbox.oldKey.id.description) } == .keyInUse)
        try sandbox.store.destroyKey(sandbox.oldKey.id.description, forcedByName: true)
        #expect(try oldKeyUse().state == .destroyed)
    }

    // MARK: Destroying

    @Test func aBlobOfADestroyedKeyIsReplacedByTheNextWriteAndKept() throws {
        try sandbox.write(1)
        let old = try sandbox.fixture.blob("r0")
        try sandbox.rotate()
        try sandbox.fixture.plant(old, "r0")
        try sandbox.store.destroyKey(sandbox.oldKey.id.description, forcedByName: true)
        #expect(code { _ = try sandbox.store.openPayload(named: "r0") } == .unknownKey)
        try sandbox.write(1)
        #expect(code { _ = try sandbox.store.openPayload(named: "r0") } == nil)
        let kept = try SystemFile.names(sandbox.fixture.container + "/Quarantine")
        #expect(kept.count { $0.hasSuffix(".sealed") } == 1)
    }

    @Test func theActiveKeyIsNeverDestroyed() throws {
        let id = sandbox.oldKey.id.description
        for isForced in [false, true] {
            #expect(code { try sandbox.store.destroyKey(id, forcedByName: isForced) } == .keyInUse)
        }
        #expect(try sandbox.store.write(ProbeRecord(number: 1)) == 1)
    }

    @Test(arguments: ["", "0", String(repeating: "0", count: 32)])
    func aKeyThatTheVaultDoesNotHaveIsNotFound(_ id: String) throws {
        #expect(code { try sandbox.store.destroyKey(id, forcedByName: true) } == .keyNotFound)
    }

    @Test func aKeyIsDestroyedOnce() throws {
        try sandbox.rotate()
        try sandbox.store.destroyKey(sandbox.oldKey.id.description)
        let generation = sandbox.store.vault.generation
        try sandbox.store.destroyKey(sandbox.oldKey.id.description)
        #expect(sandbox.store.vault.generation == generation)
    }

    @Test func aBlobOfADestroyedKeyIsRefusedAndSaysWhatBecameOfIt() throws {
        try sandbox.write(1)
        let old = try sandbox.fixture.blob("r0")
        try sandbox.rotate()
        try sandbox.store.destroyKey(sandbox.oldKey.id.description)
        try sandbox.fixture.plant(old, "r0")
        let refused = refusal { _ = try sandbox.store.read(ProbeRecord.self, named: "r0") }
        #expect(refused?.code == .unknownKey)
        // Not the message for a key that never existed here.
        #expect(refused?.reason.contains("epoch 1") == true)
        #expect(try sandbox.fixture.probe("store-read", "r0") == "unknownKey")
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.left.map(\.code)) == (true, [.unknownKey]))
    }
}
