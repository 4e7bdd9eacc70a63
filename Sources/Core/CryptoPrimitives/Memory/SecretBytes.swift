internal import CSodium
internal import Synchronization

/// Secret bytes in guarded memory: between guard pages, locked where the system allows, out of core files, wiped at the end.
///
/// The memory is written by the initialiser only and is read-only afterwards. A new page costs tens of microseconds
/// (libsodium maps and locks it), and a page that another secret has left costs four changes of its protection, so keys live
/// in it for long; nothing on a hot path makes one. Each takes four of the memory mappings that a process may have, so many
/// secrets share one: `SecretRegion`.
public struct SecretBytes: ~Copyable {
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// How many bytes it holds.
    public let count: Int
    /// The region that the bytes belong to; nil for memory of their own.
    private let region: SecretRegion?

    /// Makes `count` secret bytes and lets `fill` write them.
    ///
    /// - Parameters:
    ///   - count: The size in bytes, zero or more.
    ///   - fill: Writes every byte; what it leaves unwritten is zero.
    /// - Throws: What `fill` throws; the memory is wiped then. Without memory an error of that type where it can
    ///   say so (`SecretMemoryError`); else, as for a copy or random bytes, the process ends.
    public init<Failure: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(count >= 0, "a secret cannot have a negative size")
        memory = try GuardedMemory.filled(count, fill)
        self.count = count
        region = nil
    }

    /// Fresh random bytes.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { SecureRandom.fill($0) }
    }

    /// A copy of bytes that lie elsewhere; wiping the original stays the caller's duty.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    fileprivate init(_ memory: UnsafeMutableRawPointer, count: Int, in region: SecretRegion) {
        self.memory = memory
        self.count = count
        self.region = region
    }

    deinit { if region == nil { GuardedMemory.release(memory, count) } }

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

/// Many secrets in one guarded allocation.
///
/// A process may have 65,530 memory mappings (`vm.max_map_count`), and each guarded allocation takes four of them, however
/// small the secret is: a keyring of allocations of their own would use a quarter of the limit.
package final class SecretRegion: Sendable {
    private let bytes: SecretBytes

    /// Takes over the bytes of all secrets.
    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// One of the secrets. It keeps the whole region in memory.
    package func secret(at offset: Int, count: Int) -> SecretBytes {
        precondition(offset >= 0 && count >= 0 && offset <= bytes.count - count, "a secret outside its region")
        return SecretBytes(bytes.memory + offset, count: count, in: self)
    }
}

/// An error type that can say that there is no memory for a secret.
package protocol SecretMemoryError: Error {
    /// The error of an operation that did not get memory for `count` secret bytes.
    static func noSecretMemory(count: Int) -> Self
}

extension CryptoError: SecretMemoryError {
    package static func noSecretMemory(count: Int) -> CryptoError { CryptoError(.outOfMemory, "secret memory") }
}

enum GuardedMemory {
    /// What fits one page with the canary that libsodium puts before it, in bytes.
    private static let pageSize = 4080
    /// The most unused pages that are kept.
    private static let mostIdle = 32
    /// Pages that secrets have left: wiped, and open to no access.
    private static let idle = Mutex<[Page]>([])

    /// A page that no secret has.
    // Protected by `idle`: a page is in the list or with one secret, never both.
    private struct Page: @unchecked Sendable {
        let start: UnsafeMutableRawPointer
    }

    /// Takes guarded memory that is read-only once `fill` has written it.
    ///
    /// What fits a page is at its end, before a guard page.
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

    /// Memory that is all zero and writable: a page that a secret has left, or fresh memory.
    private static func take<Failure: Error>(
        _ size: Int, throwing _: Failure.Type
    ) throws(Failure) -> UnsafeMutableRawPointer {
        if size == pageSize, let page = idle.withLock({ $0.popLast() }) {
            guard csodium_secret_make_writable(page.start) == 0 else {
                // The kernel splits no mapping for it: its own limit was reached. The page is lost, and nothing else.
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

    /// Wipes a secret's memory and keeps its page for the next one, or frees it.
    static func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        guard count <= pageSize else { return csodium_secret_free(memory) }
        let start = memory + count - pageSize
        // Where that fails the secret cannot be wiped here: libsodium ends the process or wipes it.
        guard csodium_secret_make_writable(start) == 0 else { return csodium_secret_free(start) }
        keep(start, pageSize)
    }

    private static func keep(_ start: UnsafeMutableRawPointer, _ size: Int) {
        guard size == pageSize else { return csodium_secret_free(start) }
        // The whole page, before it is idle: no secret finds another one's bytes in it, nor what was written beside one.
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
    /// - Throws: `Failure` where it is a `SecretMemoryError`.
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
