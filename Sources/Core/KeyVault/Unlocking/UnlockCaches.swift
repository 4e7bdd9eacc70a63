internal import CryptoPrimitives

/// The caches of this process, in the order in which they are asked.
///
/// All are asked: a program for which the kernel's keyring is out of reach must find what another one of the same user has
/// put there, or be told that the vault is locked, and a lock must reach both.
package struct UnlockCaches: Sendable {
    private let caches: [any UnlockCache]

    init(_ caches: [any UnlockCache]) { self.caches = caches }

    /// The kernel's user keyring, then a file in the user's runtime directory.
    package static let standard = UnlockCaches([KernelKeyring(), RuntimeFileCache.ofThisUser])

    /// What vaults that are opened now use; tests put others in its place for the length of a call.
    @TaskLocal package static var current = standard

    /// Only the kernel's keyring.
    package static let kernelKeyring = UnlockCaches([KernelKeyring()])

    /// Only files below a runtime directory.
    package static func runtimeFile(below path: String) -> UnlockCaches {
        UnlockCaches([RuntimeFileCache(below: path)])
    }

    /// Whether keys can be kept here at all.
    package var isUsable: Bool { place != nil }

    /// The first one that works here; nil for none.
    package var place: UnlockPlace? { caches.first(where: \.isUsable)?.place }
}

extension UnlockCaches {
    /// The service root that the user's unlocking has left for every program; nil for none. Changes nothing. The caller
    /// checks that it is the vault's.
    ///
    /// - Throws: `VaultError` `.unsafeFile` or `.file` when a cache is there and cannot be trusted or read.
    func serviceRoot(vaultID: [UInt8]) throws(VaultError) -> RootKey? {
        let name = UnlockName(vaultID: vaultID, .afterFirstUnlock)
        return try withRoot(name, lockedAt: nil) { (bytes, _) throws(VaultError) in RootKey(copying: bytes) }
    }

    /// Whether the service root of the vault with that id is there.
    package func holdKeys(vaultID: [UInt8]) throws(VaultError) -> Bool { try serviceRoot(vaultID: vaultID) != nil }

    /// Lends the root of a ticket and the time that it has left; nil where no ticket holds now.
    ///
    /// - Parameters:
    ///   - stamp: Asked after the ticket was read: a ticket under another stamp holds no longer. Nil for *after first
    ///     unlock*, which no lock ends.
    ///   - wiping: Whether a ticket that is over is wiped.
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
                    // One from before a lock; another cache may have a newer one.
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

    /// Keeps a ticket in the first cache that takes it, and takes older ones out of the others.
    ///
    /// - Throws: `VaultError` `.noUnlockCache` when none does.
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

    /// Takes a ticket out of all caches, as many as can be reached.
    ///
    /// - Throws: `VaultError`, the first failure, after all have been tried. A cache that does not work here holds nothing.
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
