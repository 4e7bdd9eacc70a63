internal import CryptoPrimitives
internal import Synchronization

/// Reads parts of a stream without the rest.
///
/// The last chunk is authenticated first: its mark proves that the length is the writer's. Each range then costs only
/// the chunks that it touches. A closure supplies the bytes, so that the format does no input of its own.
package final class StreamRangeReader<IOFailure: Error>: Sendable {
    /// Fills the whole buffer from an offset of the blob. Fewer bytes are an error of the source.
    package typealias RandomAccess = @Sendable (Int, UnsafeMutableRawBufferPointer) throws(IOFailure) -> Void
    package typealias Failure = StreamFailure<IOFailure>

    /// The verified header.
    package var header: VerifiedHeader { chunks.header }
    /// The authenticated size in bytes: that of the plaintext, or with a digest that of the contents without the list.
    package let plaintextSize: Int
    private let chunks: StreamChunks<IOFailure>
    /// The hashes of all chunks of contents, or `nil` without a digest.
    private let list: ChunkHashList?

    /// Verifies the header and the last chunk, and with a digest also the list of chunk hashes.
    ///
    /// The list stays in memory: 32 bytes for each 65,536 bytes of contents. The memory grows with the authenticated
    /// chunks of the list, not with the stated size.
    ///
    /// - Parameters:
    ///   - blobSize: The blob's size in bytes.
    ///   - context: The place the stream is bound to.
    ///   - keys: The source of keys by id.
    ///   - digest: The digest by which a record vouches for the contents, or `nil` without such a record.
    ///   - readAt: Reads bytes of the blob.
    /// - Throws: `StreamFailure`.
    package init(
        blobSize: Int, context: BlobContext?, keys: some SealingKeySource, digest: StreamDigest? = nil,
        readAt: @escaping RandomAccess
    ) throws(Failure) {
        chunks = try StreamChunks(blobSize: blobSize, context: context, keys: keys, readAt: readAt)
        let last = try chunks.open(chunks.plan.chunkCount - 1)
        list = if let digest { try Self.list(of: digest, in: chunks, last: last) } else { nil }
        plaintextSize = digest?.listOffset ?? chunks.plan.plaintextSize
    }

    /// Returns the bytes of `range`. An empty range within the contents, including at their end, gives no bytes.
    ///
    /// A range that reaches past the end is never shortened, because the caller knows `plaintextSize`.
    ///
    /// - Throws: `SealingError` `.invalidArgument` for a range outside the contents, `.tampered` for changed chunks
    ///   and, with a digest, for chunks that do not match it.
    package func read(_ range: Range<Int>) throws(Failure) -> [UInt8] {
        try requireContents(range)
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let index = position / BlobLayout.chunkSize
            let start = index * BlobLayout.chunkSize
            let end = min(range.upperBound - start, BlobLayout.chunkSize)
            try openChunk(index).withUnsafeBytes { result.append(contentsOf: $0[(position - start)..<end]) }
            position = start + end
        }
        return result
    }

    /// Passes on the bytes of `range` in order, in constant memory and on all cores. Each chunk is checked, with a digest
    /// also against the list, before any of its bytes are passed on.
    ///
    /// - Throws: As `read`; after a failure, the bytes that were passed on are authentic, and the rest is not known.
    package func read(
        _ range: Range<Int>, workers: Int = StreamWorkers.all, to sink: StreamSink<IOFailure>
    ) throws(Failure) {
        try requireContents(range)
        guard !range.isEmpty else { return }
        let first = range.lowerBound / BlobLayout.chunkSize
        let position = Mutex(first * BlobLayout.chunkSize)
        try chunks.open(
            first...(range.upperBound - 1) / BlobLayout.chunkSize, workers: workers,
            check: { chunk, index throws(SealingError) in try requireVouchedFor(chunk, at: index) },
            to: { bytes throws(IOFailure) in
                let start = position.withLock { position in
                    defer { position += bytes.count }
                    return position
                }
                let lower = max(range.lowerBound - start, 0)
                let upper = min(range.upperBound - start, bytes.count)
                if lower < upper { try sink(UnsafeRawBufferPointer(rebasing: bytes[lower..<upper])) }
            })
    }

    /// - Throws: `SealingError` `.invalidArgument` for a range outside the contents.
    package func requireContents(_ range: Range<Int>) throws(Failure) {
        guard range.lowerBound >= 0, range.upperBound <= plaintextSize else {
            throw .sealing(SealingError(.invalidArgument, "read range", "\(range) of \(plaintextSize) bytes."))
        }
    }

    /// Throws if a chunk of contents violates rule D3.
    private func requireVouchedFor(_ chunk: UnsafeRawBufferPointer, at index: Int) throws(SealingError) {
        guard let list else { return }
        let contentsSize = min(BlobLayout.chunkSize, plaintextSize - index * BlobLayout.chunkSize)
        guard list.contains(UnsafeRawBufferPointer(rebasing: chunk[..<contentsSize]), at: index) else {
            throw StreamDigest.refusal(ofChunk: index)
        }
    }

    /// Returns a chunk that matches its tag and, with a digest, its hash.
    private func openChunk(_ index: Int) throws(Failure) -> PlaintextBuffer {
        let chunk = try chunks.open(index)
        do throws(SealingError) {
            try chunk.withUnsafeBytes { bytes throws(SealingError) in try requireVouchedFor(bytes, at: index) }
        } catch { throw .sealing(error) }
        return chunk
    }

    /// Reads the list, which follows the contents. `last` is the last chunk.
    private static func list(
        of digest: StreamDigest, in chunks: StreamChunks<IOFailure>, last: borrowing PlaintextBuffer
    ) throws(Failure) -> ChunkHashList {
        let list = ChunkHashList()
        do throws(SealingError) { try digest.requireSize(chunks.plan.plaintextSize) } catch { throw .sealing(error) }
        let lastIndex = chunks.plan.chunkCount - 1
        for index in digest.listOffset / BlobLayout.chunkSize..<lastIndex {
            append(try chunks.open(index), index, digest, to: list)
        }
        append(last, lastIndex, digest, to: list)
        do throws(SealingError) { try digest.require(list) } catch { throw .sealing(error) }
        return list
    }

    private static func append(
        _ chunk: borrowing PlaintextBuffer, _ index: Int, _ digest: StreamDigest, to list: ChunkHashList
    ) {
        let contentsSize = max(0, digest.listOffset - index * BlobLayout.chunkSize)
        chunk.withUnsafeBytes { list.append(UnsafeRawBufferPointer(rebasing: $0[contentsSize...])) }
    }
}

