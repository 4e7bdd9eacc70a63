public import AppGroups
public import CryptoPrimitives
internal import SharedFiles

/// The calls that may wait, for tasks: they wait on dedicated threads, never on those that run tasks.
///
/// A process has at most 64 such threads. Further calls are queued. For calls of an open vault the time in the queue
/// counts against the vault's `lockTimeout`, which covers the whole wait for the thread and the vault's lock.
///
/// Cancelling the task ends the wait for the vault's lock, and that of an open vault's calls in the queue, with
/// `.cancelled`. Once the lock is held, the change is finished; the file of a value that it replaced may remain until
/// the next change. Slots, rekeys, backups and certification are work of persons and have no forms with `async`.
extension Vault {
    /// Opens the vault of an access group; see the form without `async`. A passphrase's slow hash does not block the
    /// task pool.
    public static func open(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        options: VaultOptions = VaultOptions()
    ) async throws(VaultError) -> Vault {
        try await offload { () throws(VaultError) in
            try open(accessGroup, in: home, with: credential, options: options)
        }
    }

    /// Opens the vault, or creates it with its first key if it does not exist; see the form without `async`.
    public static func openOrCreate(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        sharing: Sharing = .ownerOnly, options: VaultOptions = VaultOptions()
    ) async throws(VaultError) -> Vault {
        try await offload { () throws(VaultError) in
            try openOrCreate(accessGroup, in: home, with: credential, sharing: sharing, options: options)
        }
    }

    /// Returns the status of a vault without opening it; see the form without `async`.
    public static func status(
        _ accessGroup: AccessGroup, in home: GroupsHome
    ) async throws(VaultError) -> VaultStatus {
        try await offload { () throws(VaultError) in try status(accessGroup, in: home) }
    }

    /// Returns whether *when unlocked* can be used through this vault now; see the form without `async`.
    public func isUnlocked() async throws(VaultError) -> Bool {
        try await limited { () throws(VaultError) in try self.isUnlocked() }
    }

    /// Unlocks the vault for all programs of this user; see the form without `async`.
    @discardableResult
    public func unlock(for lifetime: Duration? = nil) async throws(VaultError) -> Bool {
        try await limited { () throws(VaultError) in try self.unlock(for: lifetime) }
    }

    /// Locks the vault for all programs of this user; see the form without `async`.
    @discardableResult
    public static func lock(
        _ accessGroup: AccessGroup, in home: GroupsHome, everything: Bool = false,
        options: VaultOptions = VaultOptions()
    ) async throws(VaultError) -> LockReport {
        try await offload { () throws(VaultError) in
            try lock(accessGroup, in: home, everything: everything, options: options)
        }
    }
}

/// Items, for tasks.
extension Vault {
    /// Adds an item; see the form without `async`. `SecretBytes` are consumed, even if the call fails.
    public func addItem<Value: ItemValueConvertible & ~Copyable>(
        service: String, account: String, label: String = "", accessibility: Accessibility? = nil,
        value: consuming Value
    ) async throws(VaultError) {
        let value = SharedValue(value)
        try await limited { () throws(VaultError) in
            try self.addItem(
                service: service, account: account, label: label, accessibility: accessibility, value: value.value)
        }
    }

    /// Changes the label or the accessibility of an item and keeps its value; see the form without `async`.
    public func updateItem(
        service: String, account: String, label: String? = nil, accessibility: Accessibility? = nil
    ) async throws(VaultError) {
        try await limited { () throws(VaultError) in
            try self.updateItem(service: service, account: account, label: label, accessibility: accessibility)
        }
    }

    /// Replaces an item's value and the given properties; see the form without `async`. `SecretBytes` are consumed,
    /// even if the call fails.
    public func updateItem<Value: ItemValueConvertible & ~Copyable>(
        service: String, account: String, label: String? = nil, accessibility: Accessibility? = nil,
        value: consuming Value
    ) async throws(VaultError) {
        let value = SharedValue(value)
        try await limited { () throws(VaultError) in
            try self.updateItem(
                service: service, account: account, label: label, accessibility: accessibility, value: value.value)
        }
    }

    /// Deletes an item; see the form without `async`.
    @discardableResult
    public func deleteItem(service: String, account: String) async throws(VaultError) -> ItemDeletion {
        try await limited { () throws(VaultError) in try self.deleteItem(service: service, account: account) }
    }

    /// Returns the metadata of one item; see the form without `async`.
    public func item(service: String, account: String) async throws(VaultError) -> VaultItem {
        try await limited { () throws(VaultError) in try self.item(service: service, account: account) }
    }

