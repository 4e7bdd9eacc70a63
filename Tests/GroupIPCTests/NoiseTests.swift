import CryptoPrimitives
import Testing

@testable import GroupIPC

/// Tests of the handshake against the published vector of cacophony, and of messages that it must refuse.
@Suite struct NoiseTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        var rest = hexadecimal[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func secret(_ bytes: [UInt8]) -> SecretBytes {
        SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    private static let sharedKey = bytes("54686973206973206d7920417573747269616e20706572737065637469766521")
    private static let prologue = bytes("4a6f686e2047616c74")
    private static let ephemerals = [
        bytes("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"),
        bytes("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"),
    ]
    private static let handshakeHash = bytes(
        "ed5e9692d0ab507b6c2beec3f584fd5b127817a9d20b26cd50aa72c507260fa3"
            + "1aa7d88dd3723316338af37ce0b4cfb2923aeb848bbf2b934911306f01ffc963")
    /// Payloads and messages, the initiator's first.
    private static let messages: [(payload: [UInt8], sealed: [UInt8])] = [
        (
            bytes("4c756477696720766f6e204d69736573"),
            bytes(
                "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944ed63df2f5a12aee1185ee9c5"
                    + "0305f2ecf12421dcb53c047a63b784cf7c54a105")
        ),
        (
            bytes("4d757272617920526f746862617264"),
            bytes(
                "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088430e0fe7d5c0c9b92f7478716c"
                    + "8852f1b4f389edb75e3ebe546fafafd5b6f0f7")
        ),
        (bytes("462e20412e20486179656b"), bytes("0fe04b26dcfbb69f8a6a94c61f1a26ef88769218d32f5d17c068a6")),
        (bytes("4361726c204d656e676572"), bytes("2239e0c540c01f09eb1f4cc5258fd5acfefff18a5a3773f21b7bfe")),
        (
            bytes("4a65616e2d426170746973746520536179"),
            bytes("f216cb03d30fb8af1e561fe02a07552d09b416e27a75e62c77d193718b0bdaae9f")
        ),
        (
            bytes("457567656e2042f6686d20766f6e2042617765726b"),
            bytes("6e8baf98b944184dd7dc5ef14d8108cbeca626de118a5460f3308e294d61e17238bce29bd9")
        ),
    ]

    private func handshake(
        _ role: NoiseRole, key: [UInt8] = sharedKey, prologue: [UInt8] = prologue
    ) throws -> NoiseHandshake {
        let ephemeral = try X25519.PrivateKey(Self.secret(Self.ephemerals[role == .initiator ? 0 : 1]))
        return NoiseHandshake(role, presharedKey: Self.secret(key), prologue: prologue, ephemeral: ephemeral)
    }

    private func seal(_ plaintext: [UInt8], _ cipher: inout NoiseCipher) throws -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + 16)
        try plaintext.withUnsafeBytes { plaintext in
            try sealed.withUnsafeMutableBytes { try cipher.seal(plaintext, into: $0) }
        }
        return sealed
    }

    private func open(_ sealed: [UInt8], _ cipher: inout NoiseCipher) throws -> [UInt8] {
        var plaintext = [UInt8](repeating: 0, count: sealed.count - 16)
        try sealed.withUnsafeBytes { sealed in
            try plaintext.withUnsafeMutableBytes { try cipher.open(sealed, into: $0) }
        }
        return plaintext
    }

    @Test func thePublishedVectorIsMet() throws {
        var one = try handshake(.initiator)
        var other = try handshake(.responder)
        let first = try one.write(Self.messages[0].payload)
        #expect(first == Self.messages[0].sealed)
        #expect(try other.read(first) == Self.messages[0].payload)
        let second = try other.write(Self.messages[1].payload)
        #expect(second == Self.messages[1].sealed)
        #expect(try one.read(second) == Self.messages[1].payload)
        #expect(one.hash == Self.handshakeHash && other.hash == Self.handshakeHash)
        var initiator = one.transport()
        var answering = other.transport()
        for index in 2..<6 {
            let (payload, sealed) = Self.messages[index]
            if index % 2 == 0 {
                #expect(try seal(payload, &initiator.sending) == sealed)
                #expect(try open(sealed, &answering.receiving) == payload)
            } else {
                #expect(try seal(payload, &answering.sending) == sealed)
                #expect(try open(sealed, &initiator.receiving) == payload)
            }
        }
    }

    @Test(arguments: ["key", "prologue", "short", "changed", "key of low order"])
    func aFirstMessageOfAnotherKindIsRefused(_ kind: String) throws {
        var one = try handshake(
            .initiator, key: kind == "key" ? Self.prologue + [UInt8](repeating: 0, count: 23) : Self.sharedKey,
            prologue: kind == "prologue" ? [] : Self.prologue)
        var other = try handshake(.responder)
        var message = try one.write([1])
        switch kind {
        case "short": message.removeLast(2)
        case "changed": message[40] ^= 1
        case "key of low order": message.replaceSubrange(0..<32, with: [UInt8](repeating: 0, count: 32))
        default: break
        }
        #expect(throws: CryptoError.self) { _ = try other.read(message) }
    }

    /// The sender of a recorded first message has not the secret of its key: the keys differ.
    @Test func aRecordedFirstMessageGivesNoKeys() throws {
        var one = try handshake(.initiator)
        let recorded = try one.write([1])
        let key = try X25519.PrivateKey.random()
        var other = NoiseHandshake(
            .responder, presharedKey: Self.secret(Self.sharedKey), prologue: Self.prologue, ephemeral: key)
        _ = try other.read(recorded)
        _ = try other.write([1])
        var earlier = try handshake(.responder)
        _ = try earlier.read(recorded)
        _ = try one.read(try earlier.write([1]))
        var sender = one.transport()
        var receiver = other.transport()
        let sealed = try seal([1, 2, 3], &sender.sending)
        #expect(throws: CryptoError.self) { _ = try open(sealed, &receiver.receiving) }
    }

    @Test func aMessageIsOpenedOnceAndInItsPlace() throws {
        var one = try handshake(.initiator)
        var other = try handshake(.responder)
        _ = try other.read(try one.write())
        _ = try one.read(try other.write())
        var sender = one.transport()
        var receiver = other.transport()
        let messages = try [[1], [2]].map { try seal($0, &sender.sending) }
        #expect(throws: CryptoError.self) { _ = try open(messages[1], &receiver.receiving) }
        #expect(try open(messages[0], &receiver.receiving) == [1])
        #expect(throws: CryptoError.self) { _ = try open(messages[0], &receiver.receiving) }
        #expect(try open(messages[1], &receiver.receiving) == [2])
    }
}