/// The chunks of a stream with a verified header, which are opened one at a time.
private final class StreamChunks<IOFailure: Error>: Sendable {
    typealias Failure = StreamFailure<IOFailure>
    typealias RandomAccess = StreamRangeReader<IOFailure>.RandomAccess

    let header: VerifiedHeader
    let plan: BlobLayout.ChunkPlan
    private let headerBytes: [UInt8]
    private let derived: SecretBytes
    private let blobSize: Int
    private let readAt: RandomAccess

    /// Verifies the header.
    init(
        blobSize: Int, context: BlobContext?, keys: some SealingKeySource, readAt: @escaping RandomAccess
    ) throws(Failure) {
        let bytes = try Self.read(readAt, at: 0, count: max(0, min(blobSize, BlobLayout.headerSize)))
        do throws(SealingError) {
            let parsed = try bytes.withRawBytes { bytes throws(SealingError) in
                try BlobOpener.shape(bytes, context: context)
            }
            var verified: VerifiedHeader?
            derived = try SecretBytes(count: KeyDerivation.derivedSize) { derived throws(SealingError) in
                verified = try bytes.withRawBytes { bytes throws(SealingError) in
                    try BlobOpener.verify(parsed, in: bytes, keys: keys, derived: derived)
                }
            }
            guard let verified else { throw SealingError(.wrongCommitment, "open", "The header was not verified.") }
            header = verified
            plan = try BlobOpener.plan(for: parsed, sealedSize: blobSize - BlobLayout.headerSize)
        } catch { throw .sealing(error) }
        headerBytes = bytes
        self.blobSize = blobSize
        self.readAt = readAt
    }

