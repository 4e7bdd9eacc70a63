internal import PropertyLists

/// The changes of a suite since the last reported state.
public struct DefaultsChange: Sendable {
    /// The keys with changed, added or removed values; arguments are not included, since they never change.
    public let keys: Set<String>
    /// The reason why the suite's file is refused or missing; nil if it is good, or good again. While it is refused the
    /// keys are empty: the known values remain.
    public let rejection: StoreError?
}

/// The changes of a suite and of the domains behind it in the search list, by any program.
///
/// For a slow consumer the latest state counts: each `next()` compares the present state with the last reported one, so
/// several changes may be reported as one, and the last one is always reported. Iteration ends only when its task is
/// cancelled.
public struct DefaultsChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = DefaultsChange
    /// A refused suite is a change, not the end.
    public typealias Failure = Never

    private let watch: DefaultsWatch
    private let known: [String: PropertyListValue]

    init(_ watch: DefaultsWatch, since known: [String: PropertyListValue]) {
        self.watch = watch
        self.known = known
    }

    /// Creates an iterator over the changes since the sequence was created.
    public func makeAsyncIterator() -> Iterator { Iterator(observer: DefaultsObserver(watch), known: known) }

    /// An iterator from one change to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private var observer: DefaultsObserver
        private var known: [String: PropertyListValue]
        private var rejection: StoreError.Code?

        init(observer: DefaultsObserver, known: [String: PropertyListValue]) {
            self.observer = observer
            self.known = known
        }

        /// Returns the next change; nil once the task was cancelled.
        public mutating func next() async -> DefaultsChange? { await next(isolation: nil) }

        /// Returns the next change; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DefaultsChange? {
            while let finding = await observer.next() {
                if let change = change(to: finding) { return change }
            }
            return nil
        }

        private mutating func change(to finding: DefaultsWatch.Finding) -> DefaultsChange? {
            switch finding {
            case .success(let values):
                let keys = Set(known.keys).union(values.keys).filter { known[$0] != values[$0] }
                defer { (known, rejection) = (values, nil) }
                return keys.isEmpty && rejection == nil ? nil : DefaultsChange(keys: keys, rejection: nil)
            case .failure(let error):
                defer { rejection = error.code }
                return rejection == error.code ? nil : DefaultsChange(keys: [], rejection: error)
            }
        }
    }
}

/// The state of one iterator.
struct DefaultsObserver {
    private let watch: DefaultsWatch
    /// The count of changes before the last look; nil before the first one.
    private var seen: UInt64?

    init(_ watch: DefaultsWatch) { self.watch = watch }

    /// Returns the finding of the next look, once there may be a change; nil once the task was cancelled.
    mutating func next() async -> DefaultsWatch.Finding? {
        while !Task.isCancelled {
            // Before the look: a change during it increases the count and causes another look.
            let count = watch.signal.count
            if seen == count {
                await watch.signal.wait(beyond: count)
            } else {
                seen = count
                return await watch.look()
            }
        }
        return nil
    }
}
