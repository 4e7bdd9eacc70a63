/// How a call that needed a lease ended.
public enum LeaseOutcome<Value: Sendable>: Sendable {
    /// This call held the lease and did the work.
    case performed(Value)
    /// Another program did the work while this call waited: read what it has written.
    case reused
    /// This call did the work, but its time was up before it ended, or its end could not be noted; another program may do
    /// it as well. Writes that named the fence after its time were refused.
    case outlived(Value)

    /// The value of work that this call did; nil where another program did it.
    public var value: Value? {
        switch self {
        case .performed(let value), .outlived(let value): value
        case .reused: nil
        }
    }
}
