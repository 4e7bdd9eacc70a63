import CryptoPrimitives
import FoundationEssentials
import Testing

@Suite struct X25519Tests {
    struct Vector: Decodable, Sendable {
        let privateKey, peer, shared: Hex
        let publicKey: Hex?
    }

    struct LowOrder: Decodable {
        let lowOrder: [Hex]
    }

    @Test func thePublishedVectorsAgree() throws {
        for vector in try CryptoVectors<Vector>.load("x25519") {
            let key = try privateKey(vector.privateKey.bytes)
            let publicKey = key.publicKey
            if let expected = vector.publicKey { #expect(publicKey.bytes == expected.bytes) }
            let shared = try key.sharedSecret(with: X25519.PublicKey(bytes: vector.peer.bytes))
            let bytes = copied(shared)
            #expect(bytes == vector.shared.bytes)
        }
    }

    @Test func pointsOfLowOrderAreRefused() throws {
        let points = try JSONDecoder().decode(LowOrder.self, from: cryptoFixture("x25519")).lowOrder
        #expect(points.count == 7)
        let key = try X25519.PrivateKey.random()
        for point in points {
            for topBit in [UInt8(0), 0x80] {
                var bytes = point.bytes
                bytes[31] |= topBit
                let peer = try X25519.PublicKey(bytes: bytes)
                #expect(throws: CryptoError(.lowOrderPoint, "X25519")) { _ = try key.sharedSecret(with: peer) }
            }
        }
    }

    @Test func twoFreshKeysAgree() throws {
        let ada = try X25519.PrivateKey.random()
        let bob = try X25519.PrivateKey.random()
        let (adaPublic, bobPublic) = (ada.publicKey, bob.publicKey)
        #expect(adaPublic != bobPublic)
        let one = try ada.sharedSecret(with: bobPublic)
        let two = try bob.sharedSecret(with: adaPublic)
        let areEqual = one.isEqual(to: two)
        #expect(areEqual)
    }

    @Test(arguments: [0, 31, 33])
    func keysOfAnotherSizeAreRefused(size: Int) {
        #expect(throws: CryptoError(.parameterOutOfRange, "X25519 public key")) {
            _ = try X25519.PublicKey(bytes: [UInt8](repeating: 1, count: size))
        }
        #expect(throws: CryptoError(.parameterOutOfRange, "X25519 private key")) {
            _ = try X25519.PrivateKey(SecretBytes.random(count: size))
        }
    }

    private func privateKey(_ bytes: [UInt8]) throws(CryptoError) -> X25519.PrivateKey {
        try X25519.PrivateKey(bytes.withRawBytes { SecretBytes(copying: $0) })
    }
}
