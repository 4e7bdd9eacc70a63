import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the signed list of a vault's holders.
@Suite struct RegisterTests {
    private let register: Register
    private let signer: Signer

    /// A key that a test's copies can share.
    private final class Signer {
        let key: Ed25519.SigningKey
        init() throws { key = try Ed25519.SigningKey(seed: .random(count: Ed25519.seedSize)) }
    }

    init() throws {
        let vaultID = [UInt8](1...16)
        let old = try Ed25519.SigningKey(seed: .random(count: Ed25519.seedSize))
        signer = try Signer()
        let message = PersonKeyEntry.linkMessage(
            vaultID: vaultID, period: 2, from: old.publicKey, to: signer.key.publicKey)
        var register = Register(
            vaultID: vaultID, period: 3,
            chain: [
                PersonKeyEntry(
                    period: 1, isKnownToServices: true, key: old.publicKey, link: PersonKeyEntry.noSignature,
                    certificate: PersonKeyEntry.noSignature),
                PersonKeyEntry(
                    period: 2, isKnownToServices: false, key: signer.key.publicKey, link: old.sign(message),
                    certificate: PersonKeyEntry.noSignature),
            ], root: Self.random(), watermarkCommitment: Self.random())
        register.generation = 7
        register.personRoot = Self.random()
        register.nextRoot = Self.random()
        register.slots = [
            Self.slot(1, .passphrase, .whenUnlocked, "Ada"), Self.slot(4, .keyFile, .afterFirstUnlock, ""),
            Self.slot(5, .recipient, .afterFirstUnlock, "ein Wärter"),
        ]
        register.nextSlotID = 6
        register.person = Register.Person()
        register.person?.keys = [
            RegisteredKey(keyID: SecureRandom.bytes(count: 16), epoch: 1, state: .decryptOnly, createdAt: 5),
            RegisteredKey(keyID: SecureRandom.bytes(count: 16), epoch: 2, state: .active, createdAt: 6),
        ]
        register.person?.rotation.minimumEpoch = 2
        register.sign(with: signer.key)
        self.register = register
    }

    private static func random() -> Bytes32 { Bytes32(filling: { SecureRandom.fill($0) }) }

    private static func slot(_ id: UInt32, _ kind: SlotKind, _ reach: SlotReach, _ label: String) -> RegisteredSlot {
        RegisteredSlot(
            id: id, kind: kind, reach: reach, isVouchedFor: id > 1, createdAt: UInt64(id) * 10, addedBy: id - 1,
            publicKey: SecureRandom.bytes(count: 32), parameters: SecureRandom.bytes(count: kind.parameterSize),
            label: label)
    }

    private func parsed(_ bytes: [UInt8]) throws(VaultError) -> Register {
        let register = try Register(parsing: bytes[...], path: "vault")
        try register.verify(path: "vault")
        return register
    }

    @Test func isReadBackAsItWasWritten() throws {
        #expect(try parsed(register.signedBytes) == register)
        var alone = Register(
            vaultID: register.vaultID, period: 1, chain: [register.chain[0]], root: register.root,
            watermarkCommitment: register.watermarkCommitment)
        // Without persons the part about them is missing.
        alone.slots = [register.slots[1]]
        alone.nextSlotID = 5
        alone.sign(with: signer.key)
        #expect(try Register(parsing: alone.signedBytes[...], path: "vault") == alone)
    }

    @Test func everyFlippedBitIsRefused() {
        for bit in 0..<register.signedBytes.count * 8 {
            var bad = register.signedBytes
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            let changed = bad
            let refusal = code { () throws(VaultError) in _ = try parsed(changed) }
            #expect(refusal == .corrupt || refusal == .unsupported, "bit \(bit)")
        }
    }

    @Test func everyTruncationAndOneMoreByteAreRefused() {
        for count in 0..<register.signedBytes.count {
            let cut = Array(register.signedBytes[..<count])
            #expect(code { () throws(VaultError) in _ = try parsed(cut) } == .corrupt, "\(count) bytes")
        }
        let longer = register.signedBytes + [0]
        #expect(code { () throws(VaultError) in _ = try parsed(longer) } != nil)
    }

    @Test func aFieldOfALaterVersionIsKeptUnlessItIsCritical() throws {
        var later = register
        later.otherFields = [40: [1, 2, 3]]
        later.sign(with: signer.key)
        let read = try parsed(later.signedBytes)
        #expect(read == later && read.otherFields == [40: [1, 2, 3]])
        // The last field, before the signature.
        var bytes = later.signedBytes
        bytes[bytes.count - 64 - 3 - 6] = 1
        let critical = bytes
        #expect(code { () throws(VaultError) in _ = try parsed(critical) } == .unsupported)
    }

