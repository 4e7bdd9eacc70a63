internal import CSodium

/// Short-lived memory for values that are secret for the length of one call.
@usableFromInline
package enum ScratchMemory {
    /// Lends `count` bytes of stack memory and wipes them afterwards, whatever `body` does.
    ///
    /// For single-use subkeys: guarded memory would cost more than the use itself.
    @inlinable @inline(__always)
    package static func withSecret<Result: ~Copyable, Failure: Error>(
        count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withTemporary(count: count) { buffer throws(Failure) in
            defer { wipe(buffer) }
            return try body(buffer)
        }
    }

    /// Overwrites the buffer with zeros in a way that the optimiser cannot remove.
    @usableFromInline
    package static func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        csodium_wipe(base, buffer.count)
    }

    @inlinable @inline(__always)
    static func withTemporary<Result: ~Copyable, Failure: Error>(
        count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) {
            (buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Result in
            try body(buffer)
        }
    }
}
