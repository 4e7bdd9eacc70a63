public import SharedFiles

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