    /// Returns all items, or one service's; see the form without `async`.
    public func items(service: String? = nil) async throws(VaultError) -> [VaultItem] {
        try await limited { () throws(VaultError) in try self.items(service: service) }
    }

    /// Lends an item's value for the length of a call; see the form without `async`. `body` runs on the thread of the
    /// call and may block it.
    public func withValue<Result: Sendable>(
        service: String, account: String,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await limited { () throws(VaultError) in
            try self.withValue(service: service, account: account) { value throws(VaultError) -> Result in
                try Self.apartFromTheCall { () throws(VaultError) in try body(value) }
            }
        }
    }

    /// Lends an item's value to a closure that throws errors of the program; see the form without `async`.
    public func withValue<Result: Sendable, Failure: Error>(
        service: String, account: String,
        _ body: @escaping @Sendable (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) async throws -> Result {
        let result = try await limited { () throws(VaultError) in
            try self.lendValue(service: service, account: account) { value throws(Failure) -> Result in
                try Self.apartFromTheCall { () throws(Failure) in try body(value) }
            }
        }
        return try result.get()
    }

    /// Returns the number of names of *when unlocked* that are not accessible; see the form without `async`.
    public func lockedNameCount() async throws(VaultError) -> Int {
        try await limited { () throws(VaultError) in try self.lockedNameCount() }
    }

    /// Copies an item's value into its own secret memory; see the form without `async`.
    public func copyValue(service: String, account: String) async throws(VaultError) -> SecretBytes {
        let (memory, size) = try await limited { () throws(VaultError) -> (SecretRegion, Int) in
            let copy = try self.copyValue(service: service, account: account)
            let size = copy.count
            return (SecretRegion(copy), size)
        }
        return memory.secret(at: 0, count: size)
    }

    /// Copies an item's value into memory of another type, which is not wiped; see the form without `async`.
    public func copyValue<Value: ItemValueConvertible>(
        service: String, account: String, as type: Value.Type
    ) async throws(VaultError) -> Value {
        try await limited { () throws(VaultError) in
            try self.copyValue(service: service, account: account, as: type)
        }
    }
}

/// A value that a call on another thread borrows.
private final class SharedValue<Value: ItemValueConvertible & ~Copyable>: Sendable {
    let value: Value

    init(_ value: consuming Value) { self.value = value }
}

// MARK: Threads

extension Vault {
    // The caller's code runs on these threads as well, so they have a task thread's usual stack.
    private static let threads = BlockingThreadPool(named: "vault-call", most: 64, stackSize: 8 << 20)

    /// The task's call that this thread runs; `nil` for a call without `async`.
    @TaskLocal static var awaitedCall: BlockingCall?

    /// Runs code that is not part of the task's call, such as a closure of the program: the call's limit and its
    /// cancellation do not apply to it.
    @discardableResult
    static func apartFromTheCall<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result: Result<Value, Failure> = $awaitedCall.withValue(nil) {
            Result { () throws(Failure) in try body() }
        }
        return try result.get()
    }

    /// Runs a call of an open vault within its `lockTimeout`.
    private func limited<Value: Sendable>(
        _ body: @escaping @Sendable () throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        try await Self.offload(atMost: options.lockTimeout, body)
    }

    /// Runs a call that may block on another thread.
    ///
    /// - Parameter limit: The time limit for the thread and the vault's lock; `nil` for none for the thread, and the
    ///   limit of the vault's options for the lock.
    private static func offload<Value: Sendable>(
        atMost limit: Duration? = nil, _ body: @escaping @Sendable () throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        // The thread has no task, so it takes over the caches that the caller's task uses.
        let caches = UnlockCaches.current
        let result: Result<Value, VaultError>
        do throws(FileError) {
            result = try await threads.run(atMost: limit, "wait for", "one of the threads for the vault's calls") {
                call in
                $awaitedCall.withValue(call) {
                    UnlockCaches.$current.withValue(caches) { Result { () throws(VaultError) in try body() } }
                }
            }
        } catch {
            throw VaultError(error, "use the vault")
        }
        return try result.get()
    }
}

extension VaultPlace {
    /// Takes the vault's lock: within the options' time limit or, for a call of a task, within the rest of the call's
    /// and until the task is cancelled.
    func acquireLock(in directory: Directory, _ options: VaultOptions) throws(FileError) -> HeldLock {
        let call = Vault.awaitedCall
        return try lockFile(in: directory).acquire(
            .whole, .exclusive, timeout: call?.remaining ?? options.lockTimeout,
            isCancelled: call.map { call in { call.isCancelled } })
    }
}
