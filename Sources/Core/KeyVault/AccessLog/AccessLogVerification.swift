/// What a reading of the whole access log found.
public struct AccessLogVerification: Sendable, Hashable {
    /// How the log stands to the head that was noted elsewhere.
    public enum NotedHead: Sendable, Hashable {
        /// None was given.
        case none
        /// The noted entry is there, or nothing was noted yet.
        case found
        /// The noted entry is older than what is kept, so that it can't be compared.
        case rolledAway
        /// The log ends before the noted entry: so many entries are missing at least.
        case cutShort(missing: UInt64)
        /// Another entry stands there, or one that is not authentic.
        case differs
    }

    /// How many entries are kept, whatever they are.
    public internal(set) var count = 0
    /// The number of the first entry that is kept; 0 unless the log rolled over twice.
    public internal(set) var firstIndex: UInt64 = 0
    /// How many entries are not authentic in their place.
    public internal(set) var badCount = 0
    /// The numbers of the first 100 of them, counted on from the last authentic entry before. Where entries are missing,
    /// the one that follows them is not authentic in its place.
    public internal(set) var badIndexes: [UInt64] = []
    /// The number of those entries that nobody changed, and whose version this program does not know.
    public internal(set) var unsupportedCount = 0
    /// How many entries a crash had torn, all mended by the next entry.
    public internal(set) var tornCount = 0
    /// Whether the log ends in an entry that a crash has torn; the next entry mends it.
    public internal(set) var endsTorn = false
    /// How many entries without a key stand at the end: whoever may write the file can change them yet.
    public internal(set) var uncoveredCount = 0
    /// Whether the file that the current one goes on from is missing, or empty.
    public internal(set) var isOlderFileMissing = false
    /// How many writes of the vault in its period have no entry, as far as the log goes back: their programs log nothing,
    /// or could not.
    public internal(set) var unloggedCount: UInt64 = 0
    /// How the log stands to the head that was noted.
    public internal(set) var notedHead = NotedHead.none

    /// Whether nothing but entries of an unknown version keeps the log from being intact.
    public var isOnlyUnsupported: Bool {
        var others = self
        others.badCount -= unsupportedCount
        return unsupportedCount > 0 && others.isIntact
    }

    /// Whether nothing was found that honest programs and crashes do not explain.
    public var isIntact: Bool {
        switch notedHead {
        case .none, .found, .rolledAway: badCount == 0 && !isOlderFileMissing
        case .cutShort, .differs: false
        }
    }
}
