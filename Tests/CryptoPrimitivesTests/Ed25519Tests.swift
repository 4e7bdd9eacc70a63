import CryptoPrimitives
import Testing

@Suite struct Ed25519Tests {
    struct Vector: Decodable, Sendable {
        let seed, publicKey, message, signature: Hex
    }

    @Test func thePublishedVectorsSignAndVerify() throws {
        for vector in try CryptoVectors<Vector>.load("ed25519") {
            let key = try signingKey(vector)
            let (publicKey, signature) = (key.publicKey, key.sign(vector.message.bytes))
            #expect(publicKey.bytes == vector.publicKey.bytes)
            #expect(signature == vector.signature.bytes)
            try publicKey.verify(vector.signature.bytes, of: vector.message.bytes)
        }
    }

    @Test func everyFlippedBitOfASignatureIsRefused() throws {
        let vector = try #require(try CryptoVectors<Vector>.load("ed25519").last)
        let key = try Ed25519.PublicKey(bytes: vector.publicKey.bytes)
        for bit in 0..<512 {
            var signature = vector.signature.bytes
            signature[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: refusal) { try key.verify(signature, of: vector.message.bytes) }
        }
    }

    @Test func anotherMessageAnotherKeyAndAnotherSizeAreRefused() throws {
        let vectors = try CryptoVectors<Vector>.load("ed25519")
        let (vector, other) = (vectors[1], vectors[2])
        let key = try Ed25519.PublicKey(bytes: vector.publicKey.bytes)
        #expect(throws: refusal) { try key.verify(vector.signature.bytes, of: vector.message.bytes + [0]) }
        #expect(throws: refusal) { try key.verify(vector.signature.bytes + [0], of: vector.message.bytes) }
        #expect(throws: refusal) { try key.verify([], of: vector.message.bytes) }
        let wrong = try Ed25519.PublicKey(bytes: other.publicKey.bytes)
        #expect(throws: refusal) { try wrong.verify(vector.signature.bytes, of: vector.message.bytes) }
    }

    @Test(arguments: [0, 31, 33])
    func keysOfAnotherSizeAreRefused(size: Int) {
        #expect(throws: CryptoError(.parameterOutOfRange, "Ed25519 public key")) {
            _ = try Ed25519.PublicKey(bytes: [UInt8](repeating: 1, count: size))
        }
        #expect(throws: CryptoError(.parameterOutOfRange, "Ed25519 seed")) {
            _ = try Ed25519.SigningKey(seed: SecretBytes.random(count: size))
        }
    }

    private let refusal = CryptoError(.authenticationFailed, "Ed25519")

    private func signingKey(_ vector: Vector) throws(CryptoError) -> Ed25519.SigningKey {
        try Ed25519.SigningKey(seed: vector.seed.bytes.withRawBytes { SecretBytes(copying: $0) })
    }
}
