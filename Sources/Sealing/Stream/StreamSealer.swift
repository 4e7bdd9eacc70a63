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
    /// - Throws: `StreamFailure` `.input` or `.output`.
    package static func seal<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>,
        as description: BlobDescription, key: SealingKey, workers: Int = StreamWorkers.all, fixedSalt: Salt? = nil
    ) throws(StreamFailure<IOFailure>) {
        try ScratchMemory.withSecret(count: BlobLayout.headerSize) { header throws(StreamFailure<IOFailure>) in
            try BlobSealer.withSealedHeader(description, key: key, fixedSalt: fixedSalt, into: header) {
                cipher throws(StreamFailure<IOFailure>) in
                do throws(IOFailure) {
                    try sink(UnsafeRawBufferPointer(header))
                } catch { throw .output(error) }
                let pipeline = OrderedPipeline(
                    reader: BatchReader(source: source, chunkSize: BlobLayout.chunkSize),
                    outputChunkSize: BlobLayout.sealedChunkSize, workers: workers)
                try pipeline.run(transform: { cipher.seal($0, from: $1, into: $2) }, write: sink)
            }
        }
    }
}

extension ChunkCipher {
    /// Seals a batch of chunks; the result is the number of bytes written.
    fileprivate func seal(
        _ batch: Batch, from plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        let chunks = BlobLayout.chunkCount(plaintextSize: batch.count)
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
