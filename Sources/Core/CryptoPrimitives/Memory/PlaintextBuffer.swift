internal import CSodium

/// Plaintext that we own for a moment: ordinary memory (no page of its own), wiped when it ends.
///
/// Records are decrypted into one, decoded from it and forgotten. Keys do not belong here: they live in `SecretBytes`.
@usableFromInline
package struct PlaintextBuffer: ~Copyable {
    @usableFromInline let memory: UnsafeMutableRawBufferPointer
    /// How many bytes it holds.
    @usableFromInline package private(set) var count: Int

    /// Room for `count` bytes, not yet initialised: write them all before lending them.
    package init(count: Int) {
        memory = .allocate(byteCount: count, alignment: 16)
        self.count = count
    }

    deinit {
        ScratchMemory.wipe(memory)
        memory.deallocate()
    }

    /// Wipes bytes at the end, which it holds no longer.
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

extension Array where Element == UInt8 {
    /// Lends the bytes with typed errors, which `withUnsafeBytes` of the standard library would erase.
    @inlinable @inline(__always)
    package func withRawBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.withUnsafeBytes(body)
    }
}
