import CryptoPrimitives
import Sealing
import Testing

@testable import KeyVault

/// Tests of the rules for every kind of slot, in one table.
@Suite struct SlotConformanceTests {
    private let sandbox = SlotSandbox()
    private let trusted = [UInt8](repeating: 9, count: 32)

    @Test(arguments: SlotSubject.all)
    func opensWithItsCredential(_ subject: SlotSubject) throws {
        let slot = try sandbox.slot(subject.maker)
        #expect(try subject.opener.open(slot, vaultID: sandbox.vaultID).commitment == sandbox.root.commitment)
        #expect(slot.form == .own && slot.kind == subject.maker.kind && slot.reach == subject.maker.reach)
    }

    @Test(arguments: SlotSubject.all)
    func doesNotOpenWithAnotherCredentialOfItsKind(_ subject: SlotSubject) throws {
        let slot = try sandbox.slot(subject.maker)
        #expect(refusal(of: slot, subject.stranger, sandbox.vaultID) == .authenticationFailed)
        #expect(sandbox.search([slot]).failure(with: [subject.stranger]) == subject.mismatch)
    }

    /// A crafted file must not reveal anything about a credential. A slot of another kind is refused like a wrong one.
    @Test(arguments: SlotSubject.all)
    func doesNotOpenWithACredentialOfAnotherKind(_ subject: SlotSubject) throws {
        let slot = try sandbox.slot(subject.maker)
        for other in SlotSubject.all where other.opener.kind != slot.kind {
            #expect(refusal(of: slot, other.opener, sandbox.vaultID) != nil)
            #expect(sandbox.search([slot]).failure(with: [other.opener]) == other.mismatch)
        }
    }

    @Test(arguments: SlotSubject.all)
    func isRefusedWhenItIsAByteShorterOrLonger(_ subject: SlotSubject) throws {
        let good = try sandbox.slot(subject.maker).encoded
        var shorter = Array(good.dropLast())
        shorter[16] &-= 1
        var longer = good + [0]
        longer[16] &+= 1
        for bytes in [shorter, longer, Array(good.prefix(24)), Array(good.prefix(23)), good + [0]] {
            #expect(code { () throws(VaultError) in _ = try parsed(bytes, subject) } == .corrupt)
        }
    }