    @Test func anotherKeysSignatureOrLinkIsRefused() throws {
        let stranger = try Ed25519.SigningKey(seed: .random(count: Ed25519.seedSize))
        var forged = register
        forged.sign(with: stranger)
        let bytes = forged.signedBytes
        #expect(code { () throws(VaultError) in _ = try parsed(bytes) } == .corrupt)
        // A successor without the signature of the previous key.
        let last = register.chain[1]
        let message = PersonKeyEntry.linkMessage(
            vaultID: register.vaultID, period: 3, from: last.key, to: stranger.publicKey)
        for link in [PersonKeyEntry.noSignature, stranger.sign(message)] {
            var taken = register
            taken.chain.append(
                PersonKeyEntry(
                    period: 3, isKnownToServices: false, key: stranger.publicKey, link: link,
                    certificate: PersonKeyEntry.noSignature))
            taken.sign(with: stranger)
            let bytes = taken.signedBytes
            #expect(code { () throws(VaultError) in _ = try parsed(bytes) } == .corrupt)
        }
        var succeeded = register
        succeeded.chain.append(
            PersonKeyEntry(
                period: 3, isKnownToServices: false, key: stranger.publicKey, link: signer.key.sign(message),
                certificate: PersonKeyEntry.noSignature))
        succeeded.sign(with: stranger)
        #expect(try parsed(succeeded.signedBytes) == succeeded)
    }

    @Test func anImpossibleRegisterIsRefusedThoughItIsSigned() throws {
        var cases: [(String, Register)] = []
        func add(_ name: String, _ change: (inout Register) -> Void) {
            var bad = register
            change(&bad)
            bad.sign(with: signer.key)
            cases.append((name, bad))
        }
        add("a slot beyond the next number") { $0.nextSlotID = 5 }
        add("a slot twice") { $0.slots.append($0.slots[0]) }
        add("two active keys") {
            $0.person?.keys[0] = RegisteredKey(keyID: [UInt8](1...16), epoch: 1, state: .active, createdAt: 1)
        }
        add("an epoch twice") {
            $0.person?.keys[0] = RegisteredKey(keyID: [UInt8](1...16), epoch: 2, state: .decryptOnly, createdAt: 1)
        }
        add("persons without a root") { $0.personRoot = .zero }
        add("a root without persons") { $0.person = nil }
        add("a slot of a person without persons") { ($0.person, $0.personRoot) = (nil, .zero) }
        add("a key of a later period") { $0.period = 1 }
        add("no key") { $0.chain = [] }
        for (name, bad) in cases {
            let bytes = bad.signedBytes
            #expect(code { () throws(VaultError) in _ = try parsed(bytes) } == .corrupt, "\(name)")
        }
    }

    @Test func itListsASlotOnlyWithAllItsFields() throws {
        let sandbox = SlotSandbox()
        for subject in SlotSubject.all {
            let slot = try sandbox.slot(subject.maker, id: 4)
            func listing(
                id: UInt32 = 4, kind: SlotKind? = nil, reach: SlotReach? = nil, createdAt: UInt64? = nil,
                publicKey: [UInt8]? = nil, parameters: [UInt8]? = nil
            ) -> Bool {
                RegisteredSlot(
                    id: id, kind: kind ?? slot.kind, reach: reach ?? slot.reach, isVouchedFor: true,
                    createdAt: createdAt ?? slot.createdAt, addedBy: 0, publicKey: publicKey ?? slot.publicKey,
                    parameters: parameters ?? slot.parameters, label: ""
                ).isListing(slot)
            }
            #expect(listing())
            #expect(!listing(id: 5) && !listing(createdAt: 1))
            #expect(!listing(kind: slot.kind == .keyFile ? .credential : .keyFile))
            #expect(!listing(reach: slot.reach == .whenUnlocked ? .afterFirstUnlock : .whenUnlocked))
            #expect(!listing(publicKey: [UInt8](repeating: 0, count: 32)))
            #expect(!listing(parameters: slot.parameters + [0]))
        }
    }

    @Test func onlyKeysThatNoServiceKnewAreRemembered() {
        #expect(register.trustworthyKeys == [register.chain[1].key.bytes])
        #expect(register.trustedKey == register.chain[1].key.bytes)
        var alone = register
        alone.chain.removeLast()
        #expect(alone.trustworthyKeys.isEmpty && alone.trustedKey == nil)
        alone.teamKey = [UInt8](repeating: 5, count: 32)
        #expect(alone.trustworthyKeys == [[UInt8](repeating: 5, count: 32)] && alone.trustedKey == alone.teamKey)
    }
}
