internal import CSodium
internal import Synchronization

/// A pool of guarded memory for short-lived secrets.
///
/// `SecretBytes` costs tens of microseconds each, because the system maps and locks pages for it. A page from the pool
/// costs a lock and a wipe. Like `SecretBytes`, it is between guard pages, locked if the system allows it, and excluded
/// from core files. Unlike those, it stays writable. Secrets larger than a page get memory of their own.
package final class SecretPool: Sendable {
    /// The size of a page in bytes.
    package static let pageSize = 4096
    /// The pool that all vaults of a process share.
    package static let shared = SecretPool(keeping: 16)

    private let limit: Int
    private let idle: Mutex<[SecretPage]> = Mutex([])

    /// - Parameter limit: The number of unused pages that are kept. Further pages are freed on return.
    package init(keeping limit: Int) { self.limit = limit }

    /// The number of unused pages.
    package var idleCount: Int { idle.withLock { $0.count } }

    /// Lends `count` secret bytes: `fill` writes them, `body` reads them, then they are wiped, even after an error.
    ///
    /// Without memory, throws an error of the caller's type if it is a `SecretMemoryError`, as `SecretBytes` does. The
    /// pointers must not outlive the calls. The bytes end at a guard page, so their start may have any alignment.
    /// - Parameters:
    ///   - count: The size in bytes, zero or more.
    ///   - fill: Writes every byte. Unwritten bytes are zero.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        count: Int, filling fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard count <= Self.pageSize else {
            return try SecretBytes(count: count, filling: fill).withUnsafeBytes(body)
        }
        let page = try page(throwing: Failure.self)
        let bytes = page.suffix(count)
        defer {
            // Wiped before the page is idle, so that no secret outlives its use or is visible to the next borrower.
            ScratchMemory.wipe(bytes)
            takeBack(page)
        }
        try fill(bytes)
        return try body(UnsafeRawBufferPointer(bytes))
    }

    private func page<Failure: Error>(throwing _: Failure.Type) throws(Failure) -> SecretPage {
        if let page = idle.withLock({ $0.popLast() }) { return page }
        return try SecretPage(size: Self.pageSize, throwing: Failure.self)
    }

    private func takeBack(_ page: SecretPage) {
        idle.withLock { if $0.count < limit { $0.append(page) } }
    }
}

/// A page of guarded memory, all zero unless it is on loan.
private final class SecretPage {
    private let memory: UnsafeMutableRawBufferPointer

    init<Failure: Error>(size: Int, throwing _: Failure.Type) throws(Failure) {
        let start = try GuardedMemory.allocate(size, throwing: Failure.self)
        memory = UnsafeMutableRawBufferPointer(start: start, count: size)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { csodium_secret_free(memory.baseAddress) }

    func suffix(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory.suffix(count))
    }
}

// Protected by the loan: a page is in its pool or with one borrower, never both.
extension SecretPage: @unchecked Sendable {}
