import CryptoPrimitives
import Testing

@testable import KeyVault

/// What every kind of slot has to hold to, one table for all.
@Suite struct SlotConformanceTests {
    private let yard = SlotYard()

    @Test(arguments: SlotSubject.all)
    func opensWithItsCredential(_ subject: SlotSubject) throws {
        let slot = try yard.slot(subject.maker)
        let opened = try subject.opener.open(slot, vaultID: yard.vaultID)
        let agrees = yard.agrees(with: opened, reach: subject.maker.reach)
        #expect(agrees)
    }

    @Test(arguments: SlotSubject.all)
    func doesNotOpenWithAnotherCredentialOfItsKind(_ subject: SlotSubject) throws {
        let slot = try yard.slot(subject.maker)
        #expect(refusal(of: slot, subject.stranger, yard.vaultID) == .authenticationFailed)
        #expect(yard.search([slot]).failure(with: [subject.stranger]) == subject.mismatch)
    }

    @Test(arguments: SlotSubject.all)
    func doesNotOpenWithACredentialOfAnotherKind(_ subject: SlotSubject) throws {
        let slot = try yard.slot(subject.maker)
        for other in SlotSubject.all where other.opener.kind != slot.kind {
            #expect(refusal(of: slot, other.opener, yard.vaultID) != nil)
            #expect(yard.search([slot]).failure(with: [other.opener]) == .locked)
        }
    }

    @Test(arguments: SlotSubject.all)
    func isRefusedWhenItsPayloadIsAByteShorterOrLonger(_ subject: SlotSubject) throws {
        let good = try yard.slot(subject.maker)
        var shorter = good
        shorter.payload.removeLast()
        var longer = good
        longer.payload.append(0)
        var empty = good
        empty.payload = []
        for slot in [shorter, longer, empty] {
            #expect(refusal(of: slot, subject.opener, yard.vaultID) == .parameterOutOfRange)
            #expect(code { () throws(VaultError) in _ = try parsed(slot) } == .corrupt)
        }
    }

    @Test(arguments: SlotSubject.all)
    func isRefusedWhenAnyBitOfItsPayloadIsFlipped(_ subject: SlotSubject) throws {
        let good = try yard.slot(subject.maker)
        for bit in 0..<good.payload.count * 8 {
            var bad = good
            bad.payload[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(refusal(of: bad, subject.opener, yard.vaultID) != nil, "bit \(bit)")
        }
        #expect(refusal(of: good, subject.opener, yard.vaultID) == nil)
    }

    @Test(arguments: SlotSubject.all)
    func isBoundToItsVaultAndToItsOwnFields(_ subject: SlotSubject) throws {
        let good = try yard.slot(subject.maker, id: 7, createdAt: 1000)
        func changed(id: UInt32 = 7, createdAt: UInt64 = 1000) -> KeySlot {
            KeySlot(kind: good.kind, reach: good.reach, id: id, createdAt: createdAt, payload: good.payload)
        }
        #expect(refusal(of: changed(), subject.opener, yard.vaultID) == nil)
        #expect(refusal(of: changed(id: 8), subject.opener, yard.vaultID) == .authenticationFailed)
        #expect(refusal(of: changed(createdAt: 1001), subject.opener, yard.vaultID) == .authenticationFailed)
        #expect(refusal(of: good, subject.opener, SecureRandom.bytes(count: 16)) == .authenticationFailed)
    }

    /// Size and kind would refuse such a slot before; the binding has to do so by itself.
    @Test(arguments: SlotSubject.all)
    func isBoundToItsKindAndReach(_ subject: SlotSubject) throws {
        let good = try yard.slot(subject.maker)
        let parameters = good.payload.prefix(good.kind.parameterSize)
        let wrapped = good.payload.dropFirst(good.kind.parameterSize)
        let key = try subject.opener.unwrappingKey(parameters: parameters, vaultID: yard.vaultID)
        func opens(kind: SlotKind, reach: SlotReach) -> Bool {
            let slot = KeySlot(kind: kind, reach: reach, id: good.id, createdAt: good.createdAt, payload: [])
            let bound = slot.bound(to: yard.vaultID, parameters: parameters)
            return (try? SecretWrap.unwrap(wrapped, under: key, bound: bound)) != nil
        }
        for kind in SlotKind.allCases {
            for reach in [SlotReach.afterFirstUnlock, .whenUnlocked] {
                #expect(opens(kind: kind, reach: reach) == (kind == good.kind && reach == good.reach))
            }
        }
    }

    @Test(arguments: SlotSubject.all)
    func doesNotGiveMoreThanItsKindPermits(_ subject: SlotSubject) throws {
        let good = try yard.slot(subject.maker)
        #expect(good.kind.permits(good.reach))
        let other: SlotReach = good.reach == .whenUnlocked ? .afterFirstUnlock : .whenUnlocked
        let size = good.kind.payloadSize(reach: other)
        let padded = Array((good.payload + [UInt8](repeating: 0, count: size)).prefix(size))
        let slot = KeySlot(kind: good.kind, reach: other, id: 7, createdAt: 0, payload: padded)
        #expect(refusal(of: slot, subject.opener, yard.vaultID) != nil)
        if !good.kind.permits(other) {
            #expect(code { () throws(VaultError) in _ = try parsed(slot) } == .corrupt)
        }
    }

    @Test(arguments: SlotSubject.all)
    func isReadBackAsItWasWritten(_ subject: SlotSubject) throws {
        let slot = try yard.slot(subject.maker)
        #expect(try parsed(slot) == slot)
        #expect(slot.encoded.count == slot.encodedSize)
        #expect(slot.payload.count == slot.kind.payloadSize(reach: slot.reach))
    }

    @Test(arguments: SlotSubject.all)
    func isMadeAnewEachTime(_ subject: SlotSubject) throws {
        let (one, two) = (try yard.slot(subject.maker), try yard.slot(subject.maker))
        #expect(one.payload.suffix(48) != two.payload.suffix(48))
        // The recipient's public key is the same; what follows, and every salt, is fresh.
        let fresh = one.kind == .recipient ? 32..<64 : 0..<16
        #expect(one.payload[fresh] != two.payload[fresh])
    }

    @Test(arguments: SlotSubject.all)
    func isFoundAmongMany(_ subject: SlotSubject) throws {
        var slots: [KeySlot] = []
        for (index, other) in SlotSubject.all.enumerated() where other.maker.kind != subject.maker.kind {
            slots.append(try yard.slot(other.maker, id: UInt32(100 + index)))
        }
        slots.append(try yard.slot(subject.maker, id: 7))
        #expect(try yard.search(slots).opened(with: [subject.opener]) == 7)
    }

    private func parsed(_ slot: KeySlot) throws(VaultError) -> KeySlot? {
        try KeySlot.parse(slot.encoded[...], count: 1, path: "vault").first
    }
}
