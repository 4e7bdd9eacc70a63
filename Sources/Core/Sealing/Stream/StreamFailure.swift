/// Why sealing or opening a stream ended early: the format, or the reading and writing around it.
package enum StreamFailure<IOFailure: Error>: Error {
    /// The stream itself was refused.
    case sealing(SealingError)
    /// The source could not be read.
    case input(IOFailure)
    /// The sink did not take the bytes.
    case output(IOFailure)
}

/// Fills the buffer from its start with up to that many bytes and returns how many; 0 only at the end.
package typealias StreamSource<IOFailure: Error> = @Sendable (UnsafeMutableRawBufferPointer) throws(IOFailure) -> Int

/// Takes all bytes of the buffer, in order; the buffer is reused when it returns.
package typealias StreamSink<IOFailure: Error> = @Sendable (UnsafeRawBufferPointer) throws(IOFailure) -> Void
