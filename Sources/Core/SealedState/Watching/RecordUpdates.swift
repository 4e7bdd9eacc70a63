internal import SharedFiles

/// The states of a watched record: its present state first, then every change.
///
/// For a slow consumer the latest state counts: there is no buffer, each `next()` reads the present state and returns
/// once it differs from this iterator's last one. The final state is always returned. Each iterator gets every change;
/// any number may be used at once. Iteration ends only when its task is cancelled; the watch ends with the sequence and
/// its last iterator.
public struct RecordUpdates<Record: SealedRecord>: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = RecordUpdate<Record>
    /// A record that cannot be read is a state, not the end.
    public typealias Failure = Never

    private let watch: RecordWatch<Record>
    private let known: UpdateMark?

    init(_ watch: RecordWatch<Record>, after known: UpdateMark?) {
        self.watch = watch
        self.known = known
    }

    /// Ends all iteration, at the next state at the latest: for a service that shuts down.
    package func finish() { watch.signal.finish() }

    /// Creates an iterator with its own last state.
    public func makeAsyncIterator() -> Iterator { Iterator(watch, after: known) }

    /// An iterator from one state of the record to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: RecordWatch<Record>
        private let alarm: ClockRegistration
        private let vault = VaultWatch()
        private var pause = RetryDelay()
        private var last: UpdateMark?
        /// The count of changes before the last look; nil before the first one.
        private var seen: UInt64?
        private var isOver = false

        init(_ watch: RecordWatch<Record>, after known: UpdateMark?) {
            self.watch = watch
            last = known
            alarm = watch.clock.register { [signal = watch.signal] in signal.raise() }
        }

        /// Returns the next state; nil once the task was cancelled.
        public mutating func next() async -> RecordUpdate<Record>? { await next(isolation: nil) }

        /// Returns the next state; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordUpdate<Record>? {
            while !mustEnd {
                // Before the look: a change during it increases the count and causes another look.
                let count = watch.signal.count
                if seen == count {
                    await watch.signal.wait(beyond: count)
                } else {
                    seen = count
                    let finding = await watch.look(vault)
                    alarm.ring(in: pause.seconds(after: finding))
                    if !mustEnd, let update = news(finding) { return update }
                }
            }
            isOver = true
            alarm.ring(in: nil)
            vault.end()
            return nil
        }

        private var mustEnd: Bool { isOver || Task.isCancelled || watch.signal.isFinished }

        private mutating func news(_ finding: RecordWatch<Record>.Finding) -> RecordUpdate<Record>? {
            if let last, last.isSame(as: finding.mark) { return nil }
            last = finding.mark
            return RecordUpdate(outcome: finding.outcome, cursor: UpdateCursor(finding.mark))
        }
    }
}

/// A state of a watched record.
public struct RecordUpdate<Record: SealedRecord>: Sendable {
    /// The result of a read of the record.
    public enum Outcome: Sendable {
        /// A validated value. By the store's policy it may be the last good one: then its `rejection` gives the reason.
        case value(RecordSnapshot<Record>)
        /// No record: `.absent`, or `.containerMissing` if the whole container is missing. It may appear (again).
        case absent(StoreError)
        /// A record that is refused or cannot be read. It may be replaced by a good one.
        case rejected(StoreError)
    }

    /// The result of a read of the record.
    public let outcome: Outcome
    /// The position for a later watch, also in another process: an unchanged state is not reported again.
    public let cursor: UpdateCursor

    /// The value with its provenance; nil if there is no value.
    public var snapshot: RecordSnapshot<Record>? { outcome.snapshot }

    /// The value; nil if there is no value.
    public var value: Record? { snapshot?.value }

    /// The reason why the stored blob is refused, also if the last good value is returned instead; nil for a current
    /// value and for an absent one.
    public var rejection: StoreError? { outcome.rejection }
}

extension RecordUpdate.Outcome {
    /// The state that a failed read shows.
    init(_ error: StoreError) {
        self = error.isAbsence ? .absent(error) : .rejected(error)
    }

    var snapshot: RecordSnapshot<Record>? {
        if case .value(let snapshot) = self { snapshot } else { nil }
    }

    var rejection: StoreError? {
        switch self {
        case .value(let snapshot): snapshot.rejection
        case .absent: nil
        case .rejected(let error): error
        }
    }
}

/// The delay before a look that failed temporarily is repeated: one second at first, then doubled each time.
struct RetryDelay {
    private static let shortest = 1.0
    private static let longest = 60.0
    private var next = shortest

    /// Returns the seconds until the next look; nil to wait for a change.
    mutating func seconds<Record>(after finding: RecordWatch<Record>.Finding) -> Double? {
        guard finding.mayPass else {
            next = Self.shortest
            return finding.changesIn
        }
        defer { next = min(next * 2, Self.longest) }
        return min(next, finding.changesIn ?? next)
    }
}
