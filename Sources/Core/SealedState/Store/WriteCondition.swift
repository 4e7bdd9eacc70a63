/// What has to be in a record's place for a write to take place: compare-and-swap.
///
/// It is compared with what a read of that moment would find, under the record's lock. Where it does not hold nothing is
/// written and the error is `.conflict`; its reason names what was found. A blob that readers refuse (damaged, put back,
/// forked, too far ahead) meets no condition: it is neither absent nor the value that somebody read.
public enum WriteCondition: Sendable, Hashable {
    /// Anything or nothing.
    case always
    /// Nothing, or a deletion: the write creates the record. A file that is gone without a deletion is absent as well,
    /// as it is for readers.
    case absent
    /// The value of that sequence, as a read or a write returned it; never a deletion.
    case sequence(UInt64)
}
