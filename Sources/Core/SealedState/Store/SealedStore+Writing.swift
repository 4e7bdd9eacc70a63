public import AppGroups
public import KeyVault
public import SharedFiles

/// Writing, for users. Every call waits for the record's lock, at most as long as its time limit.
///
/// Common parameters:
/// - `onlyIf`: The required stored state; otherwise the call throws `.conflict` and writes nothing.
/// - `holding`: The lease that the caller relies on; once another program has it, the call throws `.leaseLost` and
///   writes nothing.
/// - `durability`: The store's unless stated.
/// - `timeout`: The time limit for the record's lock; the store's `lockTimeout` unless stated.
///
/// After every error but three the old value remains. After `.durabilityUnknown` the new one is in place and may not
/// survive a power loss; after `.lockLost` it is in place and another program's concurrent write may be lost; after
/// `.outcomeUnknown`, with a backend of another machine, it may have been written.
extension SealedStore {
    /// Creates or replaces a record. Blocks while another program writes the same record.
    ///
    /// - Parameters:
    ///   - value: The value; its own rules are checked first.
    ///   - name: The record's name; the type's `recordName` unless stated.
    ///   - condition: The required stored state; any unless stated.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the record's lock; the store's limit unless stated.
    /// - Returns: The sequence of this write, for a later `onlyIf: .sequence(_)`.
    /// - Throws: `StoreError`; `.conflict`, `.leaseLost`, `.lockTimeout`, `.noSpace`, `.quotaExceeded`, `.readOnly`,
    ///   `.permissionDenied`, `.invalid` and `.tooLarge` leave the old value in place.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let request = writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            try store.writer.write(value, at: store.places.place(name), request)
        }
    }

    /// Reads, changes and writes a record under its lock: no other program's write is lost.
    ///
    /// An expired value is passed to `change` as well: updates serve to renew it. A closure of one expression that has
    /// a value, such as `{ $0.tags.insert("x") }`, selects the form with a result; that result may be ignored.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: The record's name.
    ///   - initial: The value for `change` if the record is absent; with `nil` that is an error.
    ///   - condition: The required stored state; any unless stated. Checked before `change` is called.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the record's lock; the store's limit unless stated.
    ///   - change: Changes the value; it must not use the store for the same record. It may throw, and then nothing is
    ///     written. If it returns a value, that is returned with the sequence: see the second form.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`, as `write`; `.declined` with the closure's error as its `cause` when `change` threw. A
    ///   `StoreError` that `change` throws is rethrown unchanged.
    @discardableResult
    public func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, _ change: (inout Record) throws -> Void
    ) throws(StoreError) -> UInt64 {
        let request = writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            try store.writer.update(type, at: store.places.place(name), startingWith: initial, request, change).sequence
        }
    }

    /// Reads, changes and writes a record under its lock, and returns the result of `change`.
    ///
    /// ```swift
    /// let seat = try store.update(Booking.self) { $0.takeSeat() }.result
    /// ```
    ///
    /// The result may be ignored. It counts only if the call returns: after an error but `.durabilityUnknown` and
    /// `.lockLost` nothing was written. Otherwise as the form without a result.
    /// - Returns: The result of `change`, and the sequence of this write.
    /// - Throws: `StoreError`, as the form without a result.
    @discardableResult
    public func update<Record: SealedRecord, Result>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, _ change: (inout Record) throws -> Result
    ) throws(StoreError) -> (result: Result, sequence: UInt64) {
        let request = writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            try store.writer.update(type, at: store.places.place(name), startingWith: initial, request, change)
        }
    }

    /// Deletes a record: a tombstone takes its place and its next sequence, so that the deletion cannot be undone
    /// unseen.
    ///
    /// - Returns: The tombstone's sequence.
    /// - Throws: `StoreError`, as `write`; `.absent` when there is no record to delete.
    @discardableResult
    public func delete(
        named name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let request = writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            try store.writer.delete(at: store.places.place(name), request)
        }
    }

    /// Deletes the record of a type.
    @discardableResult
    public func delete<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        try delete(named: name, onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
    }

    /// Removes the tombstone of a deleted record, always durably: nothing of the record is left in the container.
    ///
    /// It is a separate call, after `delete`. The states that this user's programs have accepted are kept, so that an
    /// old blob that is put back is still refused, and the next write continues after it. Users whose programs never
    /// read the deletion see the record missing without a reason.
    /// - Throws: `StoreError`: `.absent` if the record does not exist; `.conflict` if something other than a tombstone
    ///   is stored, which is left unchanged; `.durabilityUnknown` if the tombstone is removed and may reappear after a
    ///   power loss.
    public func purge(named name: String, timeout: Duration? = nil) throws(StoreError) {
        let request = writer.request(durability: .durable, timeout: timeout)
        try onPresentContainer { store throws(StoreError) in
            try store.writer.purge(at: store.places.place(name), request)
        }
    }
}

