internal import Synchronization

/// The states of a group's records of any type: each one's present state first, then every change.
///
/// For a slow consumer the latest state counts: there is no buffer, a record is read when its turn has come. A record's
/// final state is always returned; the order between records has no meaning. Each iterator gets every change. Iteration
/// ends only when its task is cancelled; the watch ends with the sequence and its iterators.
public struct RecordChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = RecordChange
    /// A record that cannot be read is a state, not the end.
    public typealias Failure = Never

    private let observers: Observers

    /// - Throws: `StoreError` if the watch cannot be started.
    init(_ store: SealedStore, of names: [String]?, _ part: ObservedPart = .records) throws(StoreError) {
        observers = try Observers(store, of: names, part)
    }

    /// Creates an iterator with its own last reports.
    public func makeAsyncIterator() -> Iterator { Iterator(observer: observers.next()) }

    /// An iterator from one change to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private var observer: ChangesObserver

        init(observer: ChangesObserver) { self.observer = observer }

        /// Returns the next change; nil once the task was cancelled.
        public mutating func next() async -> RecordChange? { await next(isolation: nil) }

        /// Returns the next change; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordChange? {
            await observer.next()
        }
    }
}

/// The observers of one sequence. The first one starts watching when the sequence is created, so that its failure is
/// thrown there and no change after the call is missed.
private final class Observers: Sendable {
    private let store: SealedStore
    private let names: [String]?
    private let part: ObservedPart
    private let first: Mutex<ChangesObserver?>

    init(_ store: SealedStore, of names: [String]?, _ part: ObservedPart) throws(StoreError) {
        self.store = store
        self.names = names
        self.part = part
        var observer = ChangesObserver(store, of: names, part)
        try observer.begin()
        first = Mutex(observer)
    }

    func next() -> ChangesObserver { first.withLock { $0.take() } ?? ChangesObserver(store, of: names, part) }
}

/// The state of a record that has changed since its last report.
public struct RecordChange: Sendable {
    /// The result of a read of the record, as far as it is known without its type.
    public enum Outcome: Sendable {
        /// A value that passed every check but those that need the type.
        case value(Provenance)
        /// A deletion that is kept so that it cannot be undone unseen.
        case deleted(Provenance)
        /// No record: `.absent`, or `.containerMissing` if the whole container is missing. It may appear (again).
        case absent(StoreError)
        /// A record that is refused or cannot be read: a rejection, `.locked`, or the system's error.
        case rejected(StoreError)
    }

    /// The record's name. A file may have a name that no program can use: then the outcome is `.rejected` with
    /// `.invalidName`, and the name may contain any character.
    public let name: String
    /// The result of a read of the record.
    public let outcome: Outcome
    /// The change is the state at the start of the watch.
    public let isInitial: Bool

    /// The origin of the value or the deletion; nil without a valid one.
    public var provenance: Provenance? {
        switch outcome {
        case .value(let provenance), .deleted(let provenance): provenance
        case .absent, .rejected: nil
        }
    }

    /// The reason why the record cannot be read, other than a deletion; nil for a value and for a deletion.
    public var error: StoreError? {
        switch outcome {
        case .value, .deleted: nil
        case .absent(let error), .rejected(let error): error
        }
    }
}
