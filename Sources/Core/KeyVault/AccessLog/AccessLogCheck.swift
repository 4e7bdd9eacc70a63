internal import CryptoPrimitives
internal import Sealing

/// Checks the chain entry by entry and collects the results.
struct AccessLogCheck {
    private static let namedBadEntries = 100

    private let keys: AccessLogKeys
    /// The key number of the last authentic entry: a former member must not continue under an old key.
    private var keyNumber: UInt32 = 0
    private let noted: AccessLogHead?
    private var found = AccessLogVerification()

    /// The last entry's code as stored.
    private var lastCode: Bytes32?
    /// The number of the next entry; `nil` after an entry that is not authentic.
    private var expected: UInt64?
    /// The number of the first stored entry, computed from the first authentic one.
    private var firstIndex: UInt64?
    /// The number of bad entries before the first authentic one.
    private var leadingBad: UInt64 = 0
    /// The end of the chain after the last authentic entry.
    private var end: UInt64?
    private var afterEnd: UInt64 = 0
    private var notedCode: Bytes32?
    private var zeros = 0
    private var files = 0

    init(keys: AccessLogKeys, noted: AccessLogHead?) {
        self.keys = keys
        self.noted = noted
    }

    /// Checks the next entry with the code before it. Returns `nil` for an entry of zeros: only the following entries
    /// show whether a power loss left it.
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
        // Every version has the fields that prove authenticity and place: an entry of another version is not tampered
        // with.
        let isChained = isAuthentic(entry, bytes) && isInPlace(entry, isFirstOfFile: beginning != nil)
        let isAuthentic = isChained && entry.version == Layout.version
        if isChained, !isAuthentic { found.unsupportedCount += 1 }
        let code = Bytes32(bytes.part(Layout.size, Layout.codeSize))
        // A newer program notes the head of its own entry, so a noted entry of any version counts.
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
        // In this version a program without a log key writes only failed openings: any other unkeyed entry is a
        // forgery.
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

    /// Ends a file. The entry that continues an older file reports its torn end.
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

/// The result of reading the whole access log.
public struct AccessLogVerification: Sendable, Hashable {
    /// The relation of the log to the head that was noted elsewhere.
    public enum NotedHead: Sendable, Hashable {
        /// No head was given.
        case none
        /// The log contains the noted entry, or no entry was noted yet.
        case found
        /// The noted entry is older than the stored ones, so it cannot be compared.
        case rolledAway
        /// The log ends before the noted entry: at least this many entries are missing.
        case cutShort(missing: UInt64)
        /// The log has another entry in its place, or one that is not authentic.
        case differs
    }

    /// The number of stored entries of any kind.
    public internal(set) var count = 0
    /// The number of the first stored entry; 0 unless the log rolled over twice.
    public internal(set) var firstIndex: UInt64 = 0
    /// The number of entries that are not authentic in their place.
    public internal(set) var badCount = 0
    /// The numbers of the first 100 of them, counted from the last authentic entry before. If entries are missing, the
    /// next entry is not authentic in its place.
    public internal(set) var badIndexes: [UInt64] = []
    /// The number of unchanged entries of a version that this program does not know.
    public internal(set) var unsupportedCount = 0
    /// The number of entries torn by a crash; the entry after each removed its remains.
    public internal(set) var tornCount = 0
    /// `true` if the log ends in an entry torn by a crash; the next entry removes its remains.
    public internal(set) var endsTorn = false
    /// The number of unkeyed entries at the end, which anyone with write access to the file can still change.
    public internal(set) var uncoveredCount = 0
    /// `true` if the file that the current one continues is missing or empty.
    public internal(set) var isOlderFileMissing = false
    /// The number of the vault's writes in its period without an entry, as far as the log goes back: their programs do
    /// not log, or could not.
    public internal(set) var unloggedCount: UInt64 = 0
    /// The relation of the log to the noted head.
    public internal(set) var notedHead = NotedHead.none

    /// `true` if only entries of an unknown version keep the log from being intact.
    public var isOnlyUnsupported: Bool {
        var others = self
        others.badCount -= unsupportedCount
        return unsupportedCount > 0 && others.isIntact
    }

    /// `true` if honest programs and crashes explain everything in the log.
    public var isIntact: Bool {
        switch notedHead {
        case .none, .found, .rolledAway: badCount == 0 && !isOlderFileMissing
        case .cutShort, .differs: false
        }
    }
}
