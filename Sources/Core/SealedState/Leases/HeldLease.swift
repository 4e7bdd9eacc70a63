internal import SharedFiles

/// A lease that this process took. Its presence, a byte of the container's lock file, ends with the process: others then
/// take over at once instead of waiting for the time to run out.
final class HeldLease: Sendable {
    let fence: LeaseFence
    let place: RecordPlace
    private let presence: HeldLock

    init(fence: LeaseFence, place: RecordPlace, presence: consuming HeldLock) {
        self.fence = fence
        self.place = place
        self.presence = presence
    }
}

/// What one try to take a lease gave.
enum LeaseAttempt: Sendable {
    case taken(HeldLease)
    /// Somebody holds it, under that fence, for at most that long.
    case busy(number: UInt64, remaining: Duration)
    /// The work was completed since the caller began to wait.
    case completed
}
