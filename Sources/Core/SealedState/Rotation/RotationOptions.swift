internal import Glibc
public import SharedFiles
internal import Synchronization

/// The speed and cancellation of a rotation; the defaults are the fastest.
public struct RotationOptions: Sendable {
    /// The maximum of blobs per second; nil for no limit.
    public var blobsPerSecond: Double?
    /// The maximum of content bytes per second; nil for no limit. It holds within a large blob as well.
    public var bytesPerSecond: Double?
    /// The maximum of walks before the rotation gives up for now: each walk reseals the blobs of an older epoch that it
    /// found, and the last one must find none after all writers have ended. 16 unless stated, at least 3: one that
    /// reseals, one that finds none, one after the wait for the writers.
    public var maximumPasses = 16
    /// Files and directories, by their paths below the container, that do not block the rotation if they cannot be read
    /// or resealed: they are only reported. Blobs of an older key there, or below, are refused afterwards.
    public var passingOver: Set<String> = []
    /// The time limit for a record's lock. 5 seconds unless stated.
    public var lockTimeout: Duration = .seconds(5)
    /// The durability of each resealed blob. `.durable` unless stated: with `.unsynced` a power loss may destroy blobs
    /// that had long been safe.
    public var durability: Durability = .durable
    /// Called between blobs, within large ones and while waiting; if it returns `true` the rotation ends as
    /// `.cancelled` and can be continued. Checks the calling task unless stated.
    public var isCancelled: @Sendable () -> Bool = { Task.isCancelled }

    /// The clock for the throttle; tests replace it.
    var clock = ThrottleClock()

    static let minimumPasses = 3

    /// The defaults.
    public init() {}

    /// Returns `true` if a path is named in `passingOver`, or is below one that is.
    func passesOver(_ path: String) -> Bool {
        passingOver.contains { named in
            // A shell's completion of a directory name appends a slash.
            var named = named[...]
            while named.hasSuffix("/") { named = named.dropLast() }
            if named.hasPrefix("./") { named = named.dropFirst(2) }
            return !named.isEmpty && (path == named || path.hasPrefix(named + "/"))
        }
    }
}

/// The time source of a throttle.
struct ThrottleClock: Sendable {
    /// The time of a clock that cannot be set.
    var now: @Sendable () -> Duration = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    /// Waits, for less than a second.
    var sleep: @Sendable (Duration) -> Void = { _ = usleep(UInt32($0.components.attoseconds / 1_000_000_000_000)) }
}

/// Spreads work over time: each piece starts when the earlier ones have had their share. Idle time is not accumulated,
/// so a pause is not followed by a burst.
final class Throttle: Sendable {
    /// The interval between checks for cancellation.
    private static let slice = Duration.milliseconds(50)

    private let options: RotationOptions
    private let next: Mutex<Duration>

    init(_ options: RotationOptions) {
        self.options = options
        next = Mutex(options.clock.now())
    }

    /// Waits until that much work may be done.
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
            .cancelled, "rotate", "the keys", "It was stopped.", advice: "Rotate again to continue.")
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
