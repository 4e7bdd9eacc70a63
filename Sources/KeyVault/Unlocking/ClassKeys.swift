internal import CryptoPrimitives
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The class keys of an open vault: *after first unlock* always, *when unlocked* only while it is.
///
/// A key that came with a person's credential is kept, and checked against the lock stamp before each use; any other is
/// taken from the cache for each use and kept nowhere. So a lock by one program reaches all of them at their next use.
final class ClassKeys: Sendable {
    /// The vault's root.
    let root: SecretBytes
    private let afterFirstUnlock: SecretBytes
    private let directory: FilePath
    private let path: String
    /// Nil where it could not be read: then nothing tells that the vault was not locked since.
    private let openedAt: LockStamp?
    private let caches: UnlockCaches
    private let name: UnlockName
    /// Emptied, and so wiped when its last use has ended, once it is found locked.
    private let held: Mutex<HeldKey?>
    /// Whether a person's slot opened the vault.
    private let isPersons: Bool

    /// - Parameters:
    ///   - secrets: What the credential gave.
    ///   - directory: The vault's. It is looked up by its path again at each use of a held key: a lock goes to the
    ///     directory that has the name then.
    ///   - stamp: Read before the credential was tried; nil to read it now.
    init(
        _ secrets: consuming VaultSecrets, vaultID: [UInt8], directory: Directory, openedAt stamp: LockStamp? = nil,
        caches: UnlockCaches = .current
    ) {
        self.directory = directory.path
        path = directory.display(VaultPlace.leaf)
        openedAt = stamp ?? (try? LockStamp.read(in: directory.path))
        self.caches = caches
        name = UnlockName(vaultID: vaultID, .whenUnlocked)
        root = secrets.root
        afterFirstUnlock = secrets.afterFirstUnlock
        let key = HeldKey(ifAny: secrets.whenUnlocked)
        isPersons = key != nil
        held = Mutex(key)
    }

    /// Lends a class key.
    ///
    /// Memory for a key that is taken from the cache costs tens of microseconds; `withKeyBytes` does without.
    /// - Throws: `VaultError` `.locked`, `.unsafeFile` or `.file`, or what `body` throws.
    func withKey<Result: ~Copyable>(
        _ protection: ProtectionClass, _ body: (borrowing SecretBytes) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        if protection == .afterFirstUnlock { return try body(afterFirstUnlock) }
        if let key = try heldKey() { return try body(key.secret) }
        return try withCachedKey { bytes throws(VaultError) in try body(SecretBytes(copying: bytes)) }
    }

    /// Lends a class key's 32 bytes: a few microseconds beyond the use itself.
    ///
    /// - Throws: As `withKey`.
    func withKeyBytes<Result: ~Copyable>(
        _ protection: ProtectionClass, _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        if protection == .afterFirstUnlock { return try afterFirstUnlock.withUnsafeBytes(body) }
        if let key = try heldKey() { return try key.secret.withUnsafeBytes(body) }
        return try withCachedKey(body)
    }

    /// Whether a class is within reach now.
    func reaches(_ protection: ProtectionClass) throws(VaultError) -> Bool {
        do throws(VaultError) {
            try withKeyBytes(protection) { _ in }
            return true
        } catch {
            if error.code == .locked { return false }
            throw error
        }
    }

    /// Root and class keys one behind the other, as a slot of that reach wraps them.
    ///
    /// - Throws: As `withKey`.
    func joined(reach: SlotReach) throws(VaultError) -> SecretBytes {
        guard reach == .whenUnlocked else { return joined(with: UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try withKeyBytes(.whenUnlocked) { whenUnlocked throws(VaultError) in joined(with: whenUnlocked) }
    }

    private func joined(with whenUnlocked: UnsafeRawBufferPointer) -> SecretBytes {
        SecretBytes(count: 2 * VaultSecrets.keySize + whenUnlocked.count) { buffer in
            root.withUnsafeBytes { buffer.copyMemory(from: $0) }
            afterFirstUnlock.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: buffer[VaultSecrets.keySize...]).copyMemory(from: $0)
            }
            UnsafeMutableRawBufferPointer(rebasing: buffer[(2 * VaultSecrets.keySize)...]).copyMemory(
                from: whenUnlocked)
        }
    }
}

extension ClassKeys {
    /// Shared by its uses, so that none of them holds the mutex.
    private final class HeldKey: Sendable {
        let secret: SecretBytes

        init(_ secret: consuming SecretBytes) { self.secret = secret }

        init?(ifAny secret: consuming SecretBytes?) {
            guard let secret else { return nil }
            self.secret = secret
        }
    }

    /// The key that a person's credential gave, unless the vault was locked since.
    private func heldKey() throws(VaultError) -> HeldKey? {
        guard let key = held.withLock({ $0 }) else { return nil }
        if try LockStamp.read(in: directory) == openedAt { return key }
        forget()
        return nil
    }

    private func forget() { held.withLock { $0 = nil } }

    private func withCachedKey<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let result = try root.withUnsafeBytes { root throws(VaultError) in
            try caches.withSecret(name, root: root, wiping: true) { (key, _) throws(VaultError) in try body(key) }
        }
        guard let result else { throw locked }
        return result
    }

    private var locked: VaultError {
        VaultError(
            .locked, "use the vault", path, "It is locked: what is protected \"when unlocked\" needs its user.",
            advice: "Unlock it with its passphrase: sealctl vault unlock.")
    }
}

extension ClassKeys {
    /// Puts the keys within reach into the cache. The when-unlocked key is then no longer held here: a lock and the end of
    /// the time limit are seen by everybody alike.
    ///
    /// - Returns: Whether the when-unlocked key is among them: it is for those who were opened by a person's slot.
    /// - Throws: `VaultError` `.noUnlockCache`; `.locked` when the vault was locked since it was opened.
    func share(for lifetime: Duration?) throws(VaultError) -> Bool {
        let first = UnlockName(vaultID: name.vaultID, .afterFirstUnlock)
        guard isPersons else {
            try store(joined(reach: .afterFirstUnlock), as: first, for: nil)
            return false
        }
        let stamp = try LockStamp.read(in: directory)
        var key = try heldKey()
        if key == nil { key = try withCachedKey { key throws(VaultError) in HeldKey(SecretBytes(copying: key)) } }
        try store(joined(reach: .afterFirstUnlock), as: first, for: nil)
        if let key { try store(key.secret, as: name, for: lifetime) }
        forget()
        // Asked again: a lock that came between the two looks has emptied the cache too early.
        guard try LockStamp.read(in: directory) == stamp else {
            try caches.remove(name)
            try caches.remove(first)
            throw locked
        }
        return true
    }

    private func store(
        _ secret: borrowing SecretBytes, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        let deadline = lifetime.map { BootClock.milliseconds() + $0.wholeMilliseconds } ?? 0
        let ticket = secret.withUnsafeBytes {
            UnlockTicket.make(name, secret: $0, deadline: deadline, root: root)
        }
        try caches.store(ticket, as: name, for: lifetime)
        let isFound = try root.withUnsafeBytes { root throws(VaultError) in
            try caches.withSecret(name, root: root) { (_, _) throws(VaultError) in true }
        }
        guard isFound == true else {
            throw VaultError(.noUnlockCache, "keep the vault unlocked in", "memory", "What was put there is not found.")
        }
    }
}

extension Duration {
    /// Rounded up, at least 0.
    fileprivate var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds) * 1000
            + UInt64(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
