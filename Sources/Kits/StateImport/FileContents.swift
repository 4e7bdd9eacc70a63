internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles

/// The bytes that a sealed file gets: those of a source, or of an SQLite database with its write-ahead log.
final class FileContents: Sendable {
    let source: PlaintextSource
    let database: DatabaseFiles?

    init(of source: PlaintextSource, with database: DatabaseFiles?) {
        self.source = source
        self.database = database
    }

    /// The number of bytes.
    var size: Int64 { database?.log?.databaseSize ?? source.facts.size }

    /// The time of the last change, unless no record can state it.
    var modified: Date? {
        let date = Date(timeIntervalSince1970: Double(source.facts.modifiedNanoseconds) / 1e9)
        return DateText.string(from: date) == nil ? nil : date
    }

    /// Reads at an offset until the buffer is full or the contents end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
        do throws(FileError) {
            guard let log = database?.log else { return try source.descriptor.pread(into: buffer, at: offset) }
            return try log.read(into: buffer, at: offset, over: source.descriptor)
        } catch { throw StoreError(reading: error, source.name) }
    }

    /// Returns whether the contents have these bytes at an offset.
    func holds(_ bytes: [UInt8], at offset: Int64) throws(StoreError) -> Bool {
        var expected = PlaintextBuffer(count: bytes.count)
        let count = try expected.withUnsafeMutableBytes { buffer throws(StoreError) in
            try read(into: buffer, at: offset)
        }
        return count == bytes.count
            && expected.withUnsafeBytes { expected in bytes.withUnsafeBytes { ConstantTime.areEqual($0, expected) } }
    }

    /// Returns the contents of a database as they are now; `nil` for any other source.
    func reopened() throws(StoreError) -> FileContents? {
        guard let database else { return nil }
        let (source, again) = try database.reopened()
        return FileContents(of: source, with: again)
    }

    /// - Throws: `StoreError` `.sourceChanged` if a file was written since it was opened.
    func requireUnchanged() throws(StoreError) {
        try source.requireUnchanged()
        try database?.requireUnchanged()
    }
}
