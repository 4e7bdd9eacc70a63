internal import Synchronization

/// A record as an optional property.
///
/// ```swift
/// @SealedRecordValue(in: store) var token: ServiceToken?
/// ```
/// Each access reads the record. Setting writes it before it returns, and setting `nil` deletes it. A property cannot
/// throw: for a refused record it is `nil`, as for an absent one, and `onFailure` gets the reason. It also gets the
/// reason if a value could not be written. `$token` has the calls that throw.
///
/// `token?.count += 1` is a read and then a write: a value that another program writes in between is lost, as with
/// every property. Use `$token.update { $0.count += 1 }` for a value computed from the old one; it loses nothing.
///
/// The new value may be computed from the `nil` or the last good value that replaced a refused record. So a property
/// whose last reading failed is not set until a reading succeeds: `onFailure` gets the same error again. `$token.set`
/// sets the record regardless. An absent record is no failure.
///
/// Setting `nil` leaves a record absent that was never written or is deleted. If only its file was removed, the deletion
/// is written, so that the old value cannot be put back. `token?.count += 1` sets `nil` as well if there is no value.
///
/// Reading takes no lock. Setting waits for the record's lock on the calling thread: in a task use `await $token.set`.
@propertyWrapper
public struct SealedRecordValue<Record: SealedRecord>: Sendable {
    /// The calls that throw.
    public let projectedValue: SealedRecordAccess<Record>
    private let onFailure: (@Sendable (StoreError) -> Void)?
    private let memory = Memory()

    private final class Memory: Sendable {
        /// The error of the last reading; `nil` if it succeeded.
        let unread: Mutex<StoreError?> = Mutex(nil)
    }

    /// Creates a property for a record.
    ///
    /// - Parameters:
    ///   - name: The record's name; the type's `recordName` unless stated.
    ///   - store: The store of the record's group.
    ///   - onFailure: Gets the error of a reading or of a change that failed, on the thread of the access. An absent
    ///     record is no failure.
    public init(
        named name: String = Record.recordName, in store: SealedStore,
        onFailure: (@Sendable (StoreError) -> Void)? = nil
    ) {
        projectedValue = SealedRecordAccess(name: name, store: store)
        self.onFailure = onFailure
    }

    /// The record's value; `nil` if it is absent or refused. Setting `nil` deletes it.
    public var wrappedValue: Record? {
        get {
            do throws(StoreError) {
                let snapshot = try projectedValue.snapshot()
                // By the store's policy, the last good value may be returned instead of a refused one.
                finishReading(snapshot.rejection)
                return snapshot.value
            } catch {
                finishReading(error.isAbsence ? nil : error)
                return nil
            }
        }
        nonmutating set {
            if let error = memory.unread.withLock({ $0 }) {
                onFailure?(error)
                return
            }
            do throws(StoreError) { try projectedValue.set(newValue) } catch { onFailure?(error) }
        }
    }

    private func finishReading(_ failure: StoreError?) {
        memory.unread.withLock { $0 = failure }
        if let failure { onFailure?(failure) }
    }
}

extension StoreError {
    /// `true` for a missing record and for a missing container: a state of the record, not a failure.
    var isAbsence: Bool { code == .absent || code == .containerMissing }
}

/// The calls behind a `@SealedRecordValue` property that throw.
public struct SealedRecordAccess<Record: SealedRecord>: Sendable {
    /// The record's name.
    public let name: String
    /// The store of the record's group.
    public let store: SealedStore

    /// Returns the value; see `SealedStore.read`.
    public func value() throws(StoreError) -> Record { try store.read(Record.self, named: name) }

    /// Returns the value with its provenance; see `SealedStore.snapshot`.
    public func snapshot() throws(StoreError) -> RecordSnapshot<Record> {
        try store.snapshot(of: Record.self, named: name)
    }

    /// Writes the value; `nil` deletes the record, and succeeds if it is absent.
    ///
    /// - Throws: `StoreError`, as `SealedStore.write` and `delete`.
    public func set(_ value: Record?) throws(StoreError) {
        guard let value else {
            do throws(StoreError) { try store.delete(Record.self, named: name) } catch {
                if !error.isAbsence { throw error }
            }
            return
        }
        try store.write(value, named: name)
    }

    /// Writes the value; see the form without `async`.
    public func set(_ value: Record?) async throws(StoreError) {
        guard let value else {
            do throws(StoreError) { try await store.delete(Record.self, named: name) } catch {
                if !error.isAbsence { throw error }
            }
            return
        }
        try await store.write(value, named: name)
    }

    /// Reads, changes and writes the value under the record's lock; see `SealedStore.update`.
    ///
    /// - Parameters:
    ///   - initial: The value for `change` if the record is absent; with `nil` that is an error.
    ///   - change: Changes the value; it must not use the store for the same record.
    /// - Returns: The result of `change`.
    @discardableResult
    public func update<Result>(
        startingWith initial: Record? = nil, _ change: (inout Record) throws -> Result
    ) throws(StoreError) -> Result {
        try store.update(Record.self, named: name, startingWith: initial, change).result
    }

    /// Reads, changes and writes the value under the record's lock; see the form without `async`.
    @discardableResult
    public func update<Result: Sendable>(
        startingWith initial: Record? = nil, _ change: @escaping @Sendable (inout Record) throws -> Result
    ) async throws(StoreError) -> Result {
        try await store.update(Record.self, named: name, startingWith: initial, change).result
    }

    /// Returns the present state, then every change; see `SealedStore.updates`.
    public func updates() throws(StoreError) -> RecordUpdates<Record> {
        try store.updates(of: Record.self, named: name)
    }

    /// Returns the present state as observable properties; see `LiveRecord`.
    public func live(isolation: isolated (any Actor)? = #isolation) throws(StoreError) -> LiveRecord<Record> {
        try LiveRecord(named: name, in: store, isolation: isolation)
    }
}
