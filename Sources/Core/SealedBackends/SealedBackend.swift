public import SharedFiles

/// A store of sealed blobs, one for each record: files, a database, memory.
///
/// A backend gets sealed bytes only and holds no key. It cannot open a blob, and a reader accepts nothing that a backend
/// has changed, exchanged or made up. A backend can lose a blob or return an earlier one; a reader that has accepted a
/// later one refuses that.
///
/// All calls are synchronous and may block their thread; the store never makes them on a thread of tasks. They may be
/// made from any thread, at the same time.
///
/// **Promises.** Readers and writers rely on these, in one process and in all processes that use the same data:
/// - A blob is replaced whole: a read returns one that was committed, never parts of two.
/// - `commit` makes all writes or none. After it has returned, every later read sees them or later ones.
/// - After a `commit` that is `.durable` a power loss does not undo it.
/// - A failed `commit` has changed nothing, unless its error is `.indeterminate` or `.durabilityUnknown`.
/// - A read after a reported change sees at least the reported state, and no change stays unreported: where one may
///   have been missed, `BackendNews.isResync` is set.
///
/// **Locks.** The store holds the record's lock in the group's container while it examines and writes a record, so on
/// one machine the condition of a write still holds when the write is committed. A backend whose data another machine
/// can change compares the conditions itself (`BackendTraits.comparesConditions`).
public protocol SealedBackend: Sendable {
    /// The backend's abilities and limits.
    var traits: BackendTraits { get }

    /// Returns the beginning of a record's blob; nil if there is no blob.
    ///
    /// - Throws: `BackendError`, such as `.notABlob` for anything else in the record's place.
    func head(_ key: BackendKey) throws(BackendError) -> BlobHead?

    /// Returns a record's blob; nil if there is no blob.
    ///
    /// - Parameter limit: The largest blob in bytes. A larger one throws `.tooLarge`, before memory is allocated for it.
    func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)?

    /// Makes all writes, or none.
    ///
    /// - Parameters:
    ///   - writes: At most `BackendTraits.batchLimit`, each of another record.
    ///   - durability: With `.durable` the call returns when the writes survive a power loss.
    /// - Throws: `BackendError`: `.conflict` with the index of a write whose condition does not hold; `.indeterminate`
    ///   if the writes may have been made, or may still be: `settle` decides that.
    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError)

    /// Waits until the outcome of every earlier `commit` for a record is decided, and makes its present blob durable.
    ///
    /// - Returns: The beginning of that blob; nil if there is no blob.
    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead?

    /// Returns the beginnings of blobs by name, in the order of the names' bytes.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the names; empty for all.
    ///   - key: The last key of the page before; nil for the first page.
    ///   - limit: The largest number of blobs.
    /// - Returns: Fewer than `limit` only at the end. A blob whose beginning cannot be read is listed without bytes:
    ///   `head` throws the reason.
    func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead]

    /// Reports changes from now on, or after an earlier report.
    ///
    /// - Parameters:
    ///   - cursor: The position of an earlier report, also of another process; nil for the present.
    ///   - notify: Called on any thread when there may be news. It must return quickly.
    /// - Returns: The changes; releasing them ends the reports.
    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges

    /// Keeps a copy of a record's present blob for diagnosis, where no reader takes it for a record. The blob itself
    /// stays. The same blob is kept once.
    ///
    /// - Parameters:
    ///   - reason: A note beside it: one or a few lines, without contents.
    ///   - limit: The largest copy in bytes. A larger blob throws `.tooLarge`, unless keeping it copies no bytes, as
    ///     with a second name of a file.
    /// - Throws: `BackendError`, `.gone` if there is no blob.
    /// - Returns: The copy's name; nil if the record already has its maximum of copies, and nothing was kept.
    func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String?

    /// The provider's `open` would find the same data now: they were not moved away, removed or replaced. True unless the
    /// backend implements it.
    var isInPlace: Bool { get }

    /// Writes a copy of all data, as they are at one moment, while other programs use them.
    ///
    /// - Parameter directory: A directory in which the provider's `open` then finds the copy.
    /// - Throws: `BackendError`; `.unsupported` unless the backend implements it.
    func copy(to directory: String) throws(BackendError)

    /// Examines the backend's own structure, such as the pages of a database. Nothing is examined unless the backend
    /// implements it.
    ///
    /// - Throws: `BackendError` `.damaged` with the first fault.
    func examine() throws(BackendError)
}

