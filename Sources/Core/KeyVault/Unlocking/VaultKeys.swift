internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The roots of an open vault: the service root always, the person root only while the vault is unlocked.
///
/// A person root from a credential is kept in memory; any other is read from the cache for each use and not kept. Both
/// are checked against the lock stamp before each use, so a lock by one program reaches all of them at their next use.
final class VaultKeys: Sendable {
    private struct State: Sendable {
        var service: RootKey
        /// The slot that opened the vault, and its holder's secret, for following a rekey. A person's is removed at the
        /// first use after a lock.
        var slot: OpenedSlot?
        var person: HeldRoot?
        /// The commitment of the person root in force; `nil` if unknown.
        var expected: Bytes32?
    }

    /// A person root, and the stamp under which it is valid.
    private struct HeldRoot: Sendable {
        let root: RootKey
        let openedAt: LockStamp
    }

    /// The number of the slot that opened the vault; `nil` for keys unlocked before.
    let slotID: UInt32?
    private let directory: FilePath
    private let path: String
    private let caches: UnlockCaches
    private let name: UnlockName
    private let isPersons: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - directory: The vault's directory. It is resolved again by its path at each use of a person's key, because a
    ///     lock affects the directory that then has the name.
    ///   - stamp: Read before the credential was tried. With an unknown stamp the vault counts as locked since.
    init(
        service: RootKey, person: RootKey?, slot: OpenedSlot?, vaultID: [UInt8], directory: Directory,
        openedAt stamp: LockStamp, caches: UnlockCaches = .current
    ) {
        self.directory = directory.path
        path = directory.display(VaultPlace.leaf)
        self.caches = caches
        name = UnlockName(vaultID: vaultID, .whenUnlocked)
        slotID = slot?.slot.id
        isPersons = person != nil
        state = Mutex(State(service: service, slot: slot, person: person.map { HeldRoot(root: $0, openedAt: stamp) }))
    }

    /// The service root in force.
    var service: RootKey { state.withLock { $0.service } }

    /// The opened slot, for following a rekey; `nil` after a lock removed it.
    var slot: OpenedSlot? { state.withLock { $0.slot } }

    /// Replaces the roots by those of a later period.
    func follow(service: RootKey, person: RootKey?, slot: OpenedSlot?) {
        state.withLock { state in
            state.service = service
            if let slot { state.slot = slot }
            if let person, let held = state.person { state.person = HeldRoot(root: person, openedAt: held.openedAt) }
        }
    }

    /// Sets the person root in force: a ticket from before a rekey is invalid.
    func expect(personRoot: Bytes32?) { state.withLock { $0.expected = personRoot } }

    /// Lends the person root.
    ///
    /// - Throws: `VaultError` `.locked`, `.unsafeFile` or `.file`, or what `body` throws.
    func withPerson<Result: ~Copyable>(
        _ body: (RootKey) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        if let root = try heldRoot() { return try body(root) }
        guard let root = try cachedRoot() else { throw locked }
        return try body(root)
    }

    /// Returns whether the person root is accessible now.
    func reachesPerson() throws(VaultError) -> Bool {
        if try heldRoot() != nil { return true }
        return try cachedRoot() != nil
    }

    /// Returns the root from a person's credential, unless the vault was locked since.
    private func heldRoot() throws(VaultError) -> RootKey? {
        while let held = state.withLock({ $0.person }) {
            if try LockStamp.read(in: directory).isSame(as: held.openedAt) { return held.root }
            state.withLock { state in
                guard state.person?.root === held.root else { return }
                state.person = nil
                // The holder's secret could open the slot again.
                state.slot = nil
            }
        }
        return nil
    }

    private func cachedRoot() throws(VaultError) -> RootKey? {
        let stamp = { () throws(VaultError) in try LockStamp.read(in: self.directory) }
        let found = try caches.withRoot(name, lockedAt: stamp, wiping: true) { (root, _) throws(VaultError) in
            RootKey(copying: root)
        }
        guard let expected = state.withLock({ $0.expected }) else { return found }
        return found?.commitment == expected ? found : nil
    }