/// The calls that may wait, for tasks: they wait on dedicated threads, never on those that run tasks.
///
/// A process has at most 64 such threads. Further calls are queued, and the time in the queue counts against their
/// limit, which covers the whole wait of a call. So while 64 calls wait, `.lockTimeout` may also be thrown for a record
/// whose lock is free.
///
/// Cancelling the task ends the wait, in the queue and for the record's lock, with `.cancelled`; once the lock is held
/// the write is finished.
///
/// Exceptions: `open` has no limit in the queue, and its task's cancellation does not end it. A call that has to change
/// the vault, as the first write of a record may, waits for the vault's lock up to the vault's own limit, and
/// cancelling the task does not end that wait.
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
            let request = self.request(call, onlyIf: condition, holding: fence, durability: durability)
            return try self.onPresentContainer { store throws(StoreError) in
                try store.writer.write(value, at: store.places.place(name), request)
            }
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
            let request = self.request(call, onlyIf: condition, holding: fence, durability: durability)
            return try self.onPresentContainer { store throws(StoreError) in
                try store.writer.update(type, at: store.places.place(name), startingWith: initial, request, change)
                    .sequence
            }
        }
    }

    /// Reads, changes and writes a record under its lock, and returns the result of `change`; see the form without
    /// `async`.
    @discardableResult
    public func update<Record: SealedRecord, Result: Sendable>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, _ change: @escaping @Sendable (inout Record) throws -> Result
    ) async throws(StoreError) -> (result: Result, sequence: UInt64) {
        try await limited(timeout) { (call) throws(StoreError) in
            let request = self.request(call, onlyIf: condition, holding: fence, durability: durability)
            return try self.onPresentContainer { store throws(StoreError) in
                try store.writer.update(type, at: store.places.place(name), startingWith: initial, request, change)
            }
        }
    }

    /// Deletes a record; see the form without `async`.
    @discardableResult
    public func delete(
        named name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) async throws(StoreError) -> UInt64 {
        try await limited(timeout) { (call) throws(StoreError) in
            let request = self.request(call, onlyIf: condition, holding: fence, durability: durability)
            return try self.onPresentContainer { store throws(StoreError) in
                try store.writer.delete(at: store.places.place(name), request)
            }
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
            let request = self.request(call, durability: .durable)
            try self.onPresentContainer { store throws(StoreError) in
                try store.writer.purge(at: store.places.place(name), request)
            }
        }
    }

    /// Creates a request that waits as long as its call may, and no longer than its task.
    func request(
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
        atMost limit: Duration?, on threads: BlockingThreadPool = threads,
        _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
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
    func limited<Value: Sendable>(
        _ timeout: Duration?, _ body: @escaping @Sendable (BlockingCall) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await Self.offload(atMost: timeout ?? options.lockTimeout, body)
    }
}

/// The stored state that a write requires: compare-and-swap.
///
/// Under the record's lock it is compared with the result of a read at that moment. If they differ, nothing is written
/// and the error is `.conflict`; its reason names the stored state. A blob that readers refuse (damaged, put back,
/// forked, too far ahead) meets no condition: it is neither absent nor the value that a caller has read.
public enum WriteCondition: Sendable, Hashable {
    /// Anything or nothing.
    case always
    /// Nothing, or a deletion: the write creates the record. A file that is missing without a deletion is absent as
    /// well, as it is for readers.
    case absent
    /// The value of that sequence, as a read or a write returned it; never a deletion.
    case sequence(UInt64)
}
