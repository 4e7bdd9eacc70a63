internal import SharedFiles

/// How one write is to be done: what the public calls' parameters come to.
struct WriteRequest {
    var condition: WriteCondition = .always
    /// The lease that the writer relies on.
    var fence: LeaseFence?
    var durability: Durability
    /// How long to wait for the record's lock.
    var timeout: Duration
    var isCancelled: (() -> Bool)?
}
