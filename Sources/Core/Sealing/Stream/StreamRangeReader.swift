internal import CryptoPrimitives

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
        guard range.lowerBound >= 0, range.upperBound <= plaintextSize else {
            throw .sealing(SealingError(.invalidArgument, "read range", "\(range) of \(plaintextSize) bytes."))
        }
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

    /// Returns a chunk that matches its tag and, with a digest, its hash.
    private func openChunk(_ index: Int) throws(Failure) -> PlaintextBuffer {
        let chunk = try chunks.open(index)
        guard let list else { return chunk }
        let contentsSize = min(BlobLayout.chunkSize, plaintextSize - index * BlobLayout.chunkSize)
        let isVouchedFor = chunk.withUnsafeBytes {
            list.contains(UnsafeRawBufferPointer(rebasing: $0[..<contentsSize]), at: index)
        }
        guard isVouchedFor else { throw .sealing(StreamDigest.refusal(ofChunk: index)) }
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
