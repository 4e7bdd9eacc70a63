import Sealing
import Testing

/// Tests that every good vector is refused, and nothing is released, after each damage by one bit, one cut or one
/// addition.
///
/// Contents of up to 4 KiB are damaged bit by bit and cut byte by byte. Larger contents are sampled; with
/// `SEALED_LONG=1` (`make fuzz`) the reader of whole blobs reads all variants.
@Suite struct FuzzDamageTests {
    @Test(arguments: BlobVector.good)
    func everyFlippedBitOfAHeaderIsRefused(vector: BlobVector) {
        var blob = vector.blob
        for bit in 0..<BlobLayout.headerSize * 8 {
            expectRefusal(of: &blob, bit: bit, vector, by: bit % 50 == 0 ? BlobReading.allCases : Self.withoutThreads)
        }
    }

    @Test(arguments: BlobVector.good)
    func everyFlippedBitOfTheContentsIsRefused(vector: BlobVector) {
        var blob = vector.blob
        let (start, end) = (BlobLayout.headerSize * 8, blob.count * 8)
        for bit in stride(from: start, to: end, by: isSmall(vector) ? 1 : 4099) {
            expectRefusal(of: &blob, bit: bit, vector, by: bit % 50 == 0 ? BlobReading.allCases : Self.withoutThreads)
        }
        for bit in end - 16 * 8..<end { expectRefusal(of: &blob, bit: bit, vector, by: Self.withoutThreads) }
        if isSmall(vector) || !isLongRun { return }
        for bit in start..<end { expectRefusal(of: &blob, bit: bit, vector, by: [.whole]) }
    }

    @Test(arguments: BlobVector.good)
    func everyTruncationIsRefused(vector: BlobVector) {
        let count = vector.blob.count
        let edges = [176, 192, 193, 65_728, 65_744, 65_745, 131_280, 131_296, count]
        let nearEdges = edges.flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 < count }
        for size in Array(stride(from: 0, to: count, by: isSmall(vector) ? 1 : 997)) + nearEdges {
            expectRefusal(of: Array(vector.blob[..<size]), vector, "cut to \(size) bytes", by: BlobReading.allCases)
        }
        if isSmall(vector) || !isLongRun { return }
        for size in 0..<count {
            expectRefusal(of: Array(vector.blob[..<size]), vector, "cut to \(size) bytes", by: [.whole])
        }
    }

    @Test(arguments: BlobVector.good)
    func appendedBytesAreRefused(vector: BlobVector) {
        let contents = vector.blob[BlobLayout.headerSize...]
        let additions: [[UInt8]] = [
            [0], [1], [0xff], .init(repeating: 0, count: 16), .init(repeating: 0, count: 17),
            .init(repeating: 0, count: 65_552), Array(contents), vector.blob,
        ]
        for addition in additions {
            let damage = "\(addition.count) bytes appended"
            expectRefusal(of: vector.blob + addition, vector, damage, by: BlobReading.allCases)
        }
    }

    /// The readings without threads. Threads for every bit would cost more than they could find.
    private static let withoutThreads = BlobReading.allCases.filter { $0 != .streamWithThreeWorkers }

    private func isSmall(_ vector: BlobVector) -> Bool { vector.blob.count <= 4096 }

    private func expectRefusal(of blob: inout [UInt8], bit: Int, _ vector: BlobVector, by readings: [BlobReading]) {
        blob[bit / 8] ^= 1 << (bit % 8)
        expectRefusal(of: blob, vector, "bit \(bit)", by: readings)
        blob[bit / 8] ^= 1 << (bit % 8)
    }

    private func expectRefusal(
        of blob: [UInt8], _ vector: BlobVector, _ damage: @autoclosure () -> String, by readings: [BlobReading]
    ) {
        for reading in readings {
            let answer = reading.read(blob, of: vector)
            if answer.code == "ok" || !answer.releasedEarly.isEmpty {
                Issue.record("\(vector.name), \(damage()): \(reading) says \(answer.code)")
            }
        }
    }
}
