import CryptoPrimitives
import Testing

@Suite struct XChaCha20Poly1305Tests {
    struct Vector: Decodable, Sendable {
        let key, nonce, associated, plaintext, ciphertext, tag: Hex
    }

    @Test func thePublishedVectorsSealAndOpen() throws {
        for vector in try CryptoVectors<Vector>.load("xchacha20poly1305") {
            let sealed = vector.ciphertext.bytes + vector.tag.bytes
            #expect(seal(vector, vector.plaintext.bytes) == sealed)
            #expect(try open(vector, sealed) == vector.plaintext.bytes)
        }
    }

    @Test func everyFlippedBitIsRefusedAndNoPlaintextIsLeft() throws {
        let vector = try #require(try CryptoVectors<Vector>.load("xchacha20poly1305").first)
        let sealed = vector.ciphertext.bytes + vector.tag.bytes
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            var output = [UInt8](repeating: 0xaa, count: vector.plaintext.bytes.count)
            #expect(throws: CryptoError(.authenticationFailed, "XChaCha20-Poly1305")) {
                try open(vector, changed, into: &output)
            }
            #expect(output.allSatisfy { $0 == 0 || $0 == 0xaa })
        }
    }

    @Test func anEmptyPlaintextIsOnlyATag() throws {
        let vector = try #require(try CryptoVectors<Vector>.load("xchacha20poly1305").first)
        let sealed = seal(vector, [])
        #expect(sealed.count == XChaCha20Poly1305.tagSize)
        #expect(try open(vector, sealed).isEmpty)
    }

    private func seal(_ vector: Vector, _ plaintext: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + XChaCha20Poly1305.tagSize)
        output.withUnsafeMutableBytes { output in
            plaintext.withRawBytes { plaintext in
                vector.associated.bytes.withRawBytes { associated in
                    vector.nonce.bytes.withRawBytes { nonce in
                        vector.key.bytes.withRawBytes { key in
                            XChaCha20Poly1305.seal(
                                plaintext, associated: associated, nonce: nonce, key: key, into: output)
                        }
                    }
                }
            }
        }
        return output
    }

    private func open(_ vector: Vector, _ sealed: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: sealed.count - XChaCha20Poly1305.tagSize)
        try open(vector, sealed, into: &output)
        return output
    }

    private func open(_ vector: Vector, _ sealed: [UInt8], into output: inout [UInt8]) throws {
        try output.withUnsafeMutableBytes { output in
            try sealed.withRawBytes { sealed in
                try vector.associated.bytes.withRawBytes { associated in
                    try vector.nonce.bytes.withRawBytes { nonce in
                        try vector.key.bytes.withRawBytes { key in
                            try XChaCha20Poly1305.open(
                                sealed, associated: associated, nonce: nonce, key: key, into: output)
                        }
                    }
                }
            }
        }
    }
}
