internal import PropertyLists

/// What has changed in a suite since it was last told.
public struct DefaultsChange: Sendable {
    /// The keys whose values are others now, or are there or gone; arguments are not looked at, since they never change.
    public let keys: Set<String>
    /// Why what lies there now is refused, or that it is gone; nil where it is good, or good again. While it is refused the
    /// keys are empty: what was known stands.
    public let rejection: StoreError?
}

/// The changes of a suite and of what lies behind it in the search list, by whichever program.
///
/// For a slow consumer the latest state counts: each `next()` compares what is there then with what was told last, so that
/// several changes may come as one, and the last one is always told. Iterating ends when its task is cancelled, and only then.
public struct DefaultsChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = DefaultsChange
    /// A suite that is refused is a change, not the end.
    public typealias Failure = Never

    private let watch: DefaultsWatch
    private let known: [String: PropertyListValue]

    init(_ watch: DefaultsWatch, since known: [String: PropertyListValue]) {
        self.watch = watch
        self.known = known
    }

    /// An iterator that tells of changes since the sequence was made.
    public func makeAsyncIterator() -> Iterator { Iterator(observer: DefaultsObserver(watch), known: known) }

    /// Goes from one change to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private var observer: DefaultsObserver
        private var known: [String: PropertyListValue]
        private var rejection: StoreError.Code?

        init(observer: DefaultsObserver, known: [String: PropertyListValue]) {
            self.observer = observer
            self.known = known
        }

        /// The next change; nil once the task was cancelled.
        public mutating func next() async -> DefaultsChange? { await next(isolation: nil) }

        /// The next change; nil once the task was cancelled. Files are never read on the caller's actor.
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

/// One iterator's way from look to look.
struct DefaultsObserver {
    private let watch: DefaultsWatch
    /// The count of changes before the last look; nil before the first one.
    private var seen: UInt64?

    init(_ watch: DefaultsWatch) { self.watch = watch }

    /// What the next look finds, once there may be something new; nil once the task was cancelled.
    mutating func next() async -> DefaultsWatch.Finding? {
        while !Task.isCancelled {
            // Before the look: a change during it counts up, and makes for another one.
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
