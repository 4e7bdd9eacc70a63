internal import ContentDecoding
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Reads the contents of entries: of files, and of records in the container's database.
struct EntryContents: Sendable {
    let root: Directory
    let database: RecordDatabase?
    /// The largest record in bytes that is read from the database, which returns it whole.
    let largestRecord: Int

    init(of scope: AuditScope) {
        root = scope.root
        database = scope.database
        largestRecord = Int(clamping: scope.limits.maximumSealedBytes)
    }

    /// Returns at most `count` first bytes.
    func prefix(of entry: ContainerEntry, count: Int) throws(FileError) -> [UInt8] {
        guard entry.record != nil else { return try root.readPrefix(entry.path, count: count).bytes }
        return Array(try read(entry, limit: largestRecord).prefix(count))
    }

    /// Returns all bytes.
    ///
    /// - Throws: `FileError`: `.tooLarge` beyond the limit.
    func read(_ entry: ContainerEntry, limit: Int) throws(FileError) -> [UInt8] {
        guard let record = entry.record else { return try root.read(entry.path, limit: limit) }
        guard let database else { throw FileError(.notFound, operation: "read", path: entry.path) }
        return try database.blob(of: record, limit: limit)
    }

    /// Opens an entry for reads at any position.
    func source(of entry: ContainerEntry) throws(FileError) -> any ByteSource {
        guard entry.record != nil else { return try FileSource(root.openForReading(entry.path)) }
        return BytesSource(try read(entry, limit: largestRecord))
    }

    /// Opens an entry for one read from its beginning to its end.
    func stream(of entry: ContainerEntry) throws(FileError) -> StreamSource<FileError> {
        guard entry.record != nil else {
            let file = OpenFile(try root.openForReading(entry.path))
            return { buffer throws(FileError) in try file.descriptor.read(into: buffer) }
        }
        let bytes = SequentialBytes(try read(entry, limit: largestRecord))
        return { buffer throws(FileError) in bytes.read(into: buffer) }
    }
}

/// An open file that several threads read in turn.
private final class OpenFile: Sendable {
    let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}

/// Bytes that several threads read in turn, from the beginning to the end.
private final class SequentialBytes: Sendable {
    private let bytes: [UInt8]
    private let position = Mutex(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        position.withLock { position in
            let part = bytes[position...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            position += part.count
            return part.count
        }
    }
}

/// Bytes in memory.
private final class BytesSource: ByteSource {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int64 { Int64(bytes.count) }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard position >= 0, position < count else { return 0 }
        let part = bytes[Int(position)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}
