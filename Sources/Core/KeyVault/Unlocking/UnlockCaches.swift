internal import CryptoPrimitives

/// The caches of this process, in the order in which they are tried.
///
/// All are read: a program without access to the kernel's keyring must find the tickets of another program of the same
/// user, or learn that the vault is locked, and a lock must reach both.
package struct UnlockCaches: Sendable {
    private let caches: [any UnlockCache]

    init(_ caches: [any UnlockCache]) { self.caches = caches }

    /// The kernel's user keyring, then a file in the user's runtime directory.
    package static let standard = UnlockCaches([KernelKeyring(), RuntimeFileCache.ofThisUser])

    /// The caches for vaults opened from now on; tests replace them for the length of a call.
    @TaskLocal package static var current = standard

    /// Only the kernel's keyring.
    package static let kernelKeyring = UnlockCaches([KernelKeyring()])

    /// Returns a cache of only files below a runtime directory.
    package static func runtimeFile(below path: String) -> UnlockCaches {
        UnlockCaches([RuntimeFileCache(below: path)])
    }

    /// `true` if keys can be stored here at all.
    package var isUsable: Bool { place != nil }

    /// The place of the first cache that works here; `nil` if none does.
    package var place: UnlockPlace? { caches.first(where: \.isUsable)?.place }
}

extension UnlockCaches {
    /// Returns the service root that the user's unlocking has left for all programs; `nil` if there is no such root.
    /// Changes nothing. The caller checks that it is the vault's.
    ///
    /// - Throws: `VaultError` `.unsafeFile` or `.file` if a cache exists and cannot be trusted or read.
    func serviceRoot(vaultID: [UInt8]) throws(VaultError) -> RootKey? {
        let name = UnlockName(vaultID: vaultID, .afterFirstUnlock)
        return try withRoot(name, lockedAt: nil) { (bytes, _) throws(VaultError) in RootKey(copying: bytes) }
    }

    /// Returns whether a cache contains the service root of the vault with that id.
    package func holdKeys(vaultID: [UInt8]) throws(VaultError) -> Bool { try serviceRoot(vaultID: vaultID) != nil }

    /// Lends the root of a ticket and its remaining time; returns `nil` if no ticket is valid now.
    ///
    /// - Parameters:
    ///   - stamp: Called after the ticket was read: a ticket under another stamp is no longer valid. `nil` for *after
    ///     first unlock*, which no lock ends.
    ///   - wiping: Whether to wipe an expired ticket.
    func withRoot<Result: ~Copyable>(
        _ name: UnlockName, lockedAt stamp: (() throws(VaultError) -> LockStamp)?, wiping: Bool = false,
        _ body: (UnsafeRawBufferPointer, Duration?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result? {
        try ScratchMemory.withSecret(count: UnlockTicket.maximumSize) { buffer throws(VaultError) in
            for cache in caches {
                guard let size = try Self.read(name, from: cache, into: buffer) else { continue }
                let ticket = UnsafeRawBufferPointer(rebasing: buffer[..<size])
                let verdict = UnlockTicket.verdict(on: ticket, name, now: BootClock.milliseconds())
                switch verdict {
                case .holds(let root, let left, let made):
                    // This ticket is from before a lock; another cache may have a newer one.
                    guard try stamp?().isSame(as: made) ?? made.isNone else { continue }
                    return try body(root, left)
                case .expired: if wiping { cache.wipeExpired(name) }
                case .foreign: break
                }
            }
            return nil
        }
    }

    private static func read(
        _ name: UnlockName, from cache: any UnlockCache, into buffer: UnsafeMutableRawBufferPointer
    ) throws(VaultError) -> Int? {
        do throws(VaultError) {
            return try cache.read(name, into: buffer)
        } catch {
            if error.code == .noUnlockCache { return nil }
            throw error
        }
    }

    /// Stores a ticket in the first cache that accepts it, and removes older ones from the others.
    ///
    /// - Throws: `VaultError` `.noUnlockCache` if no cache accepts it.
    func store(
        _ ticket: borrowing SecretBytes, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        var reasons: [String] = []
        for (index, cache) in caches.enumerated() {
            do throws(VaultError) {
                try ticket.withUnsafeBytes { ticket throws(VaultError) in
                    try cache.store(ticket, as: name, for: lifetime)
                }
                for (other, cache) in caches.enumerated() where other != index { try? cache.remove(name) }
                return
            } catch {
                guard error.code == .noUnlockCache else { throw error }
                reasons.append("\(cache.place): \(error.reason)")
            }
        }
        throw VaultError(
            .noUnlockCache, "keep the vault unlocked in", "memory",
            reasons.isEmpty ? "There is no cache." : reasons.joined(separator: " "))
    }

    /// Removes a ticket from all accessible caches.
    ///
    /// - Throws: `VaultError`, the first failure, after all have been tried. A cache that does not work here contains
    ///   nothing.
    func remove(_ name: UnlockName) throws(VaultError) {
        var failure: VaultError?
        for cache in caches {
            do throws(VaultError) {
                try cache.remove(name)
            } catch {
                if error.code != .noUnlockCache { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}
