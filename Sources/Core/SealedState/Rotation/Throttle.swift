internal import Glibc
internal import Synchronization

/// Where a throttle gets its time from.
struct ThrottleClock: Sendable {
    /// A clock that nobody can set.
    var now: @Sendable () -> Duration = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    /// Waits, for less than a second.
    var sleep: @Sendable (Duration) -> Void = { _ = usleep(UInt32($0.components.attoseconds / 1_000_000_000_000)) }
}

/// Spreads work over time: each piece is let go when the pieces before it have had their share. Idle time saves nothing
/// up, so that a pause is not followed by a burst.
final class Throttle: Sendable {
    /// How long it waits before it asks again whether it was cancelled.
    private static let slice = Duration.milliseconds(50)

    private let options: RotationOptions
    private let next: Mutex<Duration>

    init(_ options: RotationOptions) {
        self.options = options
        next = Mutex(options.clock.now())
    }

    /// Waits until that much may be done.
    ///
    /// - Throws: `StoreError` `.cancelled`.
    func take(blobs: Int = 0, bytes: Int = 0) throws(StoreError) {
        try requireGoingOn()
        let cost = share(blobs, options.blobsPerSecond) + share(bytes, options.bytesPerSecond)
        guard cost > .zero else { return }
        let start = reserve(cost)
        while true {
            let rest = start - options.clock.now()
            if rest <= .zero { return }
            options.clock.sleep(min(rest, Self.slice))
            try requireGoingOn()
        }
    }

    /// - Throws: `StoreError` `.cancelled`.
    func requireGoingOn() throws(StoreError) {
        guard options.isCancelled() else { return }
        throw StoreError(
            .cancelled, "rotate", "the keys", "It was stopped.", advice: "Rotate again to go on with it.")
    }

    private func reserve(_ cost: Duration) -> Duration {
        let now = options.clock.now()
        return next.withLock { next in
            let start = max(next, now)
            next = start + cost
            return start
        }
    }

    private func share(_ count: Int, _ perSecond: Double?) -> Duration {
        guard let perSecond, perSecond > 0, count > 0 else { return .zero }
        return .seconds(min(Double(count) / perSecond, 86_400))
    }
}
