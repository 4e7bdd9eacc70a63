internal import CryptoPrimitives
internal import Synchronization

/// Seals streams of any length in constant memory, on all cores.
package enum StreamSealer {
    /// Reads plaintext to its end and writes the sealed blob.
    ///
    /// - Parameters:
    ///   - source: The source of the plaintext.
    ///   - sink: The destination of the blob. After a failure, the caller must discard its contents.
    ///   - description: The contents of the header; its kind is `.stream`.
    ///   - key: The group's active key.
    ///   - workers: The number of threads.
    ///   - fixedSalt: Only for reproducible test vectors.
    ///   - firstChunk: The index of the first chunk; other than 0 only in tests of the largest number of chunks.
    /// - Throws: `StreamFailure` `.input` or `.output`; `.sealing` with `tooLarge` for more plaintext than the limit of
    ///   a blob.
    package static func seal<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>,
        as description: BlobDescription, key: SealingKey, workers: Int = StreamWorkers.all, fixedSalt: Salt? = nil,
        firstChunk: UInt64 = 0
    ) throws(StreamFailure<IOFailure>) {
        try withHeaderWritten(to: sink, description, key, fixedSalt) { cipher throws(StreamFailure<IOFailure>) in
            try pipeline(source, firstChunk: firstChunk, workers).run(
                transform: { batch, input, output throws(SealingError) in
                    try cipher.seal(batch, from: input, into: output)
                }, write: sink)
        }
    }

    /// Reads contents to their end, and writes the sealed blob of the contents and the list of their chunk hashes.
    ///
    /// In addition to `seal`, it stores the list: 32 bytes for each 65,536 bytes of contents.
    ///
    /// - Returns: The digest, for a record that vouches for the contents.
    /// - Throws: `StreamFailure`, as `seal` does.
    package static func sealWithDigest<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>,
        as description: BlobDescription, key: SealingKey, workers: Int = StreamWorkers.all, fixedSalt: Salt? = nil
    ) throws(StreamFailure<IOFailure>) -> StreamDigest {
        let end = ListedEnd()
        try withHeaderWritten(to: sink, description, key, fixedSalt) { cipher throws(StreamFailure<IOFailure>) in
            try pipeline(source, firstChunk: 0, workers).run(
                transform: { batch, input, output throws(SealingError) in
                    let whole = end.take(batch, input)
                    guard whole > 0 else { return 0 }
                    return try cipher.seal(
                        Batch(count: whole, firstChunk: batch.firstChunk, isLast: false), from: input, into: output)
                },
                write: { bytes throws(IOFailure) in if !bytes.isEmpty { try sink(bytes) } })
            // The list is a 2,048th of the contents, so a second thread would not be worth its buffers.
            let rest: StreamSource<IOFailure> = { buffer throws(IOFailure) in end.read(buffer) }
            try pipeline(rest, firstChunk: end.firstChunk, 1).run(
                transform: { batch, input, output throws(SealingError) in
                    try cipher.seal(batch, from: input, into: output)
                }, write: sink)
        }
        return end.digest
    }

    private static func withHeaderWritten<IOFailure: Error>(
        to sink: StreamSink<IOFailure>, _ description: BlobDescription, _ key: SealingKey, _ fixedSalt: Salt?,
        _ body: (ChunkCipher) throws(StreamFailure<IOFailure>) -> Void
    ) throws(StreamFailure<IOFailure>) {
        try ScratchMemory.withSecret(count: BlobLayout.headerSize) { header throws(StreamFailure<IOFailure>) in
            try BlobSealer.withSealedHeader(description, key: key, fixedSalt: fixedSalt, into: header) {
                cipher throws(StreamFailure<IOFailure>) in
                do throws(IOFailure) {
                    try sink(UnsafeRawBufferPointer(header))
                } catch { throw .output(error) }
                try body(cipher)
            }
        }
    }

    private static func pipeline<IOFailure: Error>(
        _ source: @escaping StreamSource<IOFailure>, firstChunk: UInt64, _ workers: Int
    ) -> OrderedPipeline<IOFailure> {
        OrderedPipeline(
            reader: BatchReader(source: source, chunkSize: BlobLayout.chunkSize, firstChunk: firstChunk),
            outputChunkSize: BlobLayout.sealedChunkSize, workers: workers)
    }
}

