import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct RecipientSlotTests {
    private let sandbox = SlotSandbox()

    /// The points of RFC 7748 that lead to an all-zero secret with every private key, according to libsodium's list.
    static let lowOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        hex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ]

    private static func hex(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).map { offset in
            let start = text.index(text.startIndex, offsetBy: offset)
            return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }

    /// The refusal is the same for every identity. Another one would reveal the holder's identity.
    @Test(arguments: lowOrder)
    func aSlotWithAPredictableEphemeralKeyIsRefused(point: [UInt8]) throws {
        let identity = try Identity.random()
        let opener = RecipientOpener(key: identity.keys[0])
        for topBit in [UInt8(0), 0x80] {
            var slot = try sandbox.slot(RecipientMaker(recipient: identity.recipient, isUnattended: false))
            slot.ephemeral = point
            slot.ephemeral[31] |= topBit
            #expect(refusal(of: slot, opener, sandbox.vaultID) == .lowOrderPoint)
            #expect(sandbox.search([slot]).failure(with: [opener]) == .wrongIdentity)
        }
    }

    @Test(arguments: lowOrder)
    func aRecipientWithAKnownSecretIsRefused(point: [UInt8]) throws {
        let key = try X25519.PublicKey(bytes: point)
        #expect(code { () throws(VaultError) in _ = try Recipient(key) } == .malformedIdentity)
    }

    @Test func aRecipientThatNoIdentityHasIsRefused() throws {
        // The same points in forms that X25519 accepts and that no private key leads to, so no identity would find the
        // slot.
        var high = try Identity.random().recipient.key.bytes
        high[31] |= 0x80
        let beyond = [0xF6] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        for bytes in [high, beyond] {
            let key = try X25519.PublicKey(bytes: bytes)
            #expect(code { () throws(VaultError) in _ = try Recipient(key) } == .malformedIdentity)
        }
        let nine = try X25519.PublicKey(bytes: [9] + [UInt8](repeating: 0, count: 31))
        #expect(throws: Never.self) { try Recipient(nine) }
    }

    @Test func anotherRecipientsSlotCostsNoMultiplication() throws {
        let (own, other) = (try Identity.random(), try Identity.random())
        var slot = try sandbox.slot(RecipientMaker(recipient: own.recipient, isUnattended: true))
        // If a low-order point were tried, the error would reveal it.
        slot.ephemeral = [UInt8](repeating: 0, count: 32)
        #expect(refusal(of: slot, RecipientOpener(key: other.keys[0]), sandbox.vaultID) == .authenticationFailed)
    }

    @Test func theSlotSaysWhomItIsFor() throws {
        let identity = try Identity.random()
        let slot = try sandbox.slot(RecipientMaker(recipient: identity.recipient, isUnattended: false))
        #expect(slot.publicKey == identity.recipient.key.bytes)
    }
}
