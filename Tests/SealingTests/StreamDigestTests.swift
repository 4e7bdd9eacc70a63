import CryptoPrimitives
import Synchronization
import Testing

@testable import Sealing

/// A stream whose contents a record certifies, and the forgeries of a holder of the group's keys who is not the
/// record's writer.
struct VouchedStream {
    static let context = BlobContext(group: "group.com.example.app", kind: .stream, name: "photo/1")

    let contents: [UInt8]
    let key: SealingKey
    let blob: [UInt8]
    let digest: StreamDigest

    init(_ size: Int, workers: Int = 2) throws {
        contents = SeededStream.plaintext(size)
        key = try SealingKey.random(epoch: 1)
        let sink = MemorySink()
        digest = try StreamSealer.sealWithDigest(
            from: MemorySource(contents).read, to: sink.write,
            as: BlobDescription(stream: Self.context, sealedAt: 1), key: key, workers: workers,
            fixedSalt: SeededStream.salt)
        blob = sink.bytes
    }

    /// Returns the digest and the plaintext according to the document, computed here.
    static func documented(_ contents: [UInt8]) -> (digest: StreamDigest, plaintext: [UInt8]) {
        let list = stride(from: 0, to: contents.count, by: 65_536).flatMap { start in
            BLAKE2b.hash(
                Array(contents[start..<min(start + 65_536, contents.count)]),
                personalization: Personalization("SealedState.sch1"), count: 32)
        }
        let size = (0..<8).map { UInt8(truncatingIfNeeded: contents.count >> (8 * $0)) }
        let hash = BLAKE2b.hash(size + list, personalization: Personalization("SealedState.sdg1"), count: 32)
        let listHash = Bytes32(filling: { $0.copyBytes(from: hash) })
        return (StreamDigest(contentsSize: UInt64(contents.count), listHash: listHash), contents + list)
    }

    /// The whole plaintext: contents and list.
    var plaintext: [UInt8] { Self.documented(contents).plaintext }

    /// Returns another plaintext under the same key, after the same header with its commitment.
    func resealed(_ plaintext: [UInt8]) -> [UInt8] {
        let other = plaintext.withRawBytes {
            BlobSealer.seal(
                $0, as: BlobDescription(stream: Self.context, sealedAt: 1), key: key, fixedSalt: SeededStream.salt)
        }
        precondition(other[..<BlobLayout.headerSize] == blob[..<BlobLayout.headerSize], "it is the same header")
        return other
    }

    /// Returns the stream with other bytes from an offset of the plaintext on. Chunks without these bytes remain
    /// unchanged.
    func replacing(at offset: Int, with bytes: [UInt8]) -> [UInt8] {
        var plaintext = plaintext
        plaintext.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return resealed(plaintext)
    }

    func reader(
        _ blob: [UInt8]? = nil, digest: StreamDigest? = nil
    ) throws(StreamFailure<Never>) -> StreamRangeReader<Never> {
        let blob = blob ?? self.blob
        return try StreamRangeReader(
            blobSize: blob.count, context: Self.context, keys: key, digest: digest ?? self.digest,
            readAt: { offset, buffer in buffer.copyBytes(from: blob[offset..<offset + buffer.count]) })
    }

    /// Opens the stream from the beginning to the end, and returns the released plaintext and the refusal.
    func open(
        _ blob: [UInt8]? = nil, digest: StreamDigest? = nil, workers: Int = 2
    ) -> (released: [UInt8], code: SealingError.Code?) {
        let sink = MemorySink()
        let code = refusal { () throws(StreamFailure<Never>) in
            try StreamOpener.openReleasingEarly(
                from: MemorySource(blob ?? self.blob).read, to: sink.write, context: Self.context, keys: key,
                digest: digest ?? self.digest, workers: workers)
        }
        return (sink.bytes, code)
    }