    func open(_ index: Int) throws(Failure) -> PlaintextBuffer {
        let start = BlobLayout.headerSize + index * BlobLayout.sealedChunkSize
        let sealed = try Self.read(readAt, at: start, count: min(BlobLayout.sealedChunkSize, blobSize - start))
        do throws(SealingError) {
            return try open(sealed, index: index)
        } catch { throw .sealing(error) }
    }

    /// Opens neighbouring chunks on all cores, and passes on their plaintext in order.
    ///
    /// - Parameter check: Refuses a chunk by its plaintext and its index; runs on several threads.
    func open(
        _ indices: ClosedRange<Int>, workers: Int,
        check: @Sendable (UnsafeRawBufferPointer, Int) throws(SealingError) -> Void, to sink: StreamSink<IOFailure>
    ) throws(Failure) {
        let end = min(BlobLayout.headerSize + (indices.upperBound + 1) * BlobLayout.sealedChunkSize, blobSize)
        let position = Mutex(BlobLayout.headerSize + indices.lowerBound * BlobLayout.sealedChunkSize)
        let source: StreamSource<IOFailure> = { [readAt] buffer throws(IOFailure) in
            // One reader at a time, as a stream's source always is.
            let start = position.withLock { $0 }
            let count = min(buffer.count, end - start)
            guard count > 0 else { return 0 }
            try readAt(start, UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            position.withLock { $0 = start + count }
            return count
        }
        let pipeline = OrderedPipeline(
            reader: BatchReader(
                source: source, chunkSize: BlobLayout.sealedChunkSize, firstChunk: UInt64(indices.lowerBound)),
            outputChunkSize: BlobLayout.chunkSize, workers: workers)
        try derived.withUnsafeBytes { derived throws(Failure) in
            try headerBytes.withRawBytes { header throws(Failure) in
                let cipher = ChunkCipher(derived: derived, blob: header)
                try pipeline.run(
                    transform: { batch, sealed, output throws(SealingError) in
                        try open(batch, cipher, sealed, into: output, check)
                    }, write: sink)
            }
        }
    }

    private func open(
        _ batch: Batch, _ cipher: ChunkCipher, _ sealed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ check: (UnsafeRawBufferPointer, Int) throws(SealingError) -> Void
    ) throws(SealingError) -> Int {
        var (start, size) = (0, 0)
        var index = Int(batch.firstChunk)
        while start < sealed.count {
            let end = min(start + BlobLayout.sealedChunkSize, sealed.count)
            let count = end - start - BlobLayout.tagSize
            let chunk = UnsafeMutableRawBufferPointer(rebasing: output[size..<size + count])
            try cipher.open(
                UnsafeRawBufferPointer(rebasing: sealed[start..<end]), index: UInt64(index),
                isLast: index == plan.chunkCount - 1, into: chunk)
            try check(UnsafeRawBufferPointer(chunk), index)
            (start, size, index) = (end, size + count, index + 1)
        }
        return size
    }

    private func open(_ sealed: [UInt8], index: Int) throws(SealingError) -> PlaintextBuffer {
        try derived.withUnsafeBytes { derived throws(SealingError) in
            try headerBytes.withRawBytes { header throws(SealingError) in
                try sealed.withRawBytes { sealed throws(SealingError) in
                    var plaintext = PlaintextBuffer(count: sealed.count - BlobLayout.tagSize)
                    let cipher = ChunkCipher(derived: derived, blob: header)
                    try plaintext.withUnsafeMutableBytes { output throws(SealingError) in
                        try cipher.open(
                            sealed, index: UInt64(index), isLast: index == plan.chunkCount - 1, into: output)
                    }
                    return plaintext
                }
            }
        }
    }

    private static func read(_ readAt: RandomAccess, at offset: Int, count: Int) throws(Failure) -> [UInt8] {
        do throws(IOFailure) {
            var bytes = [UInt8](repeating: 0, count: count)
            var span = bytes.mutableSpan
            try span.withUnsafeMutableBytes { buffer throws(IOFailure) in try readAt(offset, buffer) }
            return bytes
        } catch { throw .input(error) }
    }
}
