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
