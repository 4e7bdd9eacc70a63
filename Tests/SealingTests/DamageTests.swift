import Sealing
import Testing

/// Every good vector, damaged in every way that one bit, one cut or one addition can: refused, and nothing released.
@Suite struct DamageTests {
    @Test(arguments: BlobVector.good)
    func everyFlippedBitOfAHeaderIsRefused(vector: BlobVector) {
        var blob = vector.blob
        for bit in 0..<BlobLayout.headerSize * 8 { expectRefusal(of: &blob, bit: bit, vector) }
    }

    /// Contents of up to 4 KiB bit by bit; of larger ones every 4,099th bit, or all of them in the long run.
    @Test(arguments: BlobVector.good)
    func everyFlippedBitOfTheContentsIsRefused(vector: BlobVector) {
        var blob = vector.blob
        let step = blob.count <= 4096 || isLongRun ? 1 : 4099
        for bit in stride(from: BlobLayout.headerSize * 8, to: blob.count * 8, by: step) {
            expectRefusal(of: &blob, bit: bit, vector)
        }
        for bit in (blob.count - 16) * 8..<blob.count * 8 { expectRefusal(of: &blob, bit: bit, vector) }
    }

    @Test(arguments: BlobVector.good)
    func everyTruncationIsRefused(vector: BlobVector) {
        for size in truncations(of: vector.blob.count) {
            expectRefusal(of: Array(vector.blob[..<size]), vector, "cut to \(size) bytes")
        }
    }

    @Test(arguments: BlobVector.good)
    func whateverIsAppendedIsRefused(vector: BlobVector) {
        for byte in [UInt8(0), 1, 0xff] { expectRefusal(of: vector.blob + [byte], vector, "appended \(byte)") }
        for count in [16, 17, 65_552] {
            let addition = [UInt8](repeating: 0, count: count)
            expectRefusal(of: vector.blob + addition, vector, "appended \(count) bytes")
        }
        expectRefusal(of: vector.blob + vector.blob, vector, "twice")
        expectRefusal(of: vector.blob + vector.blob[BlobLayout.headerSize...], vector, "contents twice")
    }

    /// The three-worker form starts threads for each blob, so only every 50th goes through it as well.
    private func expectRefusal(of blob: inout [UInt8], bit: Int, _ vector: BlobVector) {
        blob[bit / 8] ^= 1 << (bit % 8)
        expectRefusal(of: blob, vector, "bit \(bit)", threads: bit % 50 == 0)
        blob[bit / 8] ^= 1 << (bit % 8)
    }

    private func expectRefusal(
        of blob: [UInt8], _ vector: BlobVector, _ damage: @autoclosure () -> String, threads: Bool = true
    ) {
        for reading in BlobReading.allCases where threads || reading != .streamWithThreeWorkers {
            let answer = reading.read(blob, of: vector)
            if answer.code == "ok" || !answer.releasedEarly.isEmpty {
                Issue.record("\(vector.name), \(damage()): \(reading) says \(answer.code)")
            }
        }
    }

    private func truncations(of count: Int) -> [Int] {
        if count <= 4096 { return Array(0..<count) }
        let edges = [176, 192, 193, 65_728, 65_744, 65_745, 131_280, 131_296, count]
        let nearEdges = edges.flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 < count }
        return Array(stride(from: 0, to: count, by: isLongRun ? 1 : 997)) + nearEdges
    }
}
