import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct SlotSearchTests {
    private let sandbox = SlotSandbox()

    /// Returns a passphrase slot that states other costs than its real ones.
    private func slot(
        _ passphrase: Passphrase, id: UInt32, stating costs: (passes: UInt32, memoryKiB: UInt32)
    ) throws -> KeySlot {
        let slot = try sandbox.slot(PassphraseMaker(passphrase: passphrase, costs: .minimum), id: id)
        var writer = ByteWriter()
        writer.append(costs.passes)
        writer.append(costs.memoryKiB)
        // The offset is the sum of preamble and size (24), public key (32) and salt (16).
        return try #require(try slot.changing(72, to: writer.bytes))
    }

    @Test(
        arguments: [
            (0, 8192), (33, 8192), (UInt32.max, 8192), (1, 0), (1, 8191), (1, 1_048_577), (1, 1_073_741_824),
            (1, UInt32.max), (UInt32.max, UInt32.max),
        ] as [(UInt32, UInt32)])
    func costsBeyondTheBoundsAreRefusedBeforeAnythingIsAllocated(passes: UInt32, memoryKiB: UInt32) throws {
        let own = try Passphrase("one")
        let opener = PassphraseOpener(passphrase: own)
        let slot = try slot(own, id: 1, stating: (passes, memoryKiB))
        // If the slot had been tried, the error for a TiB would be that the memory is not available.
        #expect(throws: CryptoError(.parameterOutOfRange, "Argon2id")) { try opener.work(for: slot.parameters[...]) }
        #expect(throws: CryptoError(.parameterOutOfRange, "Argon2id")) {
            _ = try opener.holder(parameters: slot.parameters[...], vaultID: sandbox.vaultID)
        }
        #expect(sandbox.search([slot]).failure(with: [opener]) == .corrupt)
    }

    @Test func aSlotThatCannotBeTriedDoesNotHideTheOneThatOpens() throws {
        let own = try Passphrase("one")
        let bad = try slot(own, id: 1, stating: (0, 0))
        let good = try sandbox.slot(PassphraseMaker(passphrase: own, costs: .minimum), id: 2)
        let opener = PassphraseOpener(passphrase: own)
        #expect(try sandbox.search([bad, good]).opened(with: [opener]) == 2)
        #expect(try sandbox.search([good, bad]).opened(with: [opener]) == 2)
    }

    @Test func aSlotThatCouldNotBeTriedIsReportedWhenNoOtherOpens() throws {
        let bad = try slot(Passphrase("one"), id: 1, stating: (0, 0))
        let other = try sandbox.slot(PassphraseMaker(passphrase: Passphrase("two"), costs: .minimum), id: 2)
        let opener = PassphraseOpener(passphrase: try Passphrase("one"))
        #expect(sandbox.search([bad, other]).failure(with: [opener]) == .corrupt)
        #expect(sandbox.search([other]).failure(with: [opener]) == .wrongPassphrase)
    }

    @Test func allSlotsTogetherCostNoMoreThanOneMay() throws {
        let counter = CountingOpener(derives: false)
        let most = try slot(Passphrase("x"), id: 1, stating: (32, 1_048_576))
        let half = try slot(Passphrase("x"), id: 2, stating: (16, 1_048_576))
        let more = try slot(Passphrase("x"), id: 3, stating: (17, 1_048_576))
        #expect(sandbox.search([most]).failure(with: [counter]) == .wrongPassphrase)
        #expect(sandbox.search([half, half]).failure(with: [counter]) == .wrongPassphrase)
        #expect(counter.tried == [SlotWork.maximum.passKiB] + Array(repeating: SlotWork.maximum.passKiB / 2, count: 2))
        #expect(sandbox.search([half, more]).failure(with: [counter]) == .tooCostly)
        #expect(sandbox.search(Array(repeating: most, count: 32)).failure(with: [counter]) == .tooCostly)
        #expect(counter.tried.count == 5)
    }

    @Test func cheapSlotsAreTriedFirstSoThatPlantedOnesCostNothing() throws {
        let own = try Passphrase("one")
        let planted = try (0..<20).map { try slot(Passphrase("x"), id: UInt32(10 + $0), stating: (32, 1_048_576)) }
        let good = try sandbox.slot(PassphraseMaker(passphrase: own, costs: .minimum), id: 2)
        #expect(try sandbox.search(planted + [good]).opened(with: [PassphraseOpener(passphrase: own)]) == 2)
    }

    @Test func memoryThatCannotBeHadIsReportedWhenNoOtherSlotOpens() throws {
        let slot = try slot(Passphrase("x"), id: 1, stating: (1, 8192))
        let starved = CountingOpener(derives: true)
        #expect(sandbox.search([slot]).failure(with: [starved]) == .outOfMemory)
        let own = try Passphrase("one")
        let good = try sandbox.slot(PassphraseMaker(passphrase: own, costs: .minimum), id: 2)
        #expect(try sandbox.search([slot, good]).opened(with: [starved, PassphraseOpener(passphrase: own)]) == 2)
    }

    @Test func ofSeveralKeysOfAnIdentityAnyOpens() throws {
        let (old, new) = (try Identity.random(), try Identity.random())
        let both = try Identity(old.keys + new.keys)
        let slot = try sandbox.slot(RecipientMaker(recipient: new.recipient, isUnattended: false), id: 4)
        #expect(try sandbox.search([slot]).opened(with: both.keys.map(RecipientOpener.init)) == 4)
        #expect(sandbox.search([slot]).failure(with: old.keys.map(RecipientOpener.init)) == .wrongIdentity)
    }

    @Test func noMoreThanEightPassphraseSlotsAreTriedAndOneOfABackup() throws {
        let slots = try (1...20).map { try slot(Passphrase("x"), id: UInt32($0), stating: (2, 19456)) }
        let counter = CountingOpener(derives: false)
        #expect(sandbox.search(slots).failure(with: [counter]) == .wrongPassphrase)
        #expect(counter.tried.count == 8)
        var backup = sandbox.search(slots)
        backup.isBackup = true
        #expect(backup.failure(with: [counter]) == .wrongPassphrase)
        #expect(counter.tried.count == 9)
    }

    @Test func withoutACredentialTheVaultIsLockedAndNamesItsOpeners() throws {
        let slots = try SlotSubject.all.map { try sandbox.slot($0.maker) }
        let withoutKeyFile = sandbox.search(slots.filter { $0.kind != .keyFile })
        #expect(withoutKeyFile.failure(with: [KeyTextSlot(.keyFile, key: .random(count: 32))]) == .wrongKeyFile)
        do throws(VaultError) {
            _ = try withoutKeyFile.open(with: [])
            Issue.record("opened")
        } catch {
            #expect(error.code == .locked)
            #expect(withoutKeyFile.kinds == "passphrase, system credential or identity")
            #expect(error.reason.contains(withoutKeyFile.kinds))
        }
    }
}
