internal import CSodium
internal import Synchronization

/// Guarded memory for secrets that are used and forgotten, kept for the next one.
///
/// `SecretBytes` costs tens of microseconds each, because the system maps and locks pages for it; a page from here
/// costs a lock and a wipe. Like `SecretBytes` it lies between guard pages, is locked where the system allows and is
/// kept out of core files; unlike those it is writable as long as it lives. What is larger than a page gets memory of
/// its own.
package final class SecretPool: Sendable {
    /// The most that fits a page, in bytes.
    package static let pageSize = 4096
    /// The pool that all of a process's vaults share.
    package static let shared = SecretPool(keeping: 16)

    private let limit: Int
    private let idle: Mutex<[SecretPage]> = Mutex([])

    /// - Parameter limit: How many unused pages are kept; one more is freed when it comes back.
    package init(keeping limit: Int) { self.limit = limit }

    /// How many pages wait for use.
    package var idleCount: Int { idle.withLock { $0.count } }

    /// Lends `count` secret bytes: `fill` writes them, `body` reads them, then they are wiped, whoever throws.
    ///
    /// Without memory for it an error of the caller's type is thrown where that can say so, as by `SecretBytes`.
    /// The pointers must not outlive the calls. The bytes end at a guard page, so their start may have any alignment.
    /// - Parameters:
    ///   - count: The size in bytes, zero or more.
    ///   - fill: Writes every byte; what it leaves unwritten is zero.
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
            // Wiped before it is idle: nobody ever finds another one's secret in it, and no secret outlives its use.
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

/// One page of guarded memory, all zero unless it is on loan.
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
