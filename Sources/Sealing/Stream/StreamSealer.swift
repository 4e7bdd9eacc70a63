internal import CryptoPrimitives

/// Seals streams of any length in constant memory, on all cores.
package enum StreamSealer {
    /// Reads plaintext to its end and writes the sealed blob.
    ///
    /// - Parameters:
    ///   - source: Where plaintext comes from.
    ///   - sink: Where the blob goes; what it got before a failure is no blob and is to be thrown away.
    ///   - description: What the header says; its kind is `.stream`.
    ///   - key: The group's active key.
    ///   - workers: How many threads seal.
    ///   - fixedSalt: Only for reproducible test vectors.
    ///   - firstChunk: The index of the first chunk; other than 0 only in tests of the largest number of chunks.
    /// - Throws: `StreamFailure` `.input` or `.output`; `.sealing` with `tooLarge` for more plaintext than a blob can hold.
    package static func seal<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>,
        as description: BlobDescription, key: SealingKey, workers: Int = StreamWorkers.all, fixedSalt: Salt? = nil,
        firstChunk: UInt64 = 0
    ) throws(StreamFailure<IOFailure>) {
        try ScratchMemory.withSecret(count: BlobLayout.headerSize) { header throws(StreamFailure<IOFailure>) in
            try BlobSealer.withSealedHeader(description, key: key, fixedSalt: fixedSalt, into: header) {
                cipher throws(StreamFailure<IOFailure>) in
                do throws(IOFailure) {
                    try sink(UnsafeRawBufferPointer(header))
                } catch { throw .output(error) }
                let pipeline = OrderedPipeline(
                    reader: BatchReader(source: source, chunkSize: BlobLayout.chunkSize, firstChunk: firstChunk),
                    outputChunkSize: BlobLayout.sealedChunkSize, workers: workers)
                try pipeline.run(
                    transform: { batch, input, output throws(SealingError) in
                        try cipher.seal(batch, from: input, into: output)
                    }, write: sink)
            }
        }
    }
}

extension ChunkCipher {
    /// Seals a batch of chunks; the result is the number of bytes written.
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