    private var locked: VaultError {
        VaultError(
            .locked, "use the vault", path, "It is locked: the class \"when unlocked\" needs its user.",
            advice: "Unlock it: sealctl vault unlock.")
    }
}

extension VaultKeys {
    /// Stores the accessible roots in the cache. This object then no longer keeps the person root, so a lock and the
    /// end of the time limit affect every program alike.
    ///
    /// - Returns: Whether the person root is among them, as in a vault that a person's slot opened.
    /// - Throws: `VaultError` `.noUnlockCache`; `.locked` if the vault was locked since it was opened.
    func share(for lifetime: Duration?) throws(VaultError) -> Bool {
        guard isPersons else {
            try shareService()
            return false
        }
        let (root, stamp) = try rootToShare()
        let isFirst = try shareService()
        try store(root, as: name, for: lifetime, under: stamp)
        state.withLock { state in
            state.person = nil
            state.slot = nil
        }
        // Checked again: a lock between the two reads has emptied the caches too early.
        guard try LockStamp.read(in: directory).isSame(as: stamp) else {
            try takeBack(service: isFirst)
            throw locked
        }
        return true
    }

    /// Renews the tickets after a rekey by this program, so that the user's unlocking remains in force.
    ///
    /// - Parameter person: The person root in force, if this program has it.
    func shareAgain(person: RootKey?) throws(VaultError) {
        let first = UnlockName(vaultID: name.vaultID, .afterFirstUnlock)
        if try caches.serviceRoot(vaultID: name.vaultID) != nil {
            try store(service, as: first, for: nil, under: .none)
        }
        let stamp = try LockStamp.read(in: directory)
        guard let person else { return }
        let found = try caches.withRoot(name, lockedAt: { stamp }) { (_, left) throws(VaultError) in [left] }
        guard let left = found?.first else { return }
        try store(person, as: name, for: left, under: stamp)
    }

    /// Returns the person root, and the stamp under which it is valid. Creates the vault's first stamp if the directory
    /// is writable; otherwise no program can lock the vault either.
    private func rootToShare() throws(VaultError) -> (RootKey, LockStamp) {
        let stamp = try LockStamp.read(in: directory)
        guard let root = try heldRoot() else {
            guard let root = try cachedRoot() else { throw locked }
            return (root, stamp)
        }
        guard stamp.isNone else { return (root, stamp) }
        let first: LockStamp?
        do throws(VaultError) { first = try LockStamp.makeFirst(in: directory) } catch { return (root, stamp) }
        guard let first else { throw locked }
        // So that this vault continues to work without a cache.
        state.withLock { state in
            if state.person?.root === root { state.person = HeldRoot(root: root, openedAt: first) }
        }
        return (root, first)
    }

    /// - Returns: Whether the root was newly stored.
    @discardableResult
    private func shareService() throws(VaultError) -> Bool {
        let first = UnlockName(vaultID: name.vaultID, .afterFirstUnlock)
        let known = try caches.serviceRoot(vaultID: name.vaultID)
        if known?.commitment == service.commitment { return false }
        try store(service, as: first, for: nil, under: .none)
        return true
    }

    /// Removes the tickets that this call has stored. A root that another program unlocked after the lock remains.
    private func takeBack(service: Bool) throws(VaultError) {
        if try cachedRoot() == nil { try caches.remove(name) }
        if service { try caches.remove(UnlockName(vaultID: name.vaultID, .afterFirstUnlock)) }
    }

    private func store(
        _ root: RootKey, as name: UnlockName, for lifetime: Duration?, under stamp: LockStamp
    ) throws(VaultError) {
        guard let bytes = stamp.ticketBytes else { throw locked }
        let deadline = lifetime.map { BootClock.milliseconds() + $0.wholeMilliseconds } ?? 0
        try caches.store(UnlockTicket.make(name, root: root, deadline: deadline, stamp: bytes), as: name, for: lifetime)
        let isFound = try caches.withRoot(name, lockedAt: { stamp }) { (_, _) throws(VaultError) in true }
        guard isFound == true else {
            throw VaultError(
                .noUnlockCache, "keep the vault unlocked in", "memory", "The stored keys were not found again.")
        }
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up, at least 0.
    fileprivate var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds) * 1000
            + UInt64(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
