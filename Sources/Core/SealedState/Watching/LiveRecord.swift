public import FoundationEssentials
public import Observation
internal import Synchronization

/// The present state of a record as observable properties, kept up to date while the instance exists.
///
/// ```swift
/// let token = try LiveRecord(ServiceToken.self, in: store)
/// withObservationTracking {
///     show(token.value, refusedBecause: token.rejection)
/// } onChange: {
///     Task { @MainActor in showAgain() }
/// }
/// ```
///
/// The record is read when the instance is created. From then on the instance follows `SealedStore.updates(of:)`: every
/// change by any program, an expiry, a lock of the vault and a removed container. Releasing the instance ends that.
///
/// The properties change on the actor that created the instance, so one that is created on the main actor changes
/// there. They may be read from any thread. Observe them on that actor: `withObservationTracking` begins to observe
/// after it has read, and an observer elsewhere misses a change in between. An instance that no actor created changes
/// on any thread, so its observers can miss changes; follow `SealedStore.updates(of:)` there instead.
///
/// The instance does not keep its actor, so the actor may store it.
public final class LiveRecord<Record: SealedRecord>: Observable, Sendable {
    /// The record's name.
    public let name: String
    /// The store that reads the record.
    public let store: SealedStore

    private let registrar = ObservationRegistrar()
    private let state: Mutex<RecordUpdate<Record>.Outcome>
    private let following = Mutex<Task<Void, Never>?>(nil)

    /// Reads a record and follows its changes.
    ///
    /// A record that is absent or refused is a state, not an error.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: The record's name; the type's `recordName` unless stated.
    ///   - store: The store of the record's group.
    ///   - isolation: The actor on which the properties change; the caller's unless stated.
    /// - Throws: `StoreError` `.invalidName`; `.watchLimit` when the system gives no more watches.
    public init(
        _ type: Record.Type = Record.self, named name: String = Record.recordName, in store: SealedStore,
        isolation: isolated (any Actor)? = #isolation
    ) throws(StoreError) {
        // Before the first read, so that no change is missed.
        let updates = try store.updates(of: type, named: name)
        self.name = name
        self.store = store
        state = Mutex(RecordUpdate.Outcome(reading: name, from: store))
        let host: (any Actor)? = isolation
        // Keeps neither the instance nor the actor, which may store the instance.
        let task = Task { [weak self, weak host] in
            for await update in updates {
                guard let self else { return }
                await self.take(update.outcome, on: host)
            }
        }
        following.withLock { $0 = task }
    }

    deinit { following.withLock { $0?.cancel() } }

    /// The result of the last read: a value, no record, or a refused one.
    public var outcome: RecordUpdate<Record>.Outcome {
        registrar.access(self, keyPath: \.outcome)
        return state.withLock { $0 }
    }

    /// The task that follows the record, for tests.
    var follower: Task<Void, Never>? { following.withLock { $0 } }

    private func take(_ outcome: RecordUpdate<Record>.Outcome, on isolation: isolated (any Actor)?) async {
        let isNews = state.withLock { state in
            // The first update is usually the state that was read at the beginning.
            if state.isSame(as: outcome) { return false }
            state = outcome
            return true
        }
        // Stored before observers are notified, so that one that reads again at once gets the new state. An observer
        // on another thread that read the old state, and is not registered yet, misses the notification.
        if isNews { registrar.withMutation(of: self, keyPath: \.outcome) {} }
    }
}

extension LiveRecord {
    /// The value with its provenance; `nil` if there is no value.
    public var snapshot: RecordSnapshot<Record>? { outcome.snapshot }

    /// The value; `nil` if there is no value. By the store's policy it may be the last good one: then `rejection` gives
    /// the reason.
    public var value: Record? { snapshot?.value }

    /// The reason why the stored record is refused; `nil` for a current value and for an absent record.
    public var rejection: StoreError? { outcome.rejection }

    /// The time at which the value was sealed, by the writer's clock; `nil` if there is no value.
    public var sealedAt: Date? { snapshot?.provenance.sealedAt }

    /// The time since the value was sealed, by the store's clock; `nil` if there is no value. It grows without a
    /// notification of observers.
    public var age: Duration? { sealedAt.map { .seconds(store.options.now().timeIntervalSince($0)) } }
}

extension RecordUpdate.Outcome {
    /// Reads a record.
    fileprivate init(reading name: String, from store: SealedStore) {
        do throws(StoreError) { self = .value(try store.snapshot(of: Record.self, named: name)) } catch {
            self = Self(error)
        }
    }

    /// Returns whether observers see no difference.
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.value(let old), .value(let new)):
            old.provenance == new.provenance && old.rejection == nil && new.rejection == nil
        case (.absent(let old), .absent(let new)): old.code == new.code
        case (.rejected(let old), .rejected(let new)): old.code == new.code && old.details == new.details
        default: false
        }
    }
}
