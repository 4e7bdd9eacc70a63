import CryptoPrimitives
import Sealing
import Testing

@Suite struct StreamSealerTests {
    private static let group = 8 * BlobLayout.chunkSize

    /// Sizes around chunks and groups of chunks, in pieces of odd sizes, as from a pipe.
    @Test(
        arguments: [0, 1, 65_535, 65_536, 65_537, group - 1, group, group + 1, 2 * group, 2 * group + 65_536],
        [1, 2, 3])
    func aStreamHasTheBytesOfABlobSealedAtOnce(size: Int, workers: Int) throws {
        let plaintext = SeededStream.plaintext(size)
        let stream = try SeededStream(plaintext)
        let sink = MemorySink()
        try StreamSealer.seal(
            from: MemorySource(plaintext).read, to: sink.write, as: stream.description, key: stream.key,
            workers: workers, fixedSalt: SeededStream.salt)
        expectSame(sink.bytes, stream.blob)
        #expect(sink.bytes.count == BlobLayout.blobSize(plaintextSize: size))
    }

    @Test func aSourceThatGivesSingleBytesIsReadToItsEnd() throws {
        let plaintext = SeededStream.plaintext(70_000)
        let stream = try SeededStream(plaintext)
        let sink = MemorySink()
        let source = MemorySource(plaintext)
        try StreamSealer.seal(
            from: { source.read(UnsafeMutableRawBufferPointer(rebasing: $0[..<1])) }, to: sink.write,
            as: stream.description, key: stream.key, workers: 2, fixedSalt: SeededStream.salt)
        expectSame(sink.bytes, stream.blob)
    }

    /// The source fails once and then continues. Its later bytes must not be sealed as if none were missing.
    @Test(arguments: [1, 3], [0, 1, group, group + 1, 2 * group + 70_000])
    func aFailingSourceComesOutAsInputAndIsNotReadOn(workers: Int, failsAfter: Int) throws {
        let plaintext = SeededStream.plaintext(6 * Self.group)
        let stream = try SeededStream(plaintext)
        for _ in 0..<5 {
            let source = FaultySource(plaintext, failsAfter: failsAfter)
            let sink = MemorySink()
            expectInput { () throws(StreamFailure<TestFailure>) in
                try StreamSealer.seal(
                    from: source.read, to: { (bytes) throws(TestFailure) in sink.write(bytes) }, as: stream.description,
                    key: stream.key, workers: workers, fixedSalt: SeededStream.salt)
            }
            let groups = max(0, failsAfter - 1) / Self.group
            expectSame(sink.bytes, stream.blob[..<(176 + groups * 8 * BlobLayout.sealedChunkSize)])
            #expect(source.readsAfterFailure == 0)
        }
    }

    @Test(arguments: [1, 3], [0, 1, 2, 4])
    func aFailingSinkComesOutAsOutputAndIsNotAskedAgain(workers: Int, failsAt: Int) throws {
        let plaintext = SeededStream.plaintext(6 * Self.group)
        let stream = try SeededStream(plaintext)
        let sink = FaultySink(failsAt: failsAt)
        let source = FaultySource(plaintext, failsAfter: .max)
        expectOutput { () throws(StreamFailure<TestFailure>) in
            try StreamSealer.seal(
                from: source.read, to: sink.write, as: stream.description, key: stream.key, workers: workers,
                fixedSalt: SeededStream.salt)
        }
        #expect(sink.calls == failsAt + 1)
        expectSame(sink.bytes, stream.blob.prefix(sink.bytes.count))
    }

    /// The limit is 2^32 chunks. The stream begins shortly before it, so that the test need not seal 256 TiB.
    @Test(arguments: [1, 3])
    func moreChunksThanABlobHasAreTooLarge(workers: Int) throws {
        let first = UInt64(BlobLayout.maximumChunkCount) - 2
        #expect(try code(sealing: 2 * BlobLayout.chunkSize, from: first, workers) == nil)
        #expect(try code(sealing: 2 * BlobLayout.chunkSize + 1, from: first, workers) == .tooLarge)
        #expect(try code(sealing: 20 * BlobLayout.chunkSize, from: first, workers) == .tooLarge)
        #expect(try code(sealing: 0, from: first + 2, workers) == .tooLarge)
    }

    private func code(sealing size: Int, from first: UInt64, _ workers: Int) throws -> SealingError.Code? {
        let plaintext = SeededStream.plaintext(size)
        let stream = try SeededStream([])
        do throws(StreamFailure<Never>) {
            try StreamSealer.seal(
                from: MemorySource(plaintext).read, to: MemorySink().write, as: stream.description, key: stream.key,
                workers: workers, firstChunk: first)
            return nil
        } catch { return sealingError(error).code }
    }

    @Test func noTwoStreamsHaveOneSalt() throws {
        let stream = try SeededStream([])
        let salts = try (0..<50).map { _ in
            let sink = MemorySink()
            try StreamSealer.seal(
                from: MemorySource([]).read, to: sink.write, as: stream.description, key: stream.key, workers: 1)
            return Array(sink.bytes[BlobLayout.saltOffset..<BlobLayout.commitmentOffset])
        }
        #expect(Set(salts).count == 50)
    }
}
