internal import SharedFiles

/// What a container's files take up, without the reserves for deletions.
public struct ContainerUsage: Hashable, Sendable {
    /// Files, or those of one part of the container.
    public struct Amount: Hashable, Sendable {
        /// Regular files; one with two names counts once.
        public internal(set) var files = 0
        /// Their sizes in bytes. It is what a quota limits.
        public internal(set) var bytes: Int64 = 0
        /// The bytes that they take on their file system.
        public internal(set) var allocatedBytes: Int64 = 0
    }

    /// A part of the container: `Library/Caches`, `Quarantine`; `.` for files directly in it.
    public struct Part: Hashable, Sendable {
        /// Its path below the container.
        public let path: String
        /// What it takes up.
        public let amount: Amount
    }

    /// Everything.
    public let total: Amount
    /// By part, in byte order of their paths.
    public let parts: [Part]
    /// How many directories and files could not be looked at, and are not counted.
    public let unreadable: Int

    /// How deep a container is looked into; what lies deeper counts as unreadable.
    private static let maximumDepth = 64

    init(of root: Directory) {
        var counter = UsageCounter()
        root.walk(maximumDepth: Self.maximumDepth) { counter.count($0) }
        total = counter.total
        parts = counter.parts.sorted { $0.key < $1.key }.map { Part(path: $0.key, amount: $0.value) }
        unreadable = counter.unreadable
    }
}

/// Adds up what a walk meets.
private struct UsageCounter {
    var total = ContainerUsage.Amount()
    var parts: [String: ContainerUsage.Amount] = [:]
    var unreadable = 0
    /// Files of several names that were counted: inode and device.
    private var seen: Set<[UInt64]> = []

    mutating func count(_ entry: WalkEntry) {
        if let error = entry.error {
            if error.code != .notFound { unreadable += 1 }
            return
        }
        // Space that is kept for deletions is nobody's contents.
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
        // A file of holes may claim 2^63 - 1 bytes, and two of them more than there are numbers.
        amount.bytes = amount.bytes.addingWithSaturation(facts.size)
        amount.allocatedBytes = amount.allocatedBytes.addingWithSaturation(facts.allocatedSize)
    }

    /// The first segment, below `Library` the first two; nil for what is no part itself.
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
    /// The sum of two numbers from 0 on, or the largest number where it is larger.
    func addingWithSaturation(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
