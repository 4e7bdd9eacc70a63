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
    /// Whether the write only takes settings away from a suite: then it is a deletion.
    var isReduction = false
    /// Whether a name that is *when unlocked* gets a blob of the lower class: a person has stated it.
    var lowersClass = false
    /// Whether nothing is written where a blob of *when unlocked* stands, or is to be written, under a name that is not
    /// listed: the caller lists the name and writes again.
    var listsName = false
}

extension SealedStore {
    /// A request with the store's own durability and time limit where the call gives none.
    func request(
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, isCancelled: (() -> Bool)? = nil
    ) -> WriteRequest {
        WriteRequest(
            condition: condition, fence: fence, durability: durability ?? options.durability,
            timeout: timeout ?? options.lockTimeout, isCancelled: isCancelled)
    }
}