extension SealedBackend {
    /// Throws `.unsupported`.
    public func copy(to directory: String) throws(BackendError) {
        throw BackendError(.unsupported, "copy", directory, "The backend does not write copies.")
    }

    /// True.
    public var isInPlace: Bool { true }

    /// Does nothing.
    public func examine() throws(BackendError) {}
}

/// Opens the backend of a group's container.
public protocol BackendProvider: Sendable {
    /// The backend's name in the container, which says what it is: lower-case letters. Nil for a backend that leaves
    /// nothing in the container.
    var name: String? { get }

    /// Opens the backend of a container, and creates its data if `BackendPlace.isNew`.
    ///
    /// - Throws: `BackendError`; `.unsupported` for a container that the backend may not be used in, `.gone` for data that
    ///   are missing in a container that had them.
    func open(_ place: BackendPlace) throws(BackendError) -> any SealedBackend
}

/// The container that a backend is opened in.
public struct BackendPlace: Sendable {
    /// The group's identifier.
    public let group: String
    /// The path of the container's directory.
    public let directory: String
    /// The members of a unix group may write the container.
    public let isShared: Bool
    /// The container has no records yet.
    public let isNew: Bool

    package init(group: String, directory: String, isShared: Bool, isNew: Bool = true) {
        self.isNew = isNew
        self.group = group
        self.directory = directory
        self.isShared = isShared
    }
}

/// A backend's abilities and limits.
public struct BackendTraits: Sendable, Hashable {
    /// The largest number of writes in one `commit`.
    public var batchLimit: Int
    /// The largest blob in bytes.
    public var largestBlob: Int
    /// A `commit` compares the conditions and writes in one step. Otherwise it relies on the records' locks.
    public var comparesConditions: Bool
    /// A cursor of an earlier process continues where that one ended. Otherwise it gets `BackendNews.isResync`.
    public var hasDurableCursors: Bool
    /// Calls cross a network: the store offers the awaiting forms only.
    public var isRemote: Bool

    /// Creates traits; the defaults are those of files.
    public init(
        batchLimit: Int = 1, largestBlob: Int = .max, comparesConditions: Bool = false, hasDurableCursors: Bool = false,
        isRemote: Bool = false
    ) {
        self.batchLimit = batchLimit
        self.largestBlob = largestBlob
        self.comparesConditions = comparesConditions
        self.hasDurableCursors = hasDurableCursors
        self.isRemote = isRemote
    }

    /// Throws unless the writes of one `commit` are within the limits. An implementation of `commit` begins with it.
    ///
    /// - Throws: `BackendError`: `.unsupported` for more writes than `batchLimit`, `.tooLarge` for a blob over
    ///   `largestBlob`.
    public func requireLimits(of writes: [BackendWrite]) throws(BackendError) {
        if writes.count > batchLimit, let first = writes.first {
            throw BackendError(
                .unsupported, "write", first.key.name,
                "The batch has \(writes.count) writes; \(batchLimit) are allowed.")
        }
        for write in writes {
            guard case .put(let blob) = write.change, blob.count > largestBlob else { continue }
            throw BackendError(
                .tooLarge, "write", write.key.name, "It has \(blob.count) bytes; \(largestBlob) are allowed.")
        }
    }
}

/// The place of a record's blob: the record's name.
///
/// The store passes checked names: at most 512 bytes, one to eight segments of ASCII letters, digits, `.`, `_` and `-`
/// that do not begin with a dot, with `/` in between.
public struct BackendKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The record's name.
    public let name: String
    /// The record's file, for the backend of files: computed once, since each read uses it.
    package let file: FileLocation?

    /// Creates the key of a name.
    public init(_ name: String) {
        self.name = name
        file = nil
    }

    package init(_ name: String, file: FileLocation) {
        self.name = name
        self.file = file
    }

    /// Compares names.
    public static func == (left: BackendKey, right: BackendKey) -> Bool { left.name == right.name }

    /// Orders keys by the bytes of their names.
    public static func < (left: BackendKey, right: BackendKey) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name.
    public var description: String { name }
}

