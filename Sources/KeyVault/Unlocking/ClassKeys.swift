internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The class keys of an open vault: *after first unlock* always, *when unlocked* only while it is.
///
/// A key that came with a person's credential is kept; any other is taken from the cache for each use and kept nowhere. Both
/// are checked against the lock stamp and against the vault's state before each use. So a lock by one program reaches all of
/// them at their next use, and nobody goes on with a key that no slot gives any more.
final class ClassKeys: Sendable {
    /// The vault's root.
    let root: SecretBytes
    /// The key slot that gave all this; nil for what a person unlocked before, and for a vault that was just made.
    let slot: UInt32?
    private let afterFirstUnlock: SecretBytes
    private let directory: FilePath
    private let path: String
    private let caches: UnlockCaches
    private let name: UnlockName
    /// Whether a person's slot opened the vault.
    private let isPersons: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - secrets: What the credential gave.
    ///   - directory: The vault's. It is looked up by its path again at each use of a key that needs its user: a lock goes
    ///     to the directory that has the name then.
    ///   - stamp: Read before the credential was tried. Under an unknown one the vault counts as locked since.
    init(
        _ secrets: consuming VaultSecrets, vaultID: [UInt8], directory: Directory, openedAt stamp: LockStamp,
        slot: UInt32? = nil, caches: UnlockCaches = .current
    ) {
        self.slot = slot
        self.directory = directory.path
        path = directory.display(VaultPlace.leaf)
        self.caches = caches
        name = UnlockName(vaultID: vaultID, .whenUnlocked)
        root = secrets.root
        afterFirstUnlock = secrets.afterFirstUnlock
        let key = WhenUnlockedKey(ifAny: secrets.whenUnlocked)
        isPersons = key != nil
        state = Mutex(State(held: key.map { HeldKey($0, openedAt: stamp) }))
    }

    /// Says which when-unlocked key is the vault's. From then on no other one is used, wherever it comes from.
    ///
    /// - Parameters:
    ///   - id: From the vault's state.
    ///   - generation: Of the write that says so; an older one changes nothing.
    func expect(whenUnlockedID id: Bytes16, asOf generation: UInt64) {
        state.withLock { state in
            if let known = state.expected, known.generation > generation { return }
            state.expected = (id, generation)
        }
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
    private struct State: Sendable {
        /// Emptied, and so wiped when its last use has ended, once it is found locked.
        var held: HeldKey?
        /// Nil until the vault's contents are known.
        var expected: (id: Bytes16, generation: UInt64)?
    }

    private func isExpected(_ id: Bytes16) -> Bool {
        state.withLock { state in state.expected.map { $0.id == id && id != WhenUnlockedKeyID.none } ?? true }
    }

    /// The key that a person's credential gave, unless the vault was locked since, or has another one now.
    private func heldKey() throws(VaultError) -> WhenUnlockedKey? {
        while let held = state.withLock({ $0.held }) {
            if try LockStamp.read(in: directory).isSame(as: held.openedAt), isExpected(held.key.id) { return held.key }
            forget(held)
        }
        return nil
    }

    /// Another thread may have put the same key there under the vault's first stamp.
    private func forget(_ held: HeldKey) { state.withLock { if $0.held === held { $0.held = nil } } }

    private func withCachedKey<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let stamp = { () throws(VaultError) in try LockStamp.read(in: self.directory) }
        let result = try root.withUnsafeBytes { root throws(VaultError) in
            try caches.withSecret(name, root: root, lockedAt: stamp, wiping: true) { (key, _) throws(VaultError) in
                guard isExpected(WhenUnlockedKeyID.of(key)) else { throw locked }
                return try body(key)
            }
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
        guard isPersons else {
            try shareAfterFirstUnlock()
            return false
        }
        let (key, stamp) = try keyToShare()
        let isFirst = try shareAfterFirstUnlock()
        try store(key.secret, as: name, for: lifetime, under: stamp)
        state.withLock { $0.held = nil }
        // Asked again: a lock that came between the two looks has emptied the caches too early.
        guard try LockStamp.read(in: directory).isSame(as: stamp) else {
            try takeBack(afterFirstUnlock: isFirst)
            throw locked
        }
        return true
    }

    /// The when-unlocked key, and the stamp that it holds under. The vault's first stamp is made here, where its directory
    /// can be written to; else nobody can lock it either.
    private func keyToShare() throws(VaultError) -> (WhenUnlockedKey, LockStamp) {
        let stamp = try LockStamp.read(in: directory)
        guard let key = try heldKey() else {
            return try withCachedKey { key throws(VaultError) in (WhenUnlockedKey(SecretBytes(copying: key)), stamp) }
        }
        guard stamp.isNone else { return (key, stamp) }
        let first: LockStamp?
        do throws(VaultError) { first = try LockStamp.makeFirst(in: directory) } catch { return (key, stamp) }
        guard let first else { throw locked }
        // So that this vault goes on if there is no cache. Whoever else holds a key from before finds it in the cache.
        state.withLock { if $0.held?.key === key { $0.held = HeldKey(key, openedAt: first) } }
        return (key, first)
    }

    /// - Returns: Whether the keys were not there before. They are the same for everybody, and without a time limit.
    @discardableResult
    private func shareAfterFirstUnlock() throws(VaultError) -> Bool {
        let first = UnlockName(vaultID: name.vaultID, .afterFirstUnlock)
        if try caches.state(of: first, root: root, in: directory).isUnlocked { return false }
        try store(joined(reach: .afterFirstUnlock), as: first, for: nil, under: .none)
        return true
    }

    /// Takes back what this call has put there. A key that somebody unlocked after the lock stays.
    private func takeBack(afterFirstUnlock: Bool) throws(VaultError) {
        if try !caches.state(of: name, root: root, in: directory).isUnlocked { try caches.remove(name) }
        if afterFirstUnlock { try caches.remove(UnlockName(vaultID: name.vaultID, .afterFirstUnlock)) }
    }

    private func store(
        _ secret: borrowing SecretBytes, as name: UnlockName, for lifetime: Duration?, under stamp: LockStamp
    ) throws(VaultError) {
        guard let bytes = stamp.ticketBytes else { throw locked }
        let deadline = lifetime.map { BootClock.milliseconds() + $0.wholeMilliseconds } ?? 0
        let ticket = secret.withUnsafeBytes {
            UnlockTicket.make(name, secret: $0, deadline: deadline, stamp: bytes, root: root)
        }
        try caches.store(ticket, as: name, for: lifetime)
        let isFound = try root.withUnsafeBytes { root throws(VaultError) in
            try caches.withSecret(name, root: root, lockedAt: { stamp }) { (_, _) throws(VaultError) in true }
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