    /// Expects that every way to read the whole stream refuses it.
    func expectRefused(
        _ blob: [UInt8]? = nil, digest: StreamDigest? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for workers in [1, 3] {
            #expect(open(blob, digest: digest, workers: workers).code == .tampered, sourceLocation: sourceLocation)
        }
        let code = refusal { () throws(StreamFailure<Never>) in
            let reader = try reader(blob, digest: digest)
            _ = try reader.read(0..<reader.plaintextSize)
        }
        #expect(code == .tampered, sourceLocation: sourceLocation)
    }
}

/// Returns the code of the refusal, or `nil`.
func refusal(_ body: () throws(StreamFailure<Never>) -> Void) -> SealingError.Code? {
    do throws(StreamFailure<Never>) {
        try body()
        return nil
    } catch { return sealingError(error).code }
}

@Suite struct StreamDigestTests {
    private static let chunk = BlobLayout.chunkSize
    private static let group = 8 * chunk
    /// Sizes around chunks, around groups of chunks, and with a list that begins or ends at a chunk's boundary.
    private static let sizes = [
        0, 1, 65_503, 65_504, 65_505, 65_535, 65_536, 65_537, 3 * chunk + 1000, group - 256, group - 255, group,
        group + 1, 2 * group, 2 * group + 70_000,
    ]

    @Test(arguments: sizes, [1, 3])
    func contentsComeBackWithoutTheList(size: Int, workers: Int) throws {
        let stream = try VouchedStream(size, workers: workers)
        let (released, code) = stream.open(workers: workers)
        #expect(code == nil)
        expectSame(released, stream.contents)
        let reader = try stream.reader()
        #expect(reader.plaintextSize == size)
        expectSame(try reader.read(0..<size), stream.contents)
    }

    @Test(arguments: sizes, [1, 3])
    func plaintextAndDigestAreTheDocuments(size: Int, workers: Int) throws {
        let stream = try VouchedStream(size, workers: workers)
        let (digest, plaintext) = VouchedStream.documented(stream.contents)
        #expect(stream.digest == digest)
        expectSame(stream.blob, stream.resealed(plaintext))
        #expect(digest.plaintextSize == plaintext.count)
    }

    /// The end of whole chunks, or a group of chunks that contains only the list, must not cause a call without bytes.
    @Test(arguments: [0, 5, group, group + 5, 8 * chunk - 100], [1, 3])
    func sinksAreNotCalledWithoutBytes(size: Int, workers: Int) throws {
        let contents = SeededStream.plaintext(size)
        let key = try SealingKey.random(epoch: 1)
        let (blob, plaintext) = (MemorySink(), MemorySink())
        let emptyCalls = Atomic(0)
        let digest = try StreamSealer.sealWithDigest(
            from: MemorySource(contents).read,
            to: { bytes in
                if bytes.isEmpty { emptyCalls.add(1, ordering: .relaxed) }
                blob.write(bytes)
            }, as: BlobDescription(stream: VouchedStream.context, sealedAt: 1), key: key, workers: workers)
        try StreamOpener.openReleasingEarly(
            from: MemorySource(blob.bytes).read,
            to: { bytes in
                if bytes.isEmpty { emptyCalls.add(1, ordering: .relaxed) }
                plaintext.write(bytes)
            }, context: VouchedStream.context, keys: key, digest: digest, workers: workers)
        expectSame(plaintext.bytes, contents)
        #expect(emptyCalls.load(ordering: .relaxed) == 0)
    }

    @Test func resealingUnderAnotherKeyKeepsTheDigest() throws {
        let stream = try VouchedStream(2 * Self.chunk + 5)
        let key = try SealingKey.random(epoch: 2)
        let blob = stream.plaintext.withRawBytes {
            BlobSealer.seal($0, as: BlobDescription(stream: VouchedStream.context, sealedAt: 1), key: key)
        }
        let sink = MemorySink()
        try StreamOpener.openReleasingEarly(
            from: MemorySource(blob).read, to: sink.write, context: VouchedStream.context, keys: key,
            digest: stream.digest)
        expectSame(sink.bytes, stream.contents)
    }