    @Test(arguments: SlotSubject.all, [KeySlot.Form.own, .resealed])
    func isRefusedWhenAnyBitIsFlipped(_ subject: SlotSubject, _ form: KeySlot.Form) throws {
        var slot = try sandbox.slot(subject.maker, trusting: trusted)
        if form == .resealed { try slot.reseal(sandbox.root, as: .resealed, vaultID: sandbox.vaultID) }
        let good = slot.encoded
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let changed = try? parsed(bad, subject) else { continue }
            #expect(refusal(of: changed, subject.opener, sandbox.vaultID) != nil, "bit \(bit)")
        }
        #expect(refusal(of: slot, subject.opener, sandbox.vaultID) == nil)
    }

    @Test(arguments: SlotSubject.all)
    func isBoundToItsVaultAndToItsOwnFields(_ subject: SlotSubject) throws {
        let good = try sandbox.slot(subject.maker, id: 7, createdAt: 1000)
        let holder = try subject.opener.holder(parameters: good.parameters[...], vaultID: sandbox.vaultID)
        let otherID = try #require(try good.changing(4, to: [8, 0, 0, 0]))
        let otherDate = try #require(try good.changing(8, to: [0xE9, 3]))
        #expect(otherID.id == 8 && otherDate.createdAt == 1001)
        for changed in [otherID, otherDate] {
            #expect(throws: CryptoError(.authenticationFailed, "open slot")) {
                try changed.root(holder, vaultID: sandbox.vaultID)
            }
        }
        #expect(refusal(of: good, subject.opener, SecureRandom.bytes(count: 16)) == .authenticationFailed)
        #expect(throws: Never.self) { try good.root(holder, vaultID: sandbox.vaultID) }
    }

    @Test(arguments: SlotSubject.all)
    func isBoundToItsKindAndReach(_ subject: SlotSubject) throws {
        let good = try sandbox.slot(subject.maker)
        let holder = try subject.opener.holder(parameters: good.parameters[...], vaultID: sandbox.vaultID)
        for kind in SlotKind.allCases {
            for reach in [SlotReach.afterFirstUnlock, .whenUnlocked, .backup] {
                let changed: KeySlot?
                do throws(VaultError) { changed = try good.changing(0, to: [kind.rawValue, reach.rawValue]) } catch {
                    #expect(error.code == .corrupt)
                    continue
                }
                let opens = (try? changed?.root(holder, vaultID: sandbox.vaultID)) != nil
                #expect(opens == (kind == good.kind && reach == good.reach))
            }
        }
    }

    @Test(arguments: SlotSubject.all)
    func doesNotGiveMoreThanItsKindPermits(_ subject: SlotSubject) throws {
        let good = try sandbox.slot(subject.maker)
        #expect(good.kind.permits(good.reach))
        let other: SlotReach = good.reach == .whenUnlocked ? .afterFirstUnlock : .whenUnlocked
        guard !good.kind.permits(other) else { return }
        #expect(code { () throws(VaultError) in _ = try good.changing(1, to: [other.rawValue]) } == .corrupt)
    }

    @Test(arguments: SlotSubject.all)
    func isReadBackAsItWasWritten(_ subject: SlotSubject) throws {
        var slot = try sandbox.slot(subject.maker, trusting: trusted)
        #expect(try parsed(slot.encoded, subject) == slot)
        try slot.reseal(sandbox.root, as: .resealed, vaultID: sandbox.vaultID)
        #expect(try parsed(slot.encoded, subject) == slot)
    }

    @Test(arguments: SlotSubject.all)
    func keepsFieldsOfALaterVersionUnlessTheyAreCritical(_ subject: SlotSubject) throws {
        var slot = try sandbox.slot(subject.maker)
        slot.otherFields = [3, 0, 0, 0, 2, 0, 0, 0, 1, 2]
        #expect(try parsed(slot.encoded, subject) == slot)
        #expect(refusal(of: slot, subject.opener, sandbox.vaultID) == nil)
        slot.otherFields[2] = 1
        let critical = slot.encoded
        #expect(code { () throws(VaultError) in _ = try parsed(critical, subject) } == .unsupported)
        slot.otherFields[2] = 0
        slot.otherFields += [3, 0, 0, 0, 0, 0, 0, 0]
        let twice = slot.encoded
        #expect(code { () throws(VaultError) in _ = try parsed(twice, subject) } == .corrupt)
    }

    @Test(arguments: SlotSubject.all)
    func isMadeAgainEachTime(_ subject: SlotSubject) throws {
        let (one, two) = (try sandbox.slot(subject.maker), try sandbox.slot(subject.maker))
        #expect(one.wrappedRoot != two.wrappedRoot && one.commitment != two.commitment)
        // The recipient's public key is the same. Its ephemeral key and every salt are new.
        #expect(one.kind == .recipient ? one.ephemeral != two.ephemeral : one.parameters != two.parameters)
    }

    @Test(arguments: SlotSubject.all)
    func isFoundAmongMany(_ subject: SlotSubject) throws {
        var slots: [KeySlot] = []
        for (index, other) in SlotSubject.all.enumerated() where other.maker.kind != subject.maker.kind {
            slots.append(try sandbox.slot(other.maker, id: UInt32(100 + index)))
        }
        slots.append(try sandbox.slot(subject.maker, id: 7))
        #expect(try sandbox.search(slots).opened(with: [subject.opener]) == 7)
    }

    // MARK: Resealing

    @Test(arguments: SlotSubject.all)
    func aResealedSlotGivesTheNewRootToTheSameCredential(_ subject: SlotSubject) throws {
        var slot = try sandbox.slot(subject.maker)
        let former = slot
        let next = RootKey.random()
        try slot.reseal(next, as: .resealed, vaultID: sandbox.vaultID)
        #expect(slot.form == .resealed && slot.publicKey == former.publicKey && slot.parameters == former.parameters)
        #expect(try subject.opener.open(slot, vaultID: sandbox.vaultID).commitment == next.commitment)
        #expect(try subject.opener.open(former, vaultID: sandbox.vaultID).commitment == sandbox.root.commitment)
        #expect(refusal(of: slot, subject.stranger, sandbox.vaultID) == .authenticationFailed)
        let holder = try subject.opener.holder(parameters: slot.parameters[...], vaultID: sandbox.vaultID)
        try slot.seal(next, for: holder, trusting: nil, vaultID: sandbox.vaultID)
        #expect(slot.form == .own)
        #expect(try subject.opener.open(slot, vaultID: sandbox.vaultID).commitment == next.commitment)
    }

    // MARK: Memory codes

    @Test(arguments: SlotSubject.all)
    func itsHolderRecognisesOnlyTheKeyThatTheyTrusted(_ subject: SlotSubject) throws {
        var slot = try sandbox.slot(subject.maker)
        let holder = try subject.opener.holder(parameters: slot.parameters[...], vaultID: sandbox.vaultID)
        let other = try subject.stranger.holder(parameters: slot.parameters[...], vaultID: sandbox.vaultID)
        #expect(slot.memoryCode == .zero && !slot.isRecognised(by: holder, [trusted], vaultID: sandbox.vaultID))
        try slot.seal(sandbox.root, for: holder, trusting: trusted, vaultID: sandbox.vaultID)
        let (stranger, own) = ([UInt8](repeating: 8, count: 32), sandbox.vaultID)
        #expect(slot.isRecognised(by: holder, [stranger, trusted], vaultID: own))
        #expect(!slot.isRecognised(by: holder, [stranger], vaultID: own))
        #expect(!slot.isRecognised(by: holder, [], vaultID: own))
        #expect(!slot.isRecognised(by: other, [trusted], vaultID: own))
        #expect(!slot.isRecognised(by: holder, [trusted], vaultID: SecureRandom.bytes(count: 16)))
        // A rekey keeps the field without knowing it.
        try slot.reseal(.random(), as: .resealed, vaultID: own)
        #expect(slot.isRecognised(by: holder, [trusted], vaultID: own))
    }

    private func parsed(_ bytes: [UInt8], _ subject: SlotSubject) throws(VaultError) -> KeySlot? {
        try KeySlot.parsed(bytes, role: subject.maker.reach.role)
    }
}
