internal import CSodium

/// Secret bytes in guarded memory: between guard pages, locked where the system allows, out of core files, wiped at the end.
///
/// The memory is written by the initialiser only and is read-only afterwards. An allocation costs tens of microseconds
/// (libsodium maps whole pages), so keys live in it for long; nothing on a hot path makes one.
public struct SecretBytes: ~Copyable {
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// How many bytes it holds.
    public let count: Int

    /// Makes `count` secret bytes and lets `fill` write them.
    ///
    /// - Parameters:
    ///   - count: The size in bytes, zero or more.
    ///   - fill: Writes every byte; what it leaves unwritten is zero.
    /// - Throws: What `fill` throws; the memory is wiped and freed then.
    public init<Failure: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        Sodium.start()
        precondition(count >= 0, "a secret cannot have a negative size")
        guard let memory = csodium_secret_alloc(count) else {
            // An allocation of a few pages failed: there is no state to save and no secret to lose.
            fatalError("no memory for \(count) secret bytes")
        }
        self.memory = memory
        self.count = count
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: count)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(buffer)
        _ = csodium_secret_make_readonly(memory)
    }

    /// Fresh random bytes.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { SecureRandom.fill($0) }
    }

    /// A copy of bytes that lie elsewhere; wiping the original stays the caller's duty.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    deinit { csodium_secret_free(memory) }

    /// Lends the bytes for the length of the call; the pointer must not outlive it.
    @inlinable @inline(__always)
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Whether both hold the same bytes, compared in time that depends on their size only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return csodium_compare(memory, other.memory, count) == 0
    }
}

// Protected by being immutable: nothing writes to `memory` once `init` has returned.
extension SecretBytes: @unchecked Sendable {}