    /// In a stream of four chunks of contents each chunk is sealed again with other contents. Key, header and
    /// commitment are correct.
    @Test(arguments: 0..<4)
    func foreignChunkIsRefusedWhereItIsRead(foreign: Int) throws {
        let stream = try VouchedStream(3 * Self.chunk + 1000)
        let start = foreign * Self.chunk
        let blob = stream.replacing(at: start + 9, with: [stream.contents[start + 9] ^ 1])
        stream.expectRefused(blob)
        let reader = try stream.reader(blob)
        for index in 0..<4 {
            let range = index * Self.chunk..<min((index + 1) * Self.chunk, stream.contents.count)
            if index == foreign {
                let (first, last) = (range.lowerBound, range.upperBound - 1)
                for touched in [range, first..<first + 1, last..<last + 1] {
                    #expect(refusal { () throws(StreamFailure<Never>) in _ = try reader.read(touched) } == .tampered)
                }
            } else {
                expectSame(try reader.read(range), stream.contents[range])
            }
        }
    }

    @Test func exchangedChunksAreRefused() throws {
        let stream = try VouchedStream(2 * Self.chunk)
        let other = Array(stream.contents[Self.chunk...] + stream.contents[..<Self.chunk])
        stream.expectRefused(stream.replacing(at: 0, with: other))
    }

    /// The list matches its contents, but these are not the contents of the record.
    @Test(arguments: [1, 65_536, 65_537])
    func anotherStreamOfTheSameSizeIsRefused(size: Int) throws {
        let stream = try VouchedStream(size)
        var contents = stream.contents
        contents[0] ^= 1
        stream.expectRefused(stream.resealed(VouchedStream.documented(contents).plaintext))
    }

    @Test(arguments: [1, 65_504, 65_536, 3 * chunk + 1000])
    func changedListIsRefused(size: Int) throws {
        let stream = try VouchedStream(size)
        let plaintext = stream.plaintext
        for offset in [size, size + 31, plaintext.count - 1] {
            let blob = stream.replacing(at: offset, with: [plaintext[offset] ^ 1])
            stream.expectRefused(blob)
            // A range reader refuses the stream at once.
            #expect(refusal { () throws(StreamFailure<Never>) in _ = try stream.reader(blob) } == .tampered)
        }
    }

    @Test(arguments: [1, 65_505, 65_536, 3 * chunk + 1000])
    func plaintextOfAnotherSizeIsRefused(size: Int) throws {
        let stream = try VouchedStream(size)
        let plaintext = stream.plaintext
        let hash = [UInt8](repeating: 7, count: 32)
        let others = [
            Array(plaintext.dropLast()), Array(plaintext.dropLast(32)), stream.contents, plaintext + [0],
            plaintext + hash, [], [UInt8](repeating: 0, count: Self.group) + plaintext,
        ]
        for other in others {
            let blob = stream.resealed(other)
            stream.expectRefused(blob)
            #expect(refusal { () throws(StreamFailure<Never>) in _ = try stream.reader(blob) } == .tampered)
            #expect(stream.open(blob).released.count <= size)
        }
    }

    @Test(arguments: [0, 1, 65_536, 3 * chunk + 1000])
    func anotherDigestIsRefused(size: Int) throws {
        let stream = try VouchedStream(size)
        let listHash = stream.digest.listHash
        let sizes: [UInt64] = [
            UInt64(size) + 1, UInt64(size) &- 1, UInt64(stream.plaintext.count), UInt64(Self.chunk), 1 << 48, 1 << 62,
            1 << 63, .max - 1, .max,
        ]
        for other in sizes where other != size {
            stream.expectRefused(digest: StreamDigest(contentsSize: other, listHash: listHash))
        }
        stream.expectRefused(digest: StreamDigest(contentsSize: UInt64(size), listHash: .zero))
    }

    /// The digest covers contents that are the whole plaintext of another stream, including its list.
    @Test func listIsNotTakenForContents() throws {
        let stream = try VouchedStream(Self.chunk)
        let whole = VouchedStream.documented(stream.plaintext)
        stream.expectRefused(digest: whole.digest)
        #expect(stream.open(stream.resealed(whole.plaintext), digest: whole.digest).code == nil)
    }

