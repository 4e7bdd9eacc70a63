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
