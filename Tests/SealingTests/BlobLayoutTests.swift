import Sealing
import Testing

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

    /// Every sealed size is either the size of exactly one plaintext size, or refused.
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

    @Test(arguments: [Int.min, -1, 0, 15, 65_553, 65_568, 131_120])
    func otherSizesAreMalformed(sealed: Int) {
        let error = #expect(throws: SealingError.self) { try BlobLayout.ChunkPlan(sealedSize: sealed) }
        #expect(error?.code == .malformed)
    }
}
