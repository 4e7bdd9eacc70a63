import CryptoPrimitives
import Testing

@Suite struct BLAKE2bTests {
    struct Vector: Decodable, Sendable {
        let source: String
        let input, key, personal, hash: Hex
    }

    @Test func thePublishedVectorsHash() throws {
        for vector in try CryptoVectors<Vector>.load("blake2b") {
            let personalization = try personalization(vector)
            let found = BLAKE2b.hash(
                vector.input.bytes, key: vector.key.bytes, personalization: personalization,
                count: vector.hash.bytes.count)
            #expect(found == vector.hash.bytes, "\(vector.source)")
        }
    }

    @Test func keyLengthAndPersonalisationEachGiveAnotherHash() {
        let input = Array("input".utf8)
        let key = [UInt8](repeating: 1, count: 32)
        let hashes = [
            BLAKE2b.hash(input, count: 32),
            Array(BLAKE2b.hash(input, count: 64)[..<32]),
            BLAKE2b.hash(input, key: key, count: 32),
            BLAKE2b.hash(input, key: key + [0], count: 32),
            BLAKE2b.hash(input, key: key, personalization: Personalization("SealedState.tst1"), count: 32),
            BLAKE2b.hash(input, key: key, personalization: Personalization("SealedState.tst2"), count: 32),
        ]
        #expect(Set(hashes).count == hashes.count)
    }

    /// Returns the personalization of a vector. A `Personalization` is a literal, so the only published string is
    /// written here and compared with the file's.
    private func personalization(_ vector: Vector) throws -> Personalization? {
        if vector.personal.bytes.isEmpty { return nil }
        let published = Personalization("5126fb2a37400d2a")
        try #require(vector.personal.bytes == Array("\(published.text)".utf8))
        return published
    }
}
