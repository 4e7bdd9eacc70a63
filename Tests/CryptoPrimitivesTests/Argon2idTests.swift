import CryptoPrimitives
import Testing

@Suite struct Argon2idTests {
    struct Vector: Decodable, Sendable {
        let passphrase, salt, hash: Hex
        let passes, memoryKiB: UInt32
    }

    @Test func thePublishedVectorsDerive() throws {
        for vector in try CryptoVectors<Vector>.load("argon2id") {
            let key = try derive(
                vector.passphrase.bytes, salt: vector.salt.bytes,
                .init(passes: vector.passes, memoryKiB: vector.memoryKiB), count: vector.hash.bytes.count)
            let bytes = copied(key)
            #expect(bytes == vector.hash.bytes)
        }
    }

    @Test func anEmptyPassphraseIsAPassphrase() throws {
        let salt = [UInt8](repeating: 7, count: 16)
        let empty = try derive([], salt: salt, .minimum, count: 32)
        let space = try derive([0x20], salt: salt, .minimum, count: 32)
        let areEqual = empty.isEqual(to: space)
        #expect(!areEqual)
    }

    @Test(arguments: [(0, 8192), (33, 8192), (1, 8191), (1, 1_048_577), (UInt32.max, UInt32.max)])
    func costsOutOfBoundsAreRefused(passes: UInt32, memoryKiB: UInt32) {
        let parameters = Argon2id.Parameters(passes: passes, memoryKiB: memoryKiB)
        #expect(throws: CryptoError(.parameterOutOfRange, "Argon2id")) {
            _ = try derive([1], salt: [UInt8](repeating: 7, count: 16), parameters, count: 32)
        }
    }

    @Test(arguments: [(15, 32), (17, 32), (0, 32), (16, 15), (16, 0)])
    func sizesThatArgon2idDoesNotTakeAreRefused(salt: Int, output: Int) {
        #expect(throws: CryptoError(.parameterOutOfRange, "Argon2id")) {
            _ = try derive([1], salt: [UInt8](repeating: 7, count: salt), .minimum, count: output)
        }
    }

    @Test func theBoundsAndTheRecommendationAreWithinBounds() throws {
        for parameters in [Argon2id.Parameters.minimum, .recommended, .maximum] { try parameters.validate() }
    }

    private func derive(
        _ passphrase: [UInt8], salt: [UInt8], _ parameters: Argon2id.Parameters, count: Int
    ) throws(CryptoError) -> SecretBytes {
        let secret = passphrase.withRawBytes { SecretBytes(copying: $0) }
        return try salt.withRawBytes { salt throws(CryptoError) in
            try Argon2id.deriveKey(passphrase: secret, salt: salt, parameters: parameters, count: count)
        }
    }
}
