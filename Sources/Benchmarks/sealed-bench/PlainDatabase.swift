#if SQLite
import CBaseline

/// The peer of records in SQLite: a table of the same blobs, used from C.
final class PlainDatabase {
    private let database: OpaquePointer

    /// - Parameters:
    ///   - path: A path where no file is.
    ///   - isEncrypted: Uses SQLCipher.
    /// - Returns: nil if the database cannot be opened, or if SQLCipher is not installed.
    init?(_ path: String, isEncrypted: Bool = false) {
        guard let opened = cbaseline_database_open(path, isEncrypted ? 1 : 0) else { return nil }
        database = opened
    }

    deinit { cbaseline_database_close(database) }

    /// Inserts blobs in one transaction.
    func insert(_ blobs: [(name: String, bytes: [UInt8])]) throws {
        try require(cbaseline_database_begin(database))
        for blob in blobs {
            try require(cbaseline_database_insert(database, blob.name, blob.bytes, blob.bytes.count))
        }
        try require(cbaseline_database_commit(database))
    }

    /// Reads a blob and returns its size.
    @inline(never)
    func read(_ name: String) throws -> Int {
        var size = 0
        guard let blob = cbaseline_database_read(database, name, &size) else {
            throw BenchmarkFailure("the peer has no blob \(name)")
        }
        cbaseline_discard(blob)
        return size
    }

    /// Reads a blob, and writes other bytes of its size, in one transaction.
    @inline(never)
    func update(_ name: String) throws { try update([name]) }

    /// Reads blobs, and writes other bytes of their sizes, in one transaction.
    func update(_ names: [String]) throws {
        try require(cbaseline_database_begin(database))
        for name in names { try change(name) }
        try require(cbaseline_database_commit(database))
    }

    private func change(_ name: String) throws {
        var size = 0
        guard let blob = cbaseline_database_read(database, name, &size) else {
            throw BenchmarkFailure("the peer has no blob \(name)")
        }
        defer { cbaseline_discard(blob) }
        for index in 0..<size { blob[index] = ~blob[index] }
        try require(cbaseline_database_update(database, name, blob, size))
    }

    /// Returns the number of names with a prefix of ASCII characters.
    @inline(never)
    func list(_ prefix: String, limit: Int) -> Int {
        Int(cbaseline_database_list(database, prefix, prefix + "\u{7F}", Int32(limit)))
    }

    func setDurable(_ isDurable: Bool) throws {
        try require(cbaseline_database_set_durable(database, isDurable ? 1 : 0))
    }

    private func require(_ result: Int32) throws {
        if result != 0 { throw BenchmarkFailure("the peer's database failed") }
    }
}
#endif
