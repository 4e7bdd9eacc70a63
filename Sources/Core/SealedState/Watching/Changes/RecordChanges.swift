internal import Synchronization

/// What the records of a group come to, whatever their types: each one's present state first, then every change.
///
/// For a slow consumer the latest state counts: there is no buffer, a record is looked at when its turn has come. The state
/// that a record ends in is always told; the order between records says nothing. Each iterator is told everything.
/// Iterating ends when its task is cancelled, and only then; the watch ends with the sequence and its iterators.
public struct RecordChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = RecordChange
    /// A record that cannot be read is a state, not the end.
    public typealias Failure = Never

    private let observers: Observers

    /// - Throws: `StoreError` where the watch cannot be begun.
    init(_ store: SealedStore, of names: [String]?) throws(StoreError) {
        observers = try Observers(store, of: names)
    }

    /// An iterator with a memory of its own of what it has told.
    public func makeAsyncIterator() -> Iterator { Iterator(observer: observers.next()) }

    /// Goes from one change to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private var observer: ChangesObserver

        init(observer: ChangesObserver) { self.observer = observer }

        /// The next change; nil once the task was cancelled.
        public mutating func next() async -> RecordChange? { await next(isolation: nil) }

        /// The next change; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordChange? {
            await observer.next()
        }
    }
}

/// Observers of one sequence. The first has begun to watch when the sequence is made, so that its failure is thrown there
/// and no change after the call is missed.
private final class Observers: Sendable {
    private let store: SealedStore
    private let names: [String]?
    private let first: Mutex<ChangesObserver?>

    init(_ store: SealedStore, of names: [String]?) throws(StoreError) {
        self.store = store
        self.names = names
        var observer = ChangesObserver(store, of: names)
        try observer.begin()
        first = Mutex(observer)
    }

    func next() -> ChangesObserver { first.withLock { $0.take() } ?? ChangesObserver(store, of: names) }
}

extension SealedStore {
    /// Watches records whatever their types: the present state of each, then every change, with the reason of each refusal.
    ///
    /// ```swift
    /// for await change in try store.changes() { log(change.name, change.outcome) }
    /// ```
    ///
    /// It is told what a read would answer, as far as that can be said without the type: authentic, in its place, in order,
    /// of the present. What is read is accepted, as by any read. A record that is new is told when it comes, one whose file
    /// is gone as absent. It outlives what `updates(of:)` outlives. The library's own records, leases and suites of
    /// defaults, are left out.
    /// - Parameter names: The records; all that there are and that come, with nil. A named one is told as absent as well.
    /// - Throws: `StoreError`: `.invalidName`; `.watchLimit` when the system gives no more watches, with the setting that
    ///   raises the limit; `.file` where the records cannot be listed.
    public func changes(of names: [String]? = nil) throws(StoreError) -> RecordChanges {
        for name in names ?? [] { _ = try places.place(name) }
        return try RecordChanges(self, of: names)
    }
}

/// One record's state when it was looked at, told because it is another one than before.
public struct RecordChange: Sendable {
    /// What a read of the record answers, as far as that can be told without its type.
    public enum Outcome: Sendable {
        /// A value that passed every check but those that need the type.
        case value(Provenance)
        /// A deletion that is kept so that it cannot be undone unseen.
        case deleted(Provenance)
        /// There is none: `.absent`, or `.containerMissing` when the whole container is gone. It may come (back).
        case absent(StoreError)
        /// There is something, and it is refused or cannot be read: a rejection, `.locked`, or what the system says.
        case rejected(StoreError)
    }

    /// The record's name. A file may stand for one that no program can use: then the outcome is `.rejected` with
    /// `.invalidName`, and the name may hold any character.
    public let name: String
    /// What a read of the record answers.
    public let outcome: Outcome
    /// Whether it is told as the state in which the watching found the record, not as a change.
    public let isInitial: Bool

    /// Where the value or the deletion came from; nil when there is none to believe.
    public var provenance: Provenance? {
        switch outcome {
        case .value(let provenance), .deleted(let provenance): provenance
        case .absent, .rejected: nil
        }
    }

    /// Why there is nothing to read, other than by a deletion; nil for a value and for a deletion.
    public var error: StoreError? {
        switch outcome {
        case .value, .deleted: nil
        case .absent(let error), .rejected(let error): error
        }
    }
}
