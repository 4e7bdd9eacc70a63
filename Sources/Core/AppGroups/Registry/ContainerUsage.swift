internal import SharedFiles

/// The space that a container's files use, without the reserves for deletions.
public struct ContainerUsage: Hashable, Sendable {
    /// A number of files with their sizes.
    public struct Amount: Hashable, Sendable {
        /// Regular files; one with two names counts once.
        public internal(set) var files = 0
        /// Their sizes in bytes, which a quota limits.
        public internal(set) var bytes: Int64 = 0
        /// The bytes allocated on their file system.
        public internal(set) var allocatedBytes: Int64 = 0
    }

    /// A part of the container: `Library/Caches`, `Quarantine`; `.` for files directly in it.
    public struct Part: Hashable, Sendable {
        /// The path below the container.
        public let path: String
        /// The space that the part uses.
        public let amount: Amount
    }

    /// The space that all files use.
    public let total: Amount
    /// The parts, in byte order of their paths.
    public let parts: [Part]
    /// The number of directories and files that could not be examined, and are not counted.
    public let unreadable: Int

    /// The maximum depth of the walk; deeper directories count as unreadable.
    private static let maximumDepth = 64

    init(of root: Directory) {
        var counter = UsageCounter()
        root.walk(maximumDepth: Self.maximumDepth) { counter.count($0) }
        total = counter.total
        parts = counter.parts.sorted { $0.key < $1.key }.map { Part(path: $0.key, amount: $0.value) }
        unreadable = counter.unreadable
    }
}

/// Adds up the entries of a walk.
private struct UsageCounter {
    var total = ContainerUsage.Amount()
    var parts: [String: ContainerUsage.Amount] = [:]
    var unreadable = 0
    /// The inode and device of counted files with several names.
    private var seen: Set<[UInt64]> = []

    mutating func count(_ entry: WalkEntry) {
        if let error = entry.error {
            if error.code != .notFound { unreadable += 1 }
            return
        }
        // Reserves for deletions are not contents.
        guard let facts = entry.attributes, !ContainerLayout.isReserve(entry.path) else { return }
        let part = Self.part(of: entry.path, isDirectory: facts.kind == .directory)
        if facts.kind == .directory, let part { parts[part, default: .init()].files += 0 }
        guard facts.kind == .regular else { return }
        if facts.nlink > 1, !seen.insert([facts.inode, facts.device]).inserted { return }
        Self.add(facts, to: &total)
        Self.add(facts, to: &parts[part ?? ".", default: .init()])
    }

    private static func add(_ facts: FileAttributes, to amount: inout ContainerUsage.Amount) {
        amount.files += 1
        // A sparse file may have 2^63 - 1 bytes, and the sum of two of them overflows.
        amount.bytes = amount.bytes.addingWithSaturation(facts.size)
        amount.allocatedBytes = amount.allocatedBytes.addingWithSaturation(facts.allocatedSize)
    }

    /// Returns the first segment, below `Library` the first two; nil for a path outside every part.
    private static func part(of path: String, isDirectory: Bool) -> String? {
        let segments = path.split(separator: "/", maxSplits: 3)
        guard let first = segments.first, first != "." else { return nil }
        let depth = first == GroupContainer.StandardDirectory.parent ? 2 : 1
        let above = isDirectory ? segments.count : segments.count - 1
        guard above >= depth else { return above == 0 || isDirectory ? nil : String(first) }
        return segments.prefix(depth).joined(separator: "/")
    }
}

extension Int64 {
    /// Returns the sum of two non-negative numbers, or the largest number on overflow.
    func addingWithSaturation(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
