internal import Glibc
public import SharedFiles
internal import Synchronization

/// How fast a rotation goes, and how it is stopped; the defaults go as fast as they can.
public struct RotationOptions: Sendable {
    /// At most that many blobs in a second; nil for no limit.
    public var blobsPerSecond: Double?
    /// At most that many bytes of contents in a second; nil for no limit. It holds within a large blob as well.
    public var bytesPerSecond: Double?
    /// How often the container is walked before the rotation gives up for now: each walk reseals what it found of an
    /// older epoch, and the last one has to find nothing after everybody who was writing has ended. 16 unless stated, at
    /// least 3: one that reseals, one that finds nothing, one after the wait for the writers.
    public var maximumPasses = 16
    /// Files and directories, by their paths below the container, that the rotation does not wait for where they cannot be
    /// looked at or resealed: they are only reported. What an older key sealed there, or below, is refused afterwards.
    public var passingOver: Set<String> = []
    /// How long one record's lock is waited for. 5 seconds unless stated.
    public var lockTimeout: Duration = .seconds(5)
    /// Whether each resealed blob has to survive a power loss at once. `.durable` unless stated: with `.unsynced` a power
    /// loss may cost blobs that had long been safe.
    public var durability: Durability = .durable
    /// Asked between blobs, within large ones and while waiting; with true the rotation ends as `.cancelled` and can be
    /// gone on with. Asks the calling task unless stated.
    public var isCancelled: @Sendable () -> Bool = { Task.isCancelled }

    /// Spends time; tests put their own clock here.
    var clock = ThrottleClock()

    static let minimumPasses = 3

    /// The defaults.
    public init() {}

    /// Whether a path is named in `passingOver`, or lies below one that is.
    func passesOver(_ path: String) -> Bool {
        passingOver.contains { named in
            // As a shell completes a directory's name.
            var named = named[...]
            while named.hasSuffix("/") { named = named.dropLast() }
            if named.hasPrefix("./") { named = named.dropFirst(2) }
            return !named.isEmpty && (path == named || path.hasPrefix(named + "/"))
        }
    }
}

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