    @Test func streamWithoutAListIsRefused() throws {
        let sealed = try SeededStream(SeededStream.plaintext(1000))
        let digest = VouchedStream.documented(SeededStream.plaintext(1000)).digest
        let code = refusal { () throws(StreamFailure<Never>) in
            try StreamOpener.verify(
                from: MemorySource(sealed.blob).read, context: SeededStream.context, keys: sealed.key, digest: digest)
        }
        #expect(code == .tampered)
    }

    @Test(arguments: [0, 1000, 65_536])
    func rangesEndWithTheContents(size: Int) throws {
        let stream = try VouchedStream(size)
        let reader = try stream.reader()
        #expect(try reader.read(size..<size).isEmpty)
        let ranges = [size..<size + 1, 0..<size + 1, 0..<stream.plaintext.count + 1, -1..<size, size + 32..<size + 32]
        for range in ranges {
            #expect(refusal { () throws(StreamFailure<Never>) in _ = try reader.read(range) } == .invalidArgument)
        }
    }

    @Test func listIsReadOnceWhenTheReaderIsCreated() throws {
        let stream = try VouchedStream(3 * Self.chunk)
        let offsets = Mutex<[Int]>([])
        let blob = stream.blob
        let reader = try StreamRangeReader<Never>(
            blobSize: blob.count, context: VouchedStream.context, keys: stream.key, digest: stream.digest,
            readAt: { offset, buffer in
                offsets.withLock { $0.append(offset) }
                buffer.copyBytes(from: blob[offset..<offset + buffer.count])
            })
        _ = try reader.read(65_536..<65_540)
        _ = try reader.read(0..<1)
        let read: [Int] = offsets.withLock { $0 }
        #expect(read == [0, 176 + 3 * 65_552, 176 + 65_552, 176])
    }

    @Test func damageIsRefusedAsWithoutADigest() throws {
        let stream = try VouchedStream(2 * Self.chunk)
        for place in [180, 176 + 65_552 + 5, stream.blob.count - 1] {
            var blob = stream.blob
            blob[place] ^= 1
            stream.expectRefused(blob)
        }
        for size in [BlobLayout.headerSize - 1, BlobLayout.headerSize + 15] {
            #expect(stream.open(Array(stream.blob[..<size])).code == .malformed)
        }
    }

    @Test(arguments: [1, 3], [0, 1, 8 * 65_536, 2 * 8 * 65_536 + 70_000])
    func failingSourceGivesNoDigest(workers: Int, failsAfter: Int) throws {
        let contents = SeededStream.plaintext(3 * Self.group)
        let source = FaultySource(contents, failsAfter: failsAfter)
        let sink = MemorySink()
        let key = try SealingKey.random(epoch: 1)
        expectInput { () throws(StreamFailure<TestFailure>) in
            _ = try StreamSealer.sealWithDigest(
                from: source.read, to: { (bytes) throws(TestFailure) in sink.write(bytes) },
                as: BlobDescription(stream: VouchedStream.context, sealedAt: 1), key: key, workers: workers)
        }
        #expect(source.readsAfterFailure == 0)
    }

    /// The sink gets the header, one group, then the rest of the contents with the list. Each call may fail.
    @Test(arguments: [1, 3], 0..<3)
    func failingSinkComesOutAsOutputAndIsNotAskedAgain(workers: Int, failsAt: Int) throws {
        let contents = SeededStream.plaintext(Self.group + 5)
        let sink = FaultySink(failsAt: failsAt)
        let source = FaultySource(contents, failsAfter: .max)
        let key = try SealingKey.random(epoch: 1)
        expectOutput { () throws(StreamFailure<TestFailure>) in
            _ = try StreamSealer.sealWithDigest(
                from: source.read, to: sink.write,
                as: BlobDescription(stream: VouchedStream.context, sealedAt: 1), key: key, workers: workers)
        }
        #expect(sink.calls == failsAt + 1)
    }
}
