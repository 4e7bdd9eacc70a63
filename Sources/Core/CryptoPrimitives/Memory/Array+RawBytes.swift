extension Array where Element == UInt8 {
    /// Lends the bytes with typed errors, which `withUnsafeBytes` of the standard library would erase.
    @inlinable @inline(__always)
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}
