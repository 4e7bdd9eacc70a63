/// What has to be in a record's place for a write to take place: compare-and-swap.
public enum WriteCondition: Sendable, Hashable {
    /// Anything or nothing.
    case always
    /// Nothing, or a deletion: the write creates the record.
    case absent
    /// The value of that sequence, as a read or a write returned it.
    case sequence(UInt64)
}
