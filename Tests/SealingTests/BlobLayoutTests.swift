import Testing

@testable import Sealing

@Suite struct BlobLayoutTests {
    @Test(arguments: [
        (0, 1), (1, 1), (65_535, 1), (65_536, 1), (65_537, 2), (131_072, 2), (131_073, 3), (1 << 40, 1 << 24),
    ])
    func plaintextSplitsIntoChunks(size: Int, chunks: Int) throws {
        #expect(BlobLayout.chunkCount(plaintextSize: size) == chunks)
        let plan = try BlobLayout.ChunkPlan(sealedSize: BlobLayout.blobSize(plaintextSize: size) - 176)
        #expect(plan.chunkCount == chunks)
        #expect(plan.plaintextSize == size)
    }

    /// Every sealed size either corresponds to exactly one plaintext size, or is refused.
    @Test func sealedSizesAndPlaintextSizesMatchOneToOne() {
        var next = 0
        for sealed in 0..<3 * 65_552 {
            let plan = try? BlobLayout.ChunkPlan(sealedSize: sealed)
            guard let plan else { continue }
            #expect(plan.plaintextSize == next)
            next = plan.plaintextSize + 1
        }
        #expect(next == 3 * 65_536)
    }

    /// The limit is 2^32 chunks of 65,552 bytes, to the byte.
    @Test func aBlobHasAtMost4294967296Chunks() throws {
        let most = 4_294_967_296 * 65_552
        #expect(BlobLayout.blobSize(plaintextSize: 1 << 48) == 176 + most)
        let plan = try BlobLayout.ChunkPlan(sealedSize: most)
        #expect(plan.chunkCount == 4_294_967_296 && plan.plaintextSize == 1 << 48)
        for size in [most + 17, most + 65_552, .max] {
            let error = #expect(throws: SealingError.self) { try BlobLayout.ChunkPlan(sealedSize: size) }
            #expect(error?.code == .malformed)
        }
    }

    /// This is the case of readers and writers of streams, which do not know the size.
    @Test func aBatchEndsWithinThoseChunks() {
        func fits(_ first: UInt64, _ chunks: Int) -> Bool {
            Batch(count: 1, firstChunk: first, isLast: true).fits(chunks)
        }
        let most: UInt64 = 4_294_967_296
        #expect(fits(0, 8) && fits(most - 8, 8) && fits(most - 1, 1))
        #expect(!fits(most - 7, 8) && !fits(most, 1) && !fits(.max, 8))
    }

    @Test(arguments: [Int.min, -1, 0, 15, 65_553, 65_568, 131_120])
    func otherSizesAreMalformed(sealed: Int) {
        let error = #expect(throws: SealingError.self) { try BlobLayout.ChunkPlan(sealedSize: sealed) }
        #expect(error?.code == .malformed)
    }
}
