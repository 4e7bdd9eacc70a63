internal import CryptoPrimitives

/// Opens streams of any length in constant memory, on all cores.
package enum StreamOpener {
    /// Authenticates a stream to its end and hands its plaintext on chunk by chunk, **before the end has been seen**.
    ///
    /// Every byte that reaches `sink` is authentic and in its place, but only a normal return says that nothing was cut
    /// off behind it. Callers that cannot take plaintext back write to a place that they can discard.
    ///
    /// - Parameters:
    ///   - source: Where the blob comes from, from its first byte.
    ///   - sink: Where plaintext goes.
    ///   - context: The place the stream is bound to.
    ///   - keys: Where keys are looked up by id.
    ///   - workers: How many threads open.
    /// - Returns: The header, verified.
    /// - Throws: `StreamFailure`.
    @discardableResult
    package static func openReleasingEarly<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, to sink: StreamSink<IOFailure>, context: BlobContext?,
        keys: some SealingKeySource, workers: Int = StreamWorkers.all
    ) throws(StreamFailure<IOFailure>) -> VerifiedHeader {
        let bytes = try readHeader(from: source)
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
                        try cipher.open(batch, of: verified.header, from: input, into: output)
                    }, write: sink)
                return verified
            }
        }
    }

    /// Authenticates a stream to its end and releases nothing.
    @discardableResult
    package static func verify<IOFailure: Error>(
        from source: @escaping StreamSource<IOFailure>, context: BlobContext?, keys: some SealingKeySource,
        workers: Int = StreamWorkers.all
    ) throws(StreamFailure<IOFailure>) -> VerifiedHeader {
        let discard: StreamSink<IOFailure> = { (_: UnsafeRawBufferPointer) throws(IOFailure) -> Void in }
        return try openReleasingEarly(from: source, to: discard, context: context, keys: keys, workers: workers)
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

    /// Reads the header's bytes, or as many as there are: the parser says what is missing.
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

extension ChunkCipher {
    /// Opens a batch of chunks; the result is the number of plaintext bytes written.
    fileprivate func open(
        _ batch: Batch, of blob: BlobHeader, from sealed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> Int {
        let plan = try BlobOpener.plan(
            for: blob, sealedSize: batch.count, isWhole: batch.firstChunk == 0 && batch.isLast)
        guard plan.plaintextSize > 0 || batch.firstChunk == 0 else {
            throw SealingError(.malformed, "open", "An empty chunk behind others.")
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
