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
    /// What the user's unlocking has left for everybody: root and after-first-unlock key, never more. Changes nothing.
    ///
    /// Believed only when the root fits the vault's own header: nil for none, and for one that opens another vault.
    /// - Throws: `VaultError` `.unsafeFile` or `.file` when a cache is there and cannot be trusted or read.
    static func fetch(for head: VaultHead) throws(VaultError) -> VaultSecrets? { try current.secrets(for: head) }

    /// As `fetch(for:)`, from these caches.
    func secrets(for head: VaultHead) throws(VaultError) -> VaultSecrets? {
        guard let secrets = try secrets(vaultID: head.header.vaultID),
            VaultHeader.isAuthentic(head, root: secrets.root)
        else { return nil }
        return consume secrets
    }

    /// Whether the after-first-unlock keys of the vault with that id are there.
    package func holdKeys(vaultID: [UInt8]) throws(VaultError) -> Bool {
        switch try secrets(vaultID: vaultID) {
        case .some: true
        case .none: false
        }
    }

    /// The same without the look at the header, which stays the caller's duty.
    func secrets(vaultID: [UInt8]) throws(VaultError) -> VaultSecrets? {
        let name = UnlockName(vaultID: vaultID, .afterFirstUnlock)
        return try withSecret(name, root: nil, lockedAt: nil) { (bytes, _) throws(VaultError) -> VaultSecrets? in
            VaultSecrets(joined: bytes, reach: .afterFirstUnlock)
        } ?? nil
    }

    /// Lends the secrets of a ticket and the time that it has left; nil where none holds now.
    ///
    /// - Parameters:
    ///   - root: What the ticket's code has to fit; nil for the root that it carries itself.
    ///   - stamp: Asked after the ticket was read: a ticket under another stamp holds no longer. Nil for after first unlock,
    ///     which no lock ends.
    ///   - wiping: Whether a ticket that is over is wiped.
    func withSecret<Result: ~Copyable>(
        _ name: UnlockName, root: UnsafeRawBufferPointer?, lockedAt stamp: (() throws(VaultError) -> LockStamp)?,
        wiping: Bool = false,
        _ body: (UnsafeRawBufferPointer, Duration?) throws(VaultError) -> Result
    ) throws(VaultError) -> Result? {
        try ScratchMemory.withSecret(count: UnlockTicket.maximumSize) { buffer throws(VaultError) in
            for cache in caches {
                guard let size = try Self.read(name, from: cache, into: buffer) else { continue }
                let ticket = UnsafeRawBufferPointer(rebasing: buffer[..<size])
                let verdict = UnlockTicket.verdict(on: ticket, name, root: root, now: BootClock.milliseconds())
                switch verdict {
                case .holds(let secret, let left, let made):
                    // One from before a lock; another cache may have a newer one.
                    guard try stamp?().isSame(as: made) ?? made.isNone else { continue }
                    return try body(secret, left)
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
