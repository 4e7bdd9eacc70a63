package import AppGroups
package import SealedBackends
package import Sealing
package import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The values derived from a record's name by hashing.
package struct RecordPlace: Sendable {
    package let name: RecordName
    package let context: BlobContext
    package let key: BackendKey
    /// The lock's byte range in the container's lock file.
    package let lock: LockRange
    /// The current write has just listed the name: the value of the lower class that it replaces is no downgrade.
    var isBeingRaised = false

    /// - Parameters:
    ///   - container: The name of the container's directory; for readings alone, any other works as well.
    ///   - hasFile: Pass `false` for a place in a backend other than files.
    init(_ name: RecordName, group: String, container: String? = nil, hasFile: Bool = true) {
        self.name = name
        context = BlobContext(group: group, kind: .record, name: name.text)
        let slot = context.nameTag.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        lock = LockRange(slot: UInt64(littleEndian: slot))
        key =
            hasFile
            ? BackendKey(name.text, file: FileLocation(RecordFile.path(of: name), container: container ?? group))
            : BackendKey(name.text)
    }

    /// The path of the record's file below the container.
    var path: String { RecordFile.path(of: name) }
}

/// Remembers places by name, so that a read of a known record hashes nothing.
package final class RecordPlaces: Sendable {
    /// A bound against callers that generate names: at this size the cache is emptied.
    private static let capacity = 1024

    private let group: String
    private let container: String
    private let hasFiles: Bool
    /// The certificate of the container.
    let certificate: KnownCertificate
    private let places = Mutex<[String: RecordPlace]>([:])

    /// - Parameter hasFiles: The records are in files.
    init(in container: GroupContainer, hasFiles: Bool) {
        self.hasFiles = hasFiles
        group = container.group.identifier
        self.container = container.root.path.lastComponent?.string ?? group
        certificate = KnownCertificate(RecordPlace(.certificate, group: group, container: self.container))
    }

    /// The place of a user's record.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    package func place(_ name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(name) }
    }

    /// The place of a record of the library's own.
    ///
    /// - Parameter name: The whole name, its reserved first segment included.
    /// - Throws: `StoreError` `.invalidName`.
    package func place(reserved name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(reserved: name) }
    }

    /// Returns the place of the record that a file's name denotes.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    package func place(stored name: String) throws(StoreError) -> RecordPlace {
        try place(name) { () throws(StoreError) in try RecordName(stored: name) }
    }

    private func place(
        _ name: String, _ check: () throws(StoreError) -> RecordName
    ) throws(StoreError) -> RecordPlace {
        // Swift compares strings by canonical equivalence, so strings of other bytes can be equal (U+212A and K). Names
        // are ASCII, whose equivalents are all longer in bytes: equal strings of equal length have the same bytes.
        if let known = places.withLock({ $0[name] }), known.name.text.utf8.count == name.utf8.count { return known }
        let place = RecordPlace(try check(), group: group, container: container, hasFile: hasFiles)
        // Only users' names are cached: a cached name is not checked again.
        if place.name.isReserved { return place }
        places.withLock { places in
            if places.count >= Self.capacity { places.removeAll(keepingCapacity: true) }
            places[name] = place
        }
        return place
    }
}

/// The lock that every writer of a record takes, for code that maintains the files beside it.
package enum RecordLock {
    /// Takes the lock of the record whose file has this path.
    ///
    /// - Parameter path: Relative to the container.
    /// - Throws: `FileError` `.lockTimeout`, and the errors of taking the lock.
    /// - Returns: nil for a path that no record's file can have.
    package static func acquire(
        forFile path: String, of group: AppGroup, in container: GroupContainer, timeout: Duration
    ) throws(FileError) -> HeldLock? {
        guard let name = RecordFile.name(of: path) else { return nil }
        let place = RecordPlace(name, group: group.identifier)
        return try ContainerLocks(of: container).lock(place.lock, timeout: timeout)
    }
}

/// The locks of an open container: one byte range for each record, and one byte for each holder of a lease.
package struct ContainerLocks: Sendable {
    private let records: LockFile
    private let leases: LockFile

    init(of container: GroupContainer) {
        let mode = container.sharing.fileMode
        records = LockFile(directory: container.root, name: ContainerLayout.lockFile, mode: mode)
        leases = LockFile(directory: container.root, name: ContainerLayout.leaseFile, mode: mode)
    }

    /// Waits for a record's lock.
    package func lock(
        _ range: LockRange, timeout: Duration, isCancelled: (() -> Bool)? = nil
    ) throws(FileError) -> HeldLock {
        try records.acquire(range, .exclusive, timeout: timeout, isCancelled: isCancelled)
    }

    /// Takes the byte that shows that a lease's holder is alive, tried once; throws `FileError` `.lockTimeout` while it
    /// is held.
    func presence(_ range: LockRange) throws(FileError) -> HeldLock {
        try leases.acquire(range, .exclusive, timeout: .zero)
    }
}

