import Sealing
import TestSupport
import Testing

/// Tests with random, structure-aware changes of the good vectors: nothing crashes, and only the original opens. There
/// are 5,000 changes, or 500,000 with `SEALED_LONG=1` (`make fuzz`). A failure states its seed.
@Suite struct FuzzBlobTests {
    private static let rounds = isLongRun ? 500 : 5

    @Test(arguments: 0..<rounds)
    func nothingButTheOriginalOpens(round: Int) {
        for step in 0..<1000 {
            let seed = UInt64(round * 1000 + step)
            var random = SeededGenerator(seed: seed)
            let vector = pick(&random)
            let count = Int.random(in: 1...4, using: &random)
            let blob = BlobMutation.apply(count, to: vector.blob, others: BlobVector.good, using: &random)
            check(blob, against: vector, seed: seed, all: step % 20 == 0)
        }
    }

    /// Bytes that were never a blob, with and without a blob's preamble.
    @Test(arguments: 0..<rounds)
    func noiseIsRefused(round: Int) {
        guard let vector = BlobVector.good.first else { return }
        for step in 0..<200 {
            var random = SeededGenerator(seed: UInt64(1_000_000 + round * 1000 + step))
            let noise = random.bytes(Int.random(in: 0...400, using: &random))
            for blob in [noise, Array("SEAL\u{1}\u{1}\u{1}\u{0}".utf8) + noise] {
                #expect(BlobReading.whole.read(blob, of: vector).code != "ok")
            }
        }
    }

    private func pick(_ random: inout SeededGenerator) -> BlobVector {
        let vectors = Int.random(in: 0..<8, using: &random) == 0 ? Self.large : Self.small
        return vectors.randomElement(using: &random) ?? BlobVector.good[0]
    }

    private static let small = BlobVector.good.filter { $0.blob.count <= 4096 }
    private static let large = BlobVector.good.filter { $0.blob.count > 4096 }

    private func check(_ blob: [UInt8], against vector: BlobVector, seed: UInt64, all: Bool) {
        let readings: [BlobReading] = all ? BlobReading.allCases : [.whole, .range]
        for reading in readings {
            let answer = reading.read(blob, of: vector)
            let isOriginal = blob == vector.blob
            if (answer.code == "ok") != isOriginal || !(isOriginal || answer.releasedEarly.isEmpty) {
                Issue.record("seed \(seed), \(vector.name): \(reading) says \(answer.code)")
            }
        }
    }
}
