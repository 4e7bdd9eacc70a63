internal import AppGroups
internal import Glibc
internal import SealedBackends
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The entries of a container in byte order, within the limits, with many names in little memory.
///
/// A row contains its directory's row and the last segment of its path. Paths are assembled on demand. The records of
/// the container's database are rows behind that of the database, as if it were a directory.
struct ContainerEntries: Sendable {
    private struct Row {
        let directory: UInt32
        let leafStart: UInt32
        let leafCount: UInt16
        let isReachable: Bool
        let attributes: FileAttributes?
    }

    private static let top = UInt32.max

    private var rows: [Row] = []
    private var leaves: [UInt8] = []
    /// The rare attributes of entries: an error during the examination, or a name that is not UTF-8.
    private var errors: [Int: FileError] = [:]
    private var rawNames: [Int: [UInt8]] = [:]
    /// The rows of the directories on the walk's current path.
    private var open: [UInt32] = []
    /// True if the limit on entries was reached before the end.
    private(set) var isCut = false
    /// The rows of the records in the container's database.
    private var records = 0..<0
    private let hasDatabase: Bool
    /// The error that ended the list of those records early.
    private(set) var listingError: BackendError?

    private struct Full: Error {}

    /// - Parameters:
    ///   - database: The database of the container's records, or `nil` if they are files.
    ///   - meter: Receives the number of entries so far.
    init(
        of root: Directory, _ database: RecordDatabase?, limits: AuditLimits, _ meter: ProgressMeter? = nil
    ) {
        hasDatabase = database != nil
        do throws(Full) {
            try root.walk(maximumDepth: limits.maximumDepth) { entry throws(Full) in
                guard rows.count < limits.maximumEntries else { throw Full() }
                append(entry)
                meter?.add(files: 1, bytes: 0, findings: 0)
                guard entry.path == RecordDatabase.path, case .success(let backend) = database?.backend else { return }
                try appendRecords(of: backend, upTo: limits.maximumEntries, meter)
            }
        } catch {
            isCut = true
        }
    }

    /// The number of records that are listed with one query.
    private static let pageSize = 1000

    /// Appends the records of a database, whose row is the last one.
    private mutating func appendRecords(
        of backend: any SealedBackend, upTo maximum: Int, _ meter: ProgressMeter?
    ) throws(Full) {
        let database = UInt32(rows.count - 1)
        let start = rows.count
        defer { records = start..<rows.count }
        var last: BackendKey?
        while let page = page(of: backend, after: last) {
            for head in page {
                guard rows.count < maximum else { throw Full() }
                append(head.key, below: database)
                meter?.add(files: 1, bytes: 0, findings: 0)
            }
            last = page.last?.key
            if page.count < Self.pageSize { return }
        }
    }

    /// Returns the next names, or `nil` after an error.
    private mutating func page(of backend: any SealedBackend, after last: BackendKey?) -> [BlobHead]? {
        do throws(BackendError) {
            return try backend.scan("", after: last, limit: Self.pageSize)
        } catch {
            listingError = error
            return nil
        }
    }

    private mutating func append(_ record: BackendKey, below database: UInt32) {
        let name = record.name.utf8.prefix(RecordName.maximumSize)
        if name.count < record.name.utf8.count {
            errors[rows.count] = FileError(
                .invalidName, operation: "open", path: RecordDatabase.path,
                advice: "A record there has a name of \(record.name.utf8.count) bytes.")
        }
        let start = UInt32(leaves.count)
        leaves += name
        rows.append(
            Row(
                directory: database, leafStart: start, leafCount: UInt16(clamping: name.count), isReachable: false,
                attributes: nil))
    }

    private mutating func append(_ entry: WalkEntry) {
        let seen = ContainerEntry(entry)
        if let error = entry.error { errors[rows.count] = error }
        if let name = seen.rawName { rawNames[rows.count] = name }
        // If a directory failed while it was listed, the walk reports it again under its own path.
        let isBelow = entry.depth > 0 && !entry.nameBytes.isEmpty
        open.removeLast(max(0, open.count - max(0, entry.depth - 1)))
        let leaf = isBelow ? seen.leaf[...] : entry.path[...]
        let start = UInt32(leaves.count)
        leaves += leaf.utf8
        let directory = isBelow ? open.last ?? Self.top : Self.top
        rows.append(
            Row(
                directory: directory, leafStart: start, leafCount: UInt16(clamping: leaf.utf8.count),
                isReachable: directory == Self.top || isReachableByOthers(rows[Int(directory)]),
                attributes: entry.attributes))
        if isBelow, entry.kind == .directory { open.append(UInt32(rows.count - 1)) }
    }