/// The end of a stream with a digest: the rest of the contents, then the list. It is sealed after all whole chunks,
/// when the list is complete.
private final class ListedEnd: Sendable {
    private struct State: ~Copyable {
        var rest = PlaintextBuffer(count: 0)
        var contentsSize = 0
        var position = 0
    }

    private let list = ChunkHashList()
    private let state = Mutex(State())

    /// Hashes a batch of contents, and stores the bytes of the last batch after its last whole chunk.
    ///
    /// - Returns: The number of bytes before those, which are to be sealed.
    func take(_ batch: Batch, _ contents: UnsafeRawBufferPointer) -> Int {
        list.add(contents, firstChunk: Int(batch.firstChunk))
        guard batch.isLast else { return contents.count }
        let whole = contents.count / BlobLayout.chunkSize * BlobLayout.chunkSize
        state.withLock { state in
            state.rest = PlaintextBuffer(count: contents.count - whole)
            state.rest.withUnsafeMutableBytes {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: contents[whole...]))
            }
            state.contentsSize = Int(batch.firstChunk) * BlobLayout.chunkSize + contents.count
        }
        return whole
    }

    /// Reads from the end of the stream, after all contents were taken.
    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            let position = state.position
            let left = state.rest.count - position
            guard left > 0 else {
                let count = list.copy(from: -left, into: buffer)
                state.position += count
                return count
            }
            let count = min(left, buffer.count)
            state.rest.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
            }
            state.position += count
            return count
        }
    }

    /// The index of the first chunk of the end.
    var firstChunk: UInt64 { state.withLock { UInt64($0.contentsSize / BlobLayout.chunkSize) } }

    var digest: StreamDigest { list.digest(contentsSize: UInt64(state.withLock { $0.contentsSize })) }
}

extension ChunkCipher {
    /// Seals a batch of chunks and returns the number of bytes written.
    fileprivate func seal(
        _ batch: Batch, from plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> Int {
        let chunks = BlobLayout.chunkCount(plaintextSize: batch.count)
        guard batch.fits(chunks) else {
            throw SealingError(.tooLarge, "seal", "A blob holds at most \(BlobLayout.maximumChunkCount) chunks.")
        }
        for index in 0..<chunks {
            let start = index * BlobLayout.chunkSize
            let end = min(start + BlobLayout.chunkSize, batch.count)
            let place = index * BlobLayout.sealedChunkSize
            seal(
                UnsafeRawBufferPointer(rebasing: plaintext[start..<end]), index: batch.firstChunk + UInt64(index),
                isLast: batch.isLast && index == chunks - 1,
                into: UnsafeMutableRawBufferPointer(rebasing: output[place..<place + end - start + BlobLayout.tagSize]))
        }
        return batch.count + chunks * BlobLayout.tagSize
    }
}

/// The reason why sealing or opening a stream ended early: the format, or the input or output.
package enum StreamFailure<IOFailure: Error>: Error {
    /// The stream was refused.
    case sealing(SealingError)
    /// Reading the source failed.
    case input(IOFailure)
    /// Writing to the sink failed.
    case output(IOFailure)
}

/// Fills the buffer from its start and returns the number of bytes read; 0 only at the end.
package typealias StreamSource<IOFailure: Error> = @Sendable (UnsafeMutableRawBufferPointer) throws(IOFailure) -> Int

/// Consumes all bytes of the buffer, in order. The buffer is reused after the return.
package typealias StreamSink<IOFailure: Error> = @Sendable (UnsafeRawBufferPointer) throws(IOFailure) -> Void
