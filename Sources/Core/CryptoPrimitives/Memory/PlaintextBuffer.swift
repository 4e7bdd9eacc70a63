internal import CSodium

/// Short-lived plaintext in ordinary memory (no page of its own), wiped at the end of its lifetime.
///
/// Records are decrypted into a buffer, decoded from it and discarded. Keys belong in `SecretBytes` instead.
@usableFromInline
package struct PlaintextBuffer: ~Copyable {
    @usableFromInline let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes.
    @usableFromInline package private(set) var count: Int

    /// Allocates `count` uninitialised bytes. Write them all before lending them.
    package init(count: Int) {
        memory = .allocate(byteCount: count, alignment: 16)
        self.count = count
    }

    deinit {
        ScratchMemory.wipe(memory)
        memory.deallocate()
    }

    /// Removes and wipes bytes at the end.
    package mutating func removeLast(_ size: Int) {
        precondition(size <= count, "more bytes than there are")
        count -= size
        ScratchMemory.wipe(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
    }

    /// Lends the bytes for reading.
    @inlinable @inline(__always)
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Lends the bytes for writing.
    @inlinable @inline(__always)
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]))
    }
}

// Protected by ownership: the struct is noncopyable, so only its holder can reach the memory.
extension PlaintextBuffer: @unchecked Sendable {}

/// Short-lived memory for values that are secret during one call.
@usableFromInline
package enum ScratchMemory {
    /// Lends `count` bytes of stack memory and wipes them afterwards, even if `body` throws.
    ///
    /// For single-use subkeys, for which guarded memory would cost more than their use.
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

extension Array where Element == UInt8 {
    /// Lends the bytes with typed errors, which the standard library's `withUnsafeBytes` would erase.
    @inlinable @inline(__always)
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}
