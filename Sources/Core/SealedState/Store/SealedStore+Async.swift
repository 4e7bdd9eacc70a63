public import AppGroups
public import KeyVault
public import SharedFiles

/// The calls that may wait, for tasks: they wait on dedicated threads, never on those that run tasks.
///
/// A process has at most 64 such threads. Further calls are queued, and the time in the queue counts against their
/// limit, which covers the whole wait of a call. So while 64 calls wait, `.lockTimeout` may also be thrown for a record
/// whose lock is free.
///
/// Cancelling the task ends the wait, in the queue and for the lock, with `.cancelled`; once the lock is held the write
/// is finished.
extension SealedStore {
    /// Opens a group's container and vault; see the initialiser. A passphrase's slow hash does not block the task pool.
    public static func open(
        group: AppGroup, in home: GroupsHome? = nil, unlockingWith credential: VaultCredential = .automatic,
        creating: Bool = true, options: StoreOptions = StoreOptions()
    ) async throws(StoreError) -> SealedStore {
        try await offload { (_) throws(StoreError) in
            try SealedStore(
                group: group, in: home, unlockingWith: credential, creating: creating, options: options)
        }
    }

    /// Creates or replaces a record; see the form without `async`.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { (call) throws(StoreError) in
            try self.writer.write(
                value, at: self.places.place(name),
                self.request(call, onlyIf: condition, holding: fence, durability: durability))
        }
    }

    /// Reads, changes and writes a record under its lock; see the form without `async`.
    @discardableResult
    public func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { (call) throws(StoreError) in
            try self.writer.update(
                type, at: self.places.place(name), startingWith: initial,
                self.request(call, onlyIf: condition, holding: fence, durability: durability), change)
        }
    }

    /// Deletes a record; see the form without `async`.
    @discardableResult
    public func delete(
        named name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { (call) throws(StoreError) in
            try self.writer.delete(
                at: self.places.place(name),
                self.request(call, onlyIf: condition, holding: fence, durability: durability))
        }
    }

    /// Deletes the record of a type; see the form without `async`.
    @discardableResult
    public func delete<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await delete(named: name, onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
    }

    /// Removes the tombstone of a deleted record; see the form without `async`.
    public func purge(named name: String, timeout: Duration? = nil) async throws(StoreError) {
        try await limited(timeout) { (call) throws(StoreError) in
            try self.writer.purge(
                at: self.places.place(name),
                self.request(call, durability: .durable))
        }
    }

    /// Creates a request that waits as long as its call may, and no longer than its task.
    private func request(
        _ call: BlockingCall, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability?
    ) -> WriteRequest {
        writer.request(
            onlyIf: condition, holding: fence, durability: durability, timeout: call.remaining,
            isCancelled: { call.isCancelled })
    }

    // The caller's code runs on these threads as well, so they have a task thread's usual stack.
    static let threads = BlockingThreadPool(named: "store-call", most: 64, stackSize: 8 << 20)

    /// Runs a call that may block without a time limit.
    static func offload<Value: Sendable>(
        _ body: @escaping @Sendable (@escaping () -> Bool) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await offload(atMost: nil) { (call) throws(StoreError) in try body { call.isCancelled } }
    }

    /// Runs a call that may block up to the limit. With a limit it may end before `body` runs: `.lockTimeout`,
    /// `.cancelled`.
    static func offload<Value: Sendable>(
        atMost limit: Duration?, _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError>
        do throws(FileError) {
            result = try await threads.run(atMost: limit, "use the store", "on another thread") { call in
                Result { () throws(StoreError) in try body(call) }
            }
        } catch {
            throw StoreError(error, "wait for", "one of the threads for the store's calls")
        }
        return try result.get()
    }

    /// Runs a change of a record within one time limit for its thread and the lock.
    private func limited<Value: Sendable>(
        _ timeout: Duration?, _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await Self.offload(atMost: timeout ?? options.lockTimeout, body)
    }
}