/// A checked record name: `/`-separated segments of letters, digits, `.`, `_`, `-`, none starting with a dot.
package struct RecordName: Hashable, Sendable, CustomStringConvertible {
    /// The longest segment in bytes: it becomes a file name with an ending and, while it is written, a prefix.
    package static let maximumSegmentSize = 200
    /// The longest name in bytes.
    package static let maximumSize = 512
    /// The most segments.
    package static let maximumDepth = 8

    /// The first segment of the library's own records, such as leases; users' names never begin with it.
    package static let reservedSegment = "_sealed"

    package let text: String

    /// The name of the container's certificate.
    static let certificate = RecordName(checked: ContainerCertificate.recordName)

    private init(checked text: String) { self.text = text }

    /// Checks a user's name.
    ///
    /// - Throws: `StoreError` `.invalidName` with the violated rule.
    package init(_ text: String) throws(StoreError) {
        try self.init(stored: text)
        if isReserved {
            throw Self.invalid(text, "Names that begin with \(Self.reservedSegment)/ are the library's own.")
        }
    }

    /// Checks a name of the library's own, its first segment included: `_sealed/leases/refresh`.
    ///
    /// - Throws: `StoreError` `.invalidName`, also for a user's name.
    package init(reserved text: String) throws(StoreError) {
        try self.init(stored: text)
        if !isReserved { throw Self.invalid(text, "It does not begin with \(Self.reservedSegment)/.") }
    }

    /// Checks the name that a file in a container denotes: a user's or one of the library's own.
    ///
    /// - Throws: `StoreError` `.invalidName` with the violated rule.
    package init(stored text: String) throws(StoreError) {
        if let reason = Self.fault(of: text) { throw Self.invalid(text, reason) }
        self.text = text
    }

    /// The name is one of the library's own.
    package var isReserved: Bool {
        text.utf8.starts(with: Self.reservedSegment.utf8)
            && text.utf8.dropFirst(Self.reservedSegment.utf8.count).first
                .map { $0 == UInt8(ascii: "/") } ?? true
    }

    private static func invalid(_ text: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidName, "use the record name", text.printable, reason,
            advice: "Use a name such as widget_auth_state or accounts/ada.")
    }

    package var description: String { text }

    private static func fault(of text: String) -> String? {
        if text.isEmpty { return "It is empty." }
        if text.utf8.count > maximumSize { return "It has \(text.utf8.count) bytes; \(maximumSize) are allowed." }
        var text = text
        return text.withUTF8 { bytes in
            let depth = bytes.count { $0 == UInt8(ascii: "/") } + 1
            if depth > maximumDepth { return "It has \(depth) segments; \(maximumDepth) are allowed." }
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "/")) {
                if let fault = fault(ofSegment: rest[..<end]) { return fault }
                rest = rest[(end + 1)...]
            }
            return fault(ofSegment: rest)
        }
    }

    private static func fault(ofSegment segment: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        if segment.isEmpty { return "It has an empty segment." }
        if segment.count > maximumSegmentSize { return "It has a segment of over \(maximumSegmentSize) bytes." }
        if segment.first == UInt8(ascii: ".") { return "A segment begins with a dot." }
        // Record x.sealed/y would need a directory where record x has its file.
        if segment.suffix(7).elementsEqual(".sealed".utf8) { return "A segment ends with .sealed." }
        guard let offset = segment.firstIndex(where: { !isAllowed($0) }) else { return nil }
        return "\(what(segment[offset...])); only a-z, A-Z, 0-9, '.', '_', '-' and '/' are allowed."
    }

    /// Returns the text for the first disallowed character: all before it are ASCII.
    private static func what(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        if bytes.first == 0x20 { return "It has a space in it" }
        let rest = String(decoding: bytes, as: UTF8.self)
        return "It has '\(rest.prefix(1).description.printable)' in it"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The checked name of a suite of defaults, with its record.
///
/// A name is one segment of a record's name: letters, digits, `.`, `_`, `-`, not beginning with a dot, 200 bytes at
/// most. Identifiers of groups and programs are such names.
package struct DefaultsSuite: Hashable, Sendable {
    /// The prefix of the names of records that hold suites.
    package static let namePrefix = "\(RecordName.reservedSegment)/defaults/"

    /// The suite's name, as used by programs and people.
    package let name: String
    /// The record that holds it.
    package let recordName: RecordName

    /// - Throws: `StoreError` `.invalidName`.
    package init(_ name: String) throws(StoreError) {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { throw Self.invalid(name, "It has a slash.") }
        do throws(StoreError) { recordName = try RecordName(reserved: Self.namePrefix + name) } catch {
            throw Self.invalid(name, error.reason)
        }
        self.name = name
    }

    /// The suite that a record holds; nil for any other record.
    package init?(holding record: RecordName) {
        guard record.text.hasPrefix(Self.namePrefix) else { return nil }
        try? self.init(String(record.text.dropFirst(Self.namePrefix.count)))
    }

    private static func invalid(_ name: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidName, "use the suite name", name.printable, reason,
            advice: "Use a name like that of a group or a program: com.example.app.settings.")
    }
}

/// The places of a group's streams.
extension BlobContext {
    /// Creates the place of a stream.
    ///
    /// - Parameter name: The name that the stream is bound to. Nameless streams are bound to their group only: their
    ///   files may be moved, and exchanged for each other.
    package init(streamOf group: AppGroup, named name: String? = nil) {
        self.init(group: group.identifier, kind: .stream, name: name ?? "")
    }

    /// Creates the place of a stream whose name is not known: any stream of the group with this tag opens in it.
    package init(streamOf group: AppGroup, tagged nameTag: NameTag) {
        self.init(group: group.identifier, kind: .stream, nameTag: nameTag)
    }
}
