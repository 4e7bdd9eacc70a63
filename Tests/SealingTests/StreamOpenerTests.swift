import CryptoPrimitives
import Sealing
import Testing

/// Tests with a stream of 20 chunks, which pass through the pipeline in groups of 8, 8 and 4.
@Suite struct StreamOpenerTests {
    private static let chunk = BlobLayout.sealedChunkSize
    private let plaintext = SeededStream.plaintext(20 * BlobLayout.chunkSize)
    private let sealed: SeededStream

    init() throws { sealed = try SeededStream(plaintext) }

    /// A cut stream releases the groups of chunks that precede other chunks, with any number of workers.
    @Test(arguments: [1, 3])
    func aCutStreamReleasesItsAuthenticPrefixOnly(workers: Int) {
        let edges: [Int] = (0...20).flatMap { index in [-1, 0, 16, 99].map { index * Self.chunk + $0 } }
        for behindHeader in edges where behindHeader >= 0 && behindHeader < 20 * Self.chunk {
            let answer = open(Array(sealed.blob[..<(BlobLayout.headerSize + behindHeader)]), workers)
            let groups = max(0, behindHeader - 1) / (8 * Self.chunk)
            #expect(answer.code == "tampered" || answer.code == "malformed")
            expectSame(answer.releasedEarly, plaintext[..<(groups * 8 * BlobLayout.chunkSize)])
        }
    }

    @Test(arguments: [1, 3])
    func aDamagedChunkEndsTheStreamBeforeItsGroup(workers: Int) {
        for index in 0..<20 {
            var blob = sealed.blob
            blob[BlobLayout.headerSize + index * Self.chunk + 5] ^= 1
            let answer = open(blob, workers)
            #expect(answer.code == "tampered")
            expectSame(answer.releasedEarly, plaintext[..<(index / 8 * 8 * BlobLayout.chunkSize)])
        }
    }

    /// With two faults the first one in the stream is reported, even if a thread finds the other one earlier.
    @Test(arguments: [1, 3])
    func theFirstFaultOfTheStreamIsReported(workers: Int) {
        for _ in 0..<60 {
            var blob = sealed.blob + [UInt8](repeating: 0, count: 16)
            blob[BlobLayout.headerSize + 15 * Self.chunk] ^= 1
            #expect(open(blob, workers).code == "tampered")
        }
    }

    @Test func aWholeBlobOpenReleasesNothingOfACutStream() {
        for size in [BlobLayout.headerSize + 19 * Self.chunk, sealed.blob.count - 1] {
            let code = BlobReading.whole.read(
                Array(sealed.blob[..<size]), context: SeededStream.context, key: sealed.key
            ).code
            #expect(code == "tampered")
        }
    }

    @Test(arguments: [1, 3])
    func verifyingGivesTheHeaderAndReleasesNothing(workers: Int) throws {
        let header = try StreamOpener.verify(
            from: MemorySource(sealed.blob).read, context: SeededStream.context, keys: sealed.key, workers: workers)
        #expect(header.header.encoded == Array(sealed.blob[..<BlobLayout.headerSize]))
        #expect(throws: (any Error).self) {
            try StreamOpener.verify(
                from: MemorySource(sealed.blob.dropLast()).read, context: SeededStream.context, keys: sealed.key,
                workers: workers)
        }
    }

    @Test(arguments: [1, 3])
    func aFailingSourceComesOutAsInput(workers: Int) {
        for failsAfter in [0, 100, 176, 177, 176 + 8 * Self.chunk, 176 + 8 * Self.chunk + 1, 176 + 17 * Self.chunk] {
            let source = FaultySource(sealed.blob, failsAfter: failsAfter)
            let sink = MemorySink()
            expectInput { () throws(StreamFailure<TestFailure>) in
                try StreamOpener.openReleasingEarly(
                    from: source.read, to: { (bytes) throws(TestFailure) in sink.write(bytes) },
                    context: SeededStream.context, keys: sealed.key, workers: workers)
            }
            let groups = max(0, failsAfter - 177) / (8 * Self.chunk)
            expectSame(sink.bytes, plaintext[..<(groups * 8 * BlobLayout.chunkSize)])
        }
    }

    @Test(arguments: [1, 3])
    func aFailingSinkComesOutAsOutputAndIsNotAskedAgain(workers: Int) {
        for failsAt in 0..<3 {
            let sink = FaultySink(failsAt: failsAt)
            let source = FaultySource(sealed.blob, failsAfter: .max)
            expectOutput { () throws(StreamFailure<TestFailure>) in
                try StreamOpener.openReleasingEarly(
                    from: source.read, to: sink.write, context: SeededStream.context, keys: sealed.key,
                    workers: workers)
            }
            #expect(sink.calls == failsAt + 1)
        }
    }

    private func open(_ blob: [UInt8], _ workers: Int) -> BlobReading.Answer {
        let reading: BlobReading = workers == 1 ? .streamWithOneWorker : .streamWithThreeWorkers
        return reading.read(blob, context: SeededStream.context, key: sealed.key)
    }
}
