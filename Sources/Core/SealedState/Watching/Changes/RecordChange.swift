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