/// The paths of a record's file. A class: each read copies the reference.
package final class FileLocation: Sendable {
    /// The path below the container.
    package let path: String
    /// The name of the container's directory, and the path below its parent.
    package let container: String
    package let placedPath: String

    package init(_ path: String, container: String) {
        self.path = path
        self.container = container
        placedPath = container + "/" + path
    }
}

/// A blob that was in a record's place at one moment.
public protocol HeldBlob: Sendable {
    /// The whole blob.
    var bytes: [UInt8] { get }
    /// The blob is still in the record's place.
    var isCurrent: Bool { get }
}

/// The beginning of a blob: its header, for a whole one.
public struct BlobHead: Hashable, Sendable {
    /// The size of a header in bytes (docs/spec/format.md, section 2).
    public static let size = 176

    /// The record.
    public let key: BackendKey
    /// The first 176 bytes; fewer of a shorter blob.
    public let bytes: [UInt8]

    /// Creates a beginning.
    public init(_ key: BackendKey, bytes: [UInt8]) {
        self.key = key
        self.bytes = bytes
    }

    /// The version of the blob.
    public var version: BlobVersion { BlobVersion(of: bytes) }
}

/// Distinguishes the blobs that a record has had: the commitment, which is another one for each sealing.
public struct BlobVersion: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// 32 bytes.
    public var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// Reads the version of a blob: bytes 144 to 175. A fragment that is shorter, which no reader accepts, has its own
    /// first 32 bytes, padded with zero.
    ///
    /// - Parameter blob: The blob, or its first 176 bytes.
    public init(of blob: [UInt8]) {
        words = blob.withUnsafeBytes { blob in
            var words = SIMD4<UInt64>()
            let part = blob.count >= BlobHead.size ? blob[144..<BlobHead.size] : blob.prefix(32)
            withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: part) }
            return words
        }
    }
}

/// A change of one record, and its condition.
public struct BackendWrite: Sendable {
    /// The required state before the change.
    public enum Condition: Hashable, Sendable {
        /// Any state.
        case any
        /// No blob.
        case absent
        /// The blob of that version.
        case version(BlobVersion)
    }

    /// The change.
    public enum Change: Hashable, Sendable {
        /// The blob replaces the present one.
        case put([UInt8])
        /// The present blob, if there is one, is removed without a trace.
        case remove
        /// Nothing changes: the condition alone counts.
        case nothing
    }

    /// The record.
    public var key: BackendKey
    /// The required state.
    public var condition: Condition
    /// The change.
    public var change: Change
    /// The write deletes: the blob is a tombstone, or settings with fewer entries. No quota refuses it.
    public var isDeletion: Bool

    /// Creates a write.
    public init(_ key: BackendKey, _ change: Change, if condition: Condition = .any, isDeletion: Bool = false) {
        self.key = key
        self.condition = condition
        self.change = change
        self.isDeletion = isDeletion
    }
}

/// A position in a backend's changes. Opaque bytes that only the same backend reads.
public struct BackendCursor: Hashable, Sendable {
    /// The backend's own bytes.
    public let bytes: [UInt8]

    /// Creates a cursor.
    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The changes of a backend's records since a position. Releasing it ends the reports.
public protocol BackendChanges: AnyObject, Sendable {
    /// Returns the changes since the last call, without waiting.
    ///
    /// - Parameter limit: The largest number of keys; the rest follows with the next call.
    /// - Throws: `BackendError`, `.gone` if the data were removed or replaced.
    func next(limit: Int) throws(BackendError) -> BackendNews
}

/// Changed records.
public struct BackendNews: Sendable {
    /// The records that have changed, each once.
    public var keys: [BackendKey]
    /// Changes may have been missed: every record may have changed.
    public var isResync: Bool
    /// The position after these changes; nil if the backend has none.
    public var cursor: BackendCursor?
    /// There are more.
    public var isPartial: Bool

    /// Creates a report.
    public init(
        keys: [BackendKey] = [], isResync: Bool = false, cursor: BackendCursor? = nil, isPartial: Bool = false
    ) {
        self.keys = keys
        self.isResync = isResync
        self.cursor = cursor
        self.isPartial = isPartial
    }
}
