internal import SharedFiles

/// What a watched record comes to: its present state first, then every change.
///
/// For a slow consumer the latest state counts: there is no buffer, each `next()` looks at what is there then and answers
/// once it differs from what this iterator answered last. The state that everything ends in is always answered. Each
/// iterator is told everything; any number may be used at once. Iterating ends when its task is cancelled, and only then;
/// the watch ends with the sequence and its last iterator.
public struct RecordUpdates<Record: SealedRecord>: AsyncSequence, Sendable {
    /// One state.
    public typealias Element = RecordUpdate<Record>
    /// A record that cannot be read is a state, not the end.
    public typealias Failure = Never

    private let watch: RecordWatch<Record>
    private let known: UpdateMark?

    init(_ watch: RecordWatch<Record>, after known: UpdateMark?) {
        self.watch = watch
        self.known = known
    }

    /// Ends all iterating, at the next state at the latest: for a service that is to shut down.
    package func finish() { watch.signal.finish() }

    /// An iterator with a memory of its own of what it has answered.
    public func makeAsyncIterator() -> Iterator { Iterator(watch, after: known) }

    /// Goes from one state of the record to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: RecordWatch<Record>
        private let alarm: ClockRegistration
        private let vault = VaultWatch()
        private var pause = LookPause()
        private var last: UpdateMark?
        /// The count of changes before the last look; nil before the first one.
        private var seen: UInt64?
        private var isOver = false

        init(_ watch: RecordWatch<Record>, after known: UpdateMark?) {
            self.watch = watch
            last = known
            alarm = watch.clock.register { [signal = watch.signal] in signal.raise() }
        }

        /// The next state; nil once the task was cancelled.
        public mutating func next() async -> RecordUpdate<Record>? { await next(isolation: nil) }

        /// The next state; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordUpdate<Record>? {
            while !mustEnd {
                // Before the look: a change during it counts up, and makes for another one.
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

/// What a watched record has come to.
public struct RecordUpdate<Record: SealedRecord>: Sendable {
    /// What a read of the record answers.
    public enum Outcome: Sendable {
        /// A validated value. By the store's policy it may be the last good one: then its `rejection` says why.
        case value(RecordSnapshot<Record>)
        /// There is none: `.absent`, or `.containerMissing` when the whole container is gone. It may come (back).
        case absent(StoreError)
        /// There is something, and it is refused or cannot be read. It may be replaced by something better.
        case rejected(StoreError)
    }

    /// What a read of the record answers.
    public let outcome: Outcome
    /// From here a later watch goes on, also one in another process: what is the same then is not told again.
    public let cursor: UpdateCursor

    /// The value with its provenance; nil when there is none.
    public var snapshot: RecordSnapshot<Record>? {
        if case .value(let snapshot) = outcome { snapshot } else { nil }
    }

    /// The value; nil when there is none.
    public var value: Record? { snapshot?.value }

    /// Why what lies there now is refused, also where the last good value is answered instead; nil for a current value
    /// and for an absent one.
    public var rejection: StoreError? {
        switch outcome {
        case .value(let snapshot): snapshot.rejection
        case .absent: nil
        case .rejected(let error): error
        }
    }
}

/// When a look that failed for a passing trouble is made again: after a second at first, then after twice as long each time.
struct LookPause {
    private static let shortest = 1.0
    private static let longest = 60.0
    private var next = shortest

    /// In how many seconds to look again after a look; nil for when there is a change.
    mutating func seconds<Record>(after finding: RecordWatch<Record>.Finding) -> Double? {
        guard finding.mayPass else {
            next = Self.shortest
            return finding.changesIn
        }
        defer { next = min(next * 2, Self.longest) }
        return min(next, finding.changesIn ?? next)
    }
}
