import CryptoPrimitives
import TestSupport
import Testing

@Suite(.enabled(if: AES256GCM.isAvailable, "needs a processor with AES instructions")) struct AES256GCMTests {
    struct Vector: Decodable, Sendable {
        let name: String
        let key, nonce, associated, plaintext, ciphertext, tag: Hex

        var combined: [UInt8] { nonce.bytes + ciphertext.bytes + tag.bytes }
    }

    @Test func thePublishedVectorsOpen() throws {
        let vectors = try CryptoVectors<Vector>.load("aes256gcm")
        #expect(vectors.count == 4)
        for vector in vectors {
            #expect(try open(vector, vector.combined) == vector.plaintext.bytes, "\(vector.name)")
        }
    }

    @Test func everyFlippedBitIsRefusedAndNoPlaintextIsLeft() throws {
        let vector = try #require(try CryptoVectors<Vector>.load("aes256gcm").last)
        for bit in 0..<vector.combined.count * 8 {
            var changed = vector.combined
            changed[bit / 8] ^= 1 << (bit % 8)
            var output = [UInt8](repeating: 0xaa, count: vector.plaintext.bytes.count)
            #expect(throws: CryptoError(.authenticationFailed, "AES-256-GCM")) {
                try open(vector, changed, into: &output)
            }
            #expect(output.allSatisfy { $0 == 0 || $0 == 0xaa })
        }
    }

    @Test func associatedBytesCount() throws {
        let vector = try #require(try CryptoVectors<Vector>.load("aes256gcm").last)
        #expect(throws: CryptoError(.authenticationFailed, "AES-256-GCM")) {
            var output = [UInt8](repeating: 0, count: vector.plaintext.bytes.count)
            try open(vector, vector.combined, associated: [], into: &output)
        }
    }

    @Test(arguments: [0, 11, 12, 27]) func lessThanNonceAndTagIsRefused(count: Int) throws {
        let vector = try #require(try CryptoVectors<Vector>.load("aes256gcm").first)
        var output: [UInt8] = []
        #expect(throws: CryptoError(.parameterOutOfRange, "AES-256-GCM")) {
            try open(vector, Array(vector.combined.prefix(count)), into: &output)
        }
    }

    private func open(_ vector: Vector, _ combined: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: combined.count - AES256GCM.overhead)
        try open(vector, combined, into: &output)
        return output
    }

    private func open(
        _ vector: Vector, _ combined: [UInt8], associated: [UInt8]? = nil, into output: inout [UInt8]
    ) throws {
        try output.withUnsafeMutableBytes { output in
            try combined.withRawBytes { combined in
                try (associated ?? vector.associated.bytes).withRawBytes { associated in
                    try vector.key.bytes.withRawBytes { key in
                        try AES256GCM.open(combined: combined, associated: associated, key: key, into: output)
                    }
                }
            }
        }
    }
}
