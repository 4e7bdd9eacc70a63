internal import CSodium
internal import Synchronization

/// Secret bytes in guarded memory: between guard pages, locked if the system allows it, excluded from core files, wiped
/// at the end.
///
/// Only the initialiser writes the memory, which is read-only afterwards. A new page costs tens of microseconds,
/// because libsodium maps and locks it. A reused page costs four changes of its protection. Keys therefore keep theirs
/// for long, and no hot path creates one. Each page takes four of a process's limited memory mappings, so many secrets
/// can share one: `SecretRegion`.
public struct SecretBytes: ~Copyable {
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// The number of bytes.
    public let count: Int
    /// The region that contains the bytes, or `nil` for separate memory.
    private let region: SecretRegion?

    /// Creates `count` secret bytes and lets `fill` write them.
    ///
    /// - Parameters:
    ///   - count: The size in bytes, zero or more.
    ///   - fill: Writes every byte. Unwritten bytes are zero.
    /// - Throws: The error of `fill`, after the memory is wiped. Without memory, an error of that type if it is a
    ///   `SecretMemoryError`; otherwise, as for a copy or random bytes, the process ends.
    public init<Failure: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(count >= 0, "a secret cannot have a negative size")
        memory = try GuardedMemory.filled(count, fill)
        self.count = count
        region = nil
    }

    /// Creates random bytes.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { SecureRandom.fill($0) }
    }

    /// Creates a copy of other bytes. The caller must wipe the original.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    fileprivate init(_ memory: UnsafeMutableRawPointer, count: Int, in region: SecretRegion) {
        self.memory = memory
        self.count = count
        self.region = region
    }

    deinit { if region == nil { GuardedMemory.release(memory, count) } }

    /// Lends the bytes for the duration of the call. The pointer must not outlive it.
    @inlinable @inline(__always)
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Returns whether both contain the same bytes, in time that depends on their size only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return csodium_compare(memory, other.memory, count) == 0
    }
}

// Protected by immutability: nothing writes to `memory` after `init`.
extension SecretBytes: @unchecked Sendable {}

/// Many secrets in one guarded allocation.
///
/// A process may have 65,530 memory mappings (`vm.max_map_count`), and each guarded allocation takes four of them, even
/// for a small secret. A keyring with an allocation for each secret would use a quarter of the limit.
package final class SecretRegion: Sendable {
    private let bytes: SecretBytes

    /// Takes ownership of the bytes of all secrets.
    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Returns one of the secrets, which keeps the whole region in memory.
    package func secret(at offset: Int, count: Int) -> SecretBytes {
        precondition(offset >= 0 && count >= 0 && offset <= bytes.count - count, "a secret outside its region")
        return SecretBytes(bytes.memory + offset, count: count, in: self)
    }
}

/// An error type that can represent missing memory for a secret.
package protocol SecretMemoryError: Error {
    /// Returns the error of an operation that did not get memory for `count` secret bytes.
    static func noSecretMemory(count: Int) -> Self
}

extension CryptoError: SecretMemoryError {
    package static func noSecretMemory(count: Int) -> CryptoError { CryptoError(.outOfMemory, "secret memory") }
}

enum GuardedMemory {
    /// The size in bytes that fits one page together with the canary that libsodium puts before it.
    private static let pageSize = 4080
    /// The limit on idle pages.
    private static let mostIdle = 32
    /// The idle pages: wiped, and inaccessible.
    private static let idle = Mutex<[Page]>([])

    /// A page that no secret uses.
    // Protected by `idle`: a page is in the list or with one secret, never both.
    private struct Page: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// Allocates guarded memory, which is read-only after `fill` has written it.
    ///
    /// Contents that fit a page are at its end, before a guard page.
    static func filled<Failure: Error>(
        _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> UnsafeMutableRawPointer {
        let size = max(count, pageSize)
        let start = try take(size, throwing: Failure.self)
        let memory = start + (size - count)
        do throws(Failure) { try fill(UnsafeMutableRawBufferPointer(start: memory, count: count)) } catch {
            keep(start, size)
            throw error
        }
        _ = csodium_secret_make_readonly(start)
        return memory
    }

    /// Returns zeroed, writable memory: an idle page or a new allocation.
    private static func take<Failure: Error>(
        _ size: Int, throwing _: Failure.Type
    ) throws(Failure) -> UnsafeMutableRawPointer {
        if size == pageSize, let page = idle.withLock({ $0.popLast() }) {
            guard csodium_secret_make_writable(page.start) == 0 else {
                // The kernel's limit on mappings prevents the change. Only this page is lost.
                return try fresh(size, throwing: Failure.self)
            }
            return page.start
        }
        return try fresh(size, throwing: Failure.self)
    }

    private static func fresh<Failure: Error>(
        _ size: Int, throwing _: Failure.Type
    ) throws(Failure) -> UnsafeMutableRawPointer {
        let memory = try allocate(size, throwing: Failure.self)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        return memory
    }

    /// Wipes a secret's memory and keeps its page for the next secret, or frees it.
    static func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        guard count <= pageSize else { return csodium_secret_free(memory) }
        let start = memory + count - pageSize
        // If this fails, the secret cannot be wiped here: libsodium ends the process or wipes it.
        guard csodium_secret_make_writable(start) == 0 else { return csodium_secret_free(start) }
        keep(start, pageSize)
    }

    private static func keep(_ start: UnsafeMutableRawPointer, _ size: Int) {
        guard size == pageSize else { return csodium_secret_free(start) }
        // Wipes the whole page before it is idle, so that no secret sees the bytes of another, including those beside
        // it.
        ScratchMemory.wipe(UnsafeMutableRawBufferPointer(start: start, count: pageSize))
        let isKept = idle.withLock { idle in
            guard idle.count < mostIdle, csodium_secret_make_inaccessible(start) == 0 else { return false }
            idle.append(Page(start: start))
            return true
        }
        if !isKept { csodium_secret_free(start) }
    }

    /// Allocates guarded memory.
    ///
    /// - Throws: `Failure` if it is a `SecretMemoryError`.
    static func allocate<Failure: Error>(
        _ count: Int, throwing _: Failure.Type
    ) throws(Failure) -> UnsafeMutableRawPointer {
        Sodium.start()
        if let memory = csodium_secret_alloc(count) { return memory }
        if let type = Failure.self as? any SecretMemoryError.Type,
            let error = type.noSecretMemory(count: count) as? Failure
        {
            throw error
        }
        // The caller cannot report it: there is no state to save and no secret to lose.
        fatalError("no memory for \(count) secret bytes")
    }
}

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
        precondition(size <= count, "more bytes than the secret has")
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