    private func isReachableByOthers(_ directory: Row) -> Bool {
        directory.isReachable && (directory.attributes?.mode ?? 0) & S_IXOTH != 0
    }

    /// The list of all entries.
    var all: List { List(entries: self) }

    /// The entries, each created on access.
    struct List: RandomAccessCollection, Sendable {
        fileprivate let entries: ContainerEntries
        var startIndex: Int { 0 }
        var endIndex: Int { entries.rows.count }
        subscript(index: Int) -> ContainerEntry { entries.entry(index) }
    }

    private func entry(_ index: Int) -> ContainerEntry {
        ContainerEntry(
            path: path(index), attributes: rows[index].attributes, error: errors[index],
            rawName: rawNames[index], isReachable: rows[index].isReachable, hasDatabase: hasDatabase,
            record: records.contains(index) ? BackendKey(leaf(index)) : nil)
    }

    private func leaf(_ index: Int) -> String {
        let row = rows[index]
        return String(decoding: leaves[Int(row.leafStart)..<Int(row.leafStart) + Int(row.leafCount)], as: UTF8.self)
    }

    private func path(_ index: Int) -> String {
        var chain: [UInt32] = []
        var next = UInt32(index)
        while next != Self.top {
            chain.append(next)
            next = rows[Int(next)].directory
        }
        var path: [UInt8] = []
        for step in chain.reversed() {
            let row = rows[Int(step)]
            if !path.isEmpty { path.append(UInt8(ascii: "/")) }
            path += leaves[Int(row.leafStart)..<Int(row.leafStart) + Int(row.leafCount)]
        }
        return String(decoding: path, as: UTF8.self)
    }
}

/// A name in a container, as seen by the walk before any file is opened.
struct ContainerEntry: Sendable {
    /// The path relative to the container; `.` is the container itself.
    let path: String
    /// The attributes, if available.
    let attributes: FileAttributes?
    /// The error of examining or entering it.
    let error: FileError?
    /// The last segment as stored on the disk if it is not UTF-8, or `nil` otherwise.
    let rawName: [UInt8]?
    /// True if the name's bytes are those of the path. A name that is not UTF-8 is displayed, but cannot be opened.
    var isNameable: Bool { rawName == nil }
    /// True if every directory between it and the container is accessible to all users.
    let isReachable: Bool
    /// True if the container's records are in a database.
    private let hasDatabase: Bool
    /// The record in that database, or `nil` for a file. Its path is not that of a file.
    let record: BackendKey?

    var place: ContainerPlace {
        record.map { ContainerPlace(ofRecord: $0.name) } ?? ContainerPlace(path, hasDatabase: hasDatabase)
    }

    /// True if its name is that of sealed contents.
    var isNamedSealed: Bool { record != nil || FileNames.isSealed(leaf) }

    /// The last segment.
    var leaf: Substring { path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...] }

    init(
        path: String, attributes: FileAttributes?, error: FileError?, rawName: [UInt8]? = nil,
        isReachable: Bool = true, hasDatabase: Bool = false, record: BackendKey? = nil
    ) {
        self.path = path
        self.attributes = attributes
        self.error = error
        self.rawName = rawName
        self.isReachable = isReachable
        self.hasDatabase = hasDatabase
        self.record = record
    }

    init(_ entry: WalkEntry) {
        let leaf = entry.path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }
        let isNameable = entry.path == "." || entry.nameBytes.elementsEqual(leaf.reversed())
        self.init(
            path: entry.path, attributes: entry.attributes, error: entry.error,
            rawName: isNameable ? nil : entry.nameBytes)
    }
}

/// The records that have a blob in their place, by the tag of their blobs.
struct RecordNames: Sendable {
    private let names: [NameTag: String]

    init(_ entries: some Sequence<ContainerEntry>, group: AppGroup?) {
        guard let group else {
            names = [:]
            return
        }
        let pairs = entries.compactMap(\.place.recordName).map { name in
            (BlobContext(group: group.identifier, kind: .record, name: name).nameTag, name)
        }
        names = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the record that a blob with this tag belongs to, if the record has a blob.
    subscript(tag: NameTag) -> String? { names[tag] }
}
