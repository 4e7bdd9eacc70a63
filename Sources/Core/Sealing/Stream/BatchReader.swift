/// A sequence of neighbouring chunks in the pipeline.
struct Batch {
    /// The bytes read into the buffer.
    let count: Int
    /// The index of the first chunk.
    let firstChunk: UInt64
    /// True if the stream ends with the batch.
    let isLast: Bool

    /// Returns whether the batch, cut into `chunks` chunks, ends within the largest number of chunks of a blob.
    func fits(_ chunks: Int) -> Bool {
        firstChunk <= UInt64(BlobLayout.maximumChunkCount) - UInt64(chunks)
    }
}

/// Divides a source into batches of whole chunks, and reads one byte ahead to detect the last batch.
///
/// The last chunk has a mark in its nonce, so a batch can only be sealed or opened once its position is known.
struct BatchReader<IOFailure: Error>: Sendable {
    let source: StreamSource<IOFailure>
    /// The size of one chunk in the source: plain when sealing, sealed when opening.
    let chunkSize: Int
    private var carried: UInt8?
    private var nextChunk: UInt64
    private var hasEnded = false

    /// - Parameter firstChunk: The index of the first chunk; other than 0 only in tests.
    init(source: @escaping StreamSource<IOFailure>, chunkSize: Int, firstChunk: UInt64 = 0) {
        self.source = source
        self.chunkSize = chunkSize
        nextChunk = firstChunk
    }

    /// Fills `buffer`, whose size is a number of chunks plus one byte. Returns `nil` at the end of the stream.
    mutating func next(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure<IOFailure>) -> Batch? {
        guard !hasEnded else { return nil }
        let capacity = buffer.count - 1
        var count = takeCarried(into: buffer)
        while count < buffer.count {
            let read = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            if read == 0 { break }
            count += read
        }
        hasEnded = count <= capacity
        if !hasEnded {
            carried = buffer[capacity]
            count = capacity
        }
        defer { nextChunk += UInt64(capacity / chunkSize) }
        return Batch(count: count, firstChunk: nextChunk, isLast: hasEnded)
    }

    private mutating func takeCarried(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let byte = carried else { return 0 }
        carried = nil
        buffer[0] = byte
        return 1
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamFailure<IOFailure>) -> Int {
        do { return try source(buffer) } catch { throw .input(error) }
    }
}
