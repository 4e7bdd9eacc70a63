/// Proof of holding a lease, handed to writes: they are refused once somebody else holds it.
public struct LeaseFence: Sendable, Hashable {
    /// The lease's name.
    public let lease: String
    /// Which holder this is: +1 for each time that the lease was taken.
    public let number: UInt64

    package init(lease: String, number: UInt64) {
        self.lease = lease
        self.number = number
    }
}
