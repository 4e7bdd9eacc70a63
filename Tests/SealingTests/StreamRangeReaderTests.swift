import CryptoPrimitives
import Sealing
import Synchronization
import Testing

@Suite struct StreamRangeReaderTests {
    private static let size = 3 * 65_536 + 1000
    private let plaintext = SeededStream.plaintext(size)
    private let sealed: SeededStream

    init() throws { sealed = try SeededStream(plaintext) }

    @Test(arguments: [
        0..<1, 0..<65_536, 65_535..<65_537, 65_536..<131_072, 1..<196_607, size - 1..<size, size - 1000..<size,
        0..<size,
        100_000..<100_010,
    ])
    func aRangeIsThatPartOfThePlaintext(range: Range<Int>) throws {
        try expectSame(reader(sealed.blob).read(range), plaintext[range])
    }

    @Test(arguments: [0..<0, 65_536..<65_536, size..<size])
    func anEmptyRangeIsNothing(range: Range<Int>) throws {
        #expect(try reader(sealed.blob).read(range).isEmpty)
    }

    @Test(arguments: [0..<size + 1, size..<size + 1, -1..<1, -5..<(-1), Int.min..<Int.max])
    func aRangeOutsideTheContentsIsAnInvalidArgument(range: Range<Int>) throws {
        let reader = try reader(sealed.blob)
        #expect(code { () throws(StreamFailure<Never>) in _ = try reader.read(range) } == .invalidArgument)
    }

    @Test func theSizeAndTheHeaderAreTheWriters() throws {
        let reader = try reader(sealed.blob)
        #expect(reader.plaintextSize == Self.size)
        #expect(reader.header.header.encoded == Array(sealed.blob[..<176]))
    }

    @Test func onlyTheChunksOfTheRangeMatter() throws {
        var blob = sealed.blob
        blob[176 + BlobLayout.sealedChunkSize + 9] ^= 1
        let reader = try reader(blob)
        try expectSame(reader.read(0..<65_536), plaintext[0..<65_536])
        try expectSame(reader.read(131_072..<Self.size), plaintext[131_072..<Self.size])
        for range in [65_536..<65_537, 0..<65_537, 131_071..<131_072, 0..<Self.size] {
            #expect(code { () throws(StreamFailure<Never>) in _ = try reader.read(range) } == .tampered)
        }
    }

    @Test func aCutStreamIsRefusedBeforeAnythingIsRead() {
        let sizes = [0, 175, 176, 191, 192, 176 + 65_552, 176 + 2 * 65_552, 176 + 3 * 65_552, sealed.blob.count - 1]
        for size in sizes {
            let refusal = code { () throws(StreamFailure<Never>) in _ = try reader(Array(sealed.blob[..<size])) }
            #expect(refusal == .malformed || refusal == .tampered, "\(size)")
        }
        let longer = code { () throws(StreamFailure<Never>) in _ = try reader(sealed.blob + [0]) }
        #expect(longer == .tampered)
    }

    @Test func aRangeReadsTheHeaderTheLastChunkAndItsOwnChunksOnly() throws {
        let offsets = Mutex<[Int]>([])
        let blob = sealed.blob
        let reader = try StreamRangeReader<Never>(
            blobSize: blob.count, context: SeededStream.context, keys: sealed.key,
            readAt: { offset, buffer in
                offsets.withLock { $0.append(offset) }
                buffer.copyBytes(from: blob[offset..<offset + buffer.count])
            })
        _ = try reader.read(65_536..<65_540)
        let read: [Int] = offsets.withLock { $0 }
        let expected: [Int] = [0, 176 + 3 * 65_552, 176 + 65_552]
        #expect(read == expected)
    }

    @Test func aFailingSourceComesOutAsInput() {
        let blob = sealed.blob
        for failsAt in [0, 176 + 3 * 65_552, 176] {
            expectInput { () throws(StreamFailure<TestFailure>) in
                let reader = try StreamRangeReader<TestFailure>(
                    blobSize: blob.count, context: SeededStream.context, keys: sealed.key,
                    readAt: { offset, buffer throws(TestFailure) in
                        if offset == failsAt { throw TestFailure() }
                        buffer.copyBytes(from: blob[offset..<offset + buffer.count])
                    })
                _ = try reader.read(0..<1)
            }
        }
    }

    /// The size comes from a directory entry. Any wrong value leads to a refusal or a failing read.
    @Test(arguments: [Int.min, -1, 0, 1, 176, Int.max - 1, Int.max])
    func aSizeThatIsNotTheBlobsIsRefused(blobSize: Int) {
        let blob = sealed.blob
        #expect(throws: (any Error).self) {
            try StreamRangeReader<TestFailure>(
                blobSize: blobSize, context: SeededStream.context, keys: sealed.key,
                readAt: { offset, buffer throws(TestFailure) in
                    guard offset <= blob.count - buffer.count else { throw TestFailure() }
                    buffer.copyBytes(from: blob[offset..<offset + buffer.count])
                })
        }
    }

    private func reader(_ blob: [UInt8]) throws(StreamFailure<Never>) -> StreamRangeReader<Never> {
        try StreamRangeReader(
            blobSize: blob.count, context: SeededStream.context, keys: sealed.key,
            readAt: { offset, buffer in buffer.copyBytes(from: blob[offset..<offset + buffer.count]) })
    }

    private func code(_ body: () throws(StreamFailure<Never>) -> Void) -> SealingError.Code? {
        do throws(StreamFailure<Never>) {
            try body()
            return nil
        } catch { return sealingError(error).code }
    }
}
