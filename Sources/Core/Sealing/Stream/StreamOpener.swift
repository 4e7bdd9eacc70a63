internal import CryptoPrimitives
internal import Synchronization

/// Opens streams of any length in constant memory, on all cores.
package enum StreamOpener {
    /// Authenticates a stream to its end and passes on its plaintext chunk by chunk, **before the end is
    /// authenticated**.
    ///
    /// Every byte that reaches `sink` is authentic and in its place, but only a normal return proves that the stream
    /// was not truncated. Callers that cannot revoke plaintext write to a place that they can discard.
    ///
    /// - Parameters:
    ///   - source: The source of the blob, from its first byte.
    ///   - sink: The destination of the plaintext.
    ///   - context: The place the stream is bound to.
    ///   - keys: The source of keys by id.
    ///   - digest: The digest by which a record vouches for the contents, or `nil` without such a record. With a
    ///     digest, `sink` receives the contents without the list, and only a normal return proves that they are those
    ///     of the record. The hashes take 32 bytes for each 65,536 bytes of contents.
    ///   - workers: The number of threads.
    /// - Returns: The verified header.
    /// - Throws: `StreamFailure`.
    @discardableResult
    package static func openReleasingEarly<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>, context: BlobContext?,
        keys: some SealingKeySource, digest: StreamDigest? = nil, workers: Int = StreamWorkers.all
    ) throws(StreamFailure<IOFailure>) -> VerifiedHeader {
        let bytes = try readHeader(from: source)
        let check = digest.map { ContentsCheck($0) }
        return try ScratchMemory.withSecret(count: KeyDerivation.derivedSize) {
            derived throws(StreamFailure<IOFailure>) in
            try bytes.withRawBytes { bytes throws(StreamFailure<IOFailure>) in
                let verified = try verifiedHeader(bytes, context, keys, derived, IOFailure.self)
                let cipher = ChunkCipher(derived: UnsafeRawBufferPointer(derived), blob: bytes)
                let pipeline = OrderedPipeline(
                    reader: BatchReader(source: source, chunkSize: BlobLayout.sealedChunkSize),
                    outputChunkSize: BlobLayout.chunkSize, workers: workers)
                try pipeline.run(
                    transform: { batch, input, output throws(SealingError) in
                        let count = try cipher.open(batch, of: verified.header, from: input, into: output)
                        check?.add(UnsafeRawBufferPointer(rebasing: output[..<count]), of: batch)
                        return count
                    },
                    write: { bytes throws(IOFailure) in
                        guard let check else { return try sink(bytes) }
                        let count = check.split(bytes)
                        if count > 0 { try sink(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
                    })
                do throws(SealingError) { try check?.finish() } catch { throw .sealing(error) }
                return verified
            }
        }
    }

    /// Authenticates a stream to its end and releases nothing.
    @discardableResult
    package static func verify<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, context: BlobContext?, keys: some SealingKeySource,
        digest: StreamDigest? = nil, workers: Int = StreamWorkers.all
    ) throws(StreamFailure<IOFailure>) -> VerifiedHeader {
        let discard: StreamSink<IOFailure> = { (_: UnsafeRawBufferPointer) throws(IOFailure) -> Void in }
        return try openReleasingEarly(
            from: source, to: discard, context: context, keys: keys, digest: digest, workers: workers)
    }

    private static func verifiedHeader<IOFailure: Error>(
        _ bytes: UnsafeRawBufferPointer, _ context: BlobContext?, _ keys: some SealingKeySource,
        _ derived: UnsafeMutableRawBufferPointer, _: IOFailure.Type
    ) throws(StreamFailure<IOFailure>) -> VerifiedHeader {
        do throws(SealingError) {
            let header = try BlobOpener.shape(bytes, context: context)
            return try BlobOpener.verify(header, in: bytes, keys: keys, derived: derived)
        } catch { throw .sealing(error) }
    }

    /// Reads the header's bytes, or fewer at the end of the source. The parser reports missing bytes.
    private static func readHeader<IOFailure: Error>(
        from source: StreamSource<IOFailure>
    ) throws(StreamFailure<IOFailure>) -> [UInt8] {
        do throws(IOFailure) {
            var bytes = [UInt8](repeating: 0, count: BlobLayout.headerSize)
            var count = 0
            while count < bytes.count {
                var rest = bytes.mutableSpan
                let read = try rest.withUnsafeMutableBytes { buffer throws(IOFailure) in
                    try source(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                }
                if read == 0 { break }
                count += read
            }
            return Array(bytes[0..<count])
        } catch { throw .input(error) }
    }
}

/// A check of a whole stream, read in order, against its digest.
private final class ContentsCheck: Sendable {
    private let digest: StreamDigest
    private let list = ChunkHashList()
    /// The number of plaintext bytes that were split, and the first chunk with another hash than the list's.
    private let progress = Mutex((position: 0, foreignChunk: Int?.none))

    init(_ digest: StreamDigest) { self.digest = digest }

    /// Hashes the contents in a batch; runs on several threads.
    func add(_ plaintext: UnsafeRawBufferPointer, of batch: Batch) {
        let start = Int(batch.firstChunk) * BlobLayout.chunkSize
        let end = start + plaintext.count
        let count = max(0, min(end, digest.listOffset) - start)
        list.add(UnsafeRawBufferPointer(rebasing: plaintext[..<count]), firstChunk: Int(batch.firstChunk))
    }

    /// Extracts the list's bytes from plaintext that comes in order, after all chunks of contents before them were
    /// added.
    ///
    /// - Returns: The number of bytes of contents, from the first one on.
    func split(_ plaintext: UnsafeRawBufferPointer) -> Int {
        progress.withLock { progress in
            let count = max(0, min(plaintext.count, digest.listOffset - progress.position))
            // Bytes after the list are only counted here and refused at the end, because another rule may take
            // precedence.
            let listed = max(count, min(plaintext.count, digest.plaintextSize - progress.position))
            if count < listed {
                let foreignChunk = list.replace(
                    at: progress.position + count - digest.listOffset,
                    with: UnsafeRawBufferPointer(rebasing: plaintext[count..<listed]))
                progress.foreignChunk = progress.foreignChunk ?? foreignChunk
            }
            progress.position += plaintext.count
            return count
        }
    }

    /// Throws unless the added and split bytes match the digest: rules D1 to D3.
    func finish() throws(SealingError) {
        let (position, foreignChunk) = progress.withLock { $0 }
        try digest.requireSize(position)
        try digest.require(list)
        if let foreignChunk { throw StreamDigest.refusal(ofChunk: foreignChunk) }
    }
}

extension ChunkCipher {
    /// Opens a batch of chunks and returns the number of plaintext bytes written.
    fileprivate func open(
        _ batch: Batch, of blob: BlobHeader, from sealed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> Int {
        let plan = try BlobOpener.plan(
            for: blob, sealedSize: batch.count, isWhole: batch.firstChunk == 0 && batch.isLast)
        guard plan.plaintextSize > 0 || batch.firstChunk == 0 else {
            throw SealingError(.malformed, "open", "An empty chunk after others.")
        }
        guard batch.fits(plan.chunkCount) else {
            throw SealingError(.malformed, "open", "More than \(BlobLayout.maximumChunkCount) chunks.")
        }
        for index in 0..<plan.chunkCount {
            let start = index * BlobLayout.sealedChunkSize
            let end = min(start + BlobLayout.sealedChunkSize, batch.count)
            let place = index * BlobLayout.chunkSize
            try open(
                UnsafeRawBufferPointer(rebasing: sealed[start..<end]), index: batch.firstChunk + UInt64(index),
                isLast: batch.isLast && index == plan.chunkCount - 1,
                into: UnsafeMutableRawBufferPointer(rebasing: output[place..<place + end - start - BlobLayout.tagSize]))
        }
        return plan.plaintextSize
    }
}
