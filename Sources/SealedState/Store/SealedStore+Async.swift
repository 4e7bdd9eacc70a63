public import AppGroups
internal import Dispatch
public import KeyVault
public import SharedFiles
internal import Synchronization

/// The calls that may wait, for tasks: they wait on a thread of their own, never on one of the task pool.
///
/// Cancelling the task ends the waiting for the lock with `.cancelled`; once the lock is held the write is finished.
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
        _ value: Record, named name: String = Record.recordName, durability: Durability? = nil
    ) async throws(StoreError) -> UInt64 {
        try await Self.offload { (isCancelled) throws(StoreError) in
            try self.write(value, named: name, durability: durability, isCancelled: isCancelled)
        }
    }

    /// Reads, changes and writes a record under its lock; see the form without `async`.
    @discardableResult
    public func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        durability: Durability? = nil, _ change: @escaping @Sendable (inout Record) -> Void
    ) async throws(StoreError) -> UInt64 {
        try await Self.offload { (isCancelled) throws(StoreError) in
            try self.update(
                type, named: name, startingWith: initial, durability: durability, isCancelled: isCancelled, change)
        }
    }

    /// Deletes a record; see the form without `async`.
    @discardableResult
    public func delete(named name: String, durability: Durability? = nil) async throws(StoreError) -> UInt64 {
        try await Self.offload { (isCancelled) throws(StoreError) in
            try self.delete(named: name, durability: durability, isCancelled: isCancelled)
        }
    }

    /// Deletes the record of a type; see the form without `async`.
    @discardableResult
    public func delete<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, durability: Durability? = nil
    ) async throws(StoreError) -> UInt64 {
        try await delete(named: name, durability: durability)
    }

    private static let queue = DispatchQueue(label: "SealedState.store", attributes: .concurrent)

    private static func offload<Value: Sendable>(
        _ body: @escaping @Sendable (@escaping () -> Bool) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let flag = CancellationFlag()
        let result: Result<Value, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async {
                    let result = Result { () throws(StoreError) in try body { flag.isSet } }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            flag.set()
        }
        return try result.get()
    }
}

/// Tells a waiting thread that its task was cancelled.
private final class CancellationFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
