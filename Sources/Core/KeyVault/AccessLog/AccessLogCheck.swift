internal import CryptoPrimitives
internal import Sealing

/// Walks along the chain, entry by entry, and remembers what it found.
struct AccessLogCheck {
    private static let namedBadEntries = 100

    private let keys: AccessLogKeys
    /// The number of the last authentic entry's key: a former member must not go on under an old one.
    private var keyNumber: UInt32 = 0
    private let noted: AccessLogHead?
    private var found = AccessLogVerification()

    /// The last entry's code as it stands there.
    private var lastCode: Bytes32?
    /// The number of the next entry; nil after one that is not authentic.
    private var expected: UInt64?
    /// The number that the first kept entry has, told by the first authentic one.
    private var firstIndex: UInt64?
    /// How many entries before the first authentic one are not.
    private var leadingBad: UInt64 = 0
    /// The end of the chain, as the last authentic entry tells.
    private var end: UInt64?
    private var afterEnd: UInt64 = 0
    private var notedCode: Bytes32?
    private var zeros = 0
    private var files = 0

    init(keys: AccessLogKeys, noted: AccessLogHead?) {
        self.keys = keys
        self.noted = noted
    }

    /// Takes the next entry with the code before it; answers nil for one of zeros, of which only what follows tells
    /// whether a power loss left it.
    mutating func take(
        _ bytes: UnsafeRawBufferPointer, beginning: AccessLogFile.Beginning?
    ) -> (entry: AccessEntry, isAuthentic: Bool)? {
        typealias Layout = AccessEntryLayout
        let entryBytes = bytes.part(Layout.codeSize, Layout.size)
        if beginning != nil { files += 1 }
        if !entryBytes.contains(where: { $0 != 0 }) {
            zeros += 1
            return nil
        }
        takeZerosAsBad()
        let entry = AccessEntry(parsing: entryBytes)
        // Every version has the fields by which an entry is authentic in its place: one of another version is not tampered.
        let isChained = isAuthentic(entry, bytes) && isInPlace(entry, isFirstOfFile: beginning != nil)
        let isAuthentic = isChained && entry.version == Layout.version
        if isChained, !isAuthentic { found.unsupportedCount += 1 }
        let code = Bytes32(bytes.part(Layout.size, Layout.codeSize))
        // A newer program notes the head of its own entry: whatever its version, it is the noted one.
        if isChained, let noted, noted.count > 0, entry.index == noted.count - 1 { notedCode = code }
        if beginning == .current && files == 1 {
            found.isOlderFileMissing = isAuthentic && entry.event == .continued
        }
        lastCode = code
        note(entry, isAuthentic)
        return (entry, isAuthentic)
    }

    private func isAuthentic(_ entry: AccessEntry, _ bytes: UnsafeRawBufferPointer) -> Bool {
        typealias Layout = AccessEntryLayout
        guard entry.isUnkeyed == (entry.keyNumber == 0), entry.isUnkeyed || entry.keyNumber >= keyNumber else {
            return false
        }
        let code = keys.with(entry.keyNumber) { Layout.code(of: bytes.part(0, Layout.size), key: $0) }
        let isRight = code.withUnsafeBytes { ConstantTime.areEqual($0, bytes.part(Layout.size, Layout.codeSize)) }
        // A program without a log key enters failed openings alone, in this version: any other entry is a forgery.
        return isRight && (!entry.isUnkeyed || (entry.event == .openFailed && entry.version == Layout.version))
    }

    private func isInPlace(_ entry: AccessEntry, isFirstOfFile: Bool) -> Bool {
        if let expected, entry.index != expected { return false }
        guard isFirstOfFile else { return true }
        if files == 1 { return entry.event == .continued || entry.index == 0 }
        return entry.event == .continued && entry.continuedCode == lastCode
    }

    private mutating func note(_ entry: AccessEntry, _ isAuthentic: Bool) {
        found.uncoveredCount = entry.isUnkeyed ? found.uncoveredCount + 1 : 0
        guard isAuthentic else { return addBad() }
        if firstIndex == nil { firstIndex = entry.index - min(entry.index, leadingBad) }
        found.count += 1
        if entry.followsTornEntry { found.tornCount += 1 }
        keyNumber = max(keyNumber, entry.keyNumber)
        expected = entry.index &+ 1
        (end, afterEnd) = (expected, 0)
    }

    private mutating func addBad() {
        if let end {
            if found.badIndexes.count < Self.namedBadEntries { found.badIndexes.append(end &+ afterEnd) }
        } else {
            leadingBad += 1
        }
        found.badCount += 1
        found.count += 1
        afterEnd += 1
        expected = nil
    }

    private mutating func takeZerosAsBad() {
        while zeros > 0 {
            zeros -= 1
            addBad()
        }
    }

    /// Ends a file. What is torn at an older one's end is told by the entry that continues it.
    mutating func endFile(remainder: Int) {
        found.endsTorn = remainder != 0 || zeros != 0
        zeros = 0
    }

    consuming func result() -> AccessLogVerification {
        let first = firstIndex ?? 0
        found.firstIndex = first
        let leading = (0..<min(leadingBad, UInt64(Self.namedBadEntries))).map { first &+ $0 }
        found.badIndexes = Array((leading + found.badIndexes).prefix(Self.namedBadEntries))
        found.notedHead = notedHead(first: first)
        return found
    }

    private func notedHead(first: UInt64) -> AccessLogVerification.NotedHead {
        guard let noted else { return .none }
        guard noted.count > 0 else { return .found }
        if let notedCode { return notedCode == noted.code ? .found : .differs }
        let end = (end ?? first) &+ afterEnd
        if end < noted.count { return .cutShort(missing: noted.count - end) }
        return noted.count <= first ? .rolledAway : .differs
    }
}

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
