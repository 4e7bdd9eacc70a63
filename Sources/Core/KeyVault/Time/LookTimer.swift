internal import Glibc
internal import Synchronization

/// Says once a second that it is time to look again; asking costs a few nanoseconds.
final class LookTimer: Sendable {
    private static let interval: UInt64 = 1_000_000_000
    private let last = Atomic<UInt64>(LookTimer.now())

    /// Whether a second has passed since this last said yes.
    func isDue() -> Bool {
        let now = Self.now()
        let then = last.load(ordering: .relaxed)
        guard now &- then >= Self.interval else { return false }
        return last.compareExchange(expected: then, desired: now, ordering: .relaxed).exchanged
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
