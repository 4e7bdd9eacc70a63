import ContentDecoding
import Glibc
import SharedFiles
import TestSupport
import Testing

/// A value that a test inspects after the walk.
struct DatabaseValue: Hashable {
    var name: String?
    var text: String
    var presence: DecodedValue.Presence
    var trail: String
    var range: Range<Int64>?
    var kind: String

    init(_ leaf: DecodedValue) {
        name = leaf.name.map { String(decoding: $0, as: UTF8.self) }
        presence = leaf.presence
        trail = leaf.trail.text
        range = leaf.range
        (kind, text) =
            switch leaf.value {
            case .text(let bytes): ("text", String(decoding: bytes, as: UTF8.self))
            case .data(let bytes): ("data", String(decoding: bytes, as: UTF8.self))
            case .block(let bytes, _): ("block", String(decoding: bytes, as: UTF8.self))
            case .strings(let bytes): ("strings", String(decoding: bytes, as: UTF8.self))
            case .number(let number): ("number", "\(number)")
            case .flag(let flag): ("flag", "\(flag)")
            }
    }
}

/// The result of reading one file.
struct FileReading {
    var leaves: [DatabaseValue] = []
    var unread: [CarrierBudget.Unread] = []
    var fault: CarrierFault?

    /// Returns the values whose value is this.
    func exactly(_ text: String) -> [DatabaseValue] { leaves.filter { $0.text == text } }
    /// Returns the values that contain this text.
    func holding(_ text: String) -> [DatabaseValue] {
        let wanted = Array(text.utf8)
        return leaves.filter { leaf in
            var text = leaf.text
            return text.withUTF8 { Self.contains($0, wanted) }
        }
    }

    /// Returns whether the text contains the bytes. Fast without optimisation, because values have megabytes.
    private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ wanted: [UInt8]) -> Bool {
        guard var next = text.baseAddress else { return false }
        let end = next + text.count
        while end - next >= wanted.count, let found = memchr(next, Int32(wanted[0]), end - next) {
            next = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
            if end - next >= wanted.count, memcmp(next, wanted, wanted.count) == 0 { return true }
            next += 1
        }
        return false
    }
}

/// A directory in which Python makes databases.
final class DatabaseFolder: Sendable {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Runs a program with `db` connected to `app.db`. It ends without closing, so that logs and journals stay.
    func python(_ script: String, name: String = "app.db") throws {
        let program = """
            import sqlite3, os, json, plistlib, zlib
            db = sqlite3.connect('\(name)', isolation_level=None)
            db.execute('PRAGMA secure_delete = OFF')
            \(script)
            os._exit(0)
            """
        let result = try ChildProcess.run(Python.path, ["-c", program], directory: directory.path)
        #expect(result.exitCode == 0, "\(result.errorText)")
    }

    func read(_ name: String = "app.db", budget: CarrierBudget = CarrierBudget()) throws -> FileReading {
        try read(source(name), name: name, budget: budget)
    }

    func read(_ source: any ByteSource, name: String, budget: CarrierBudget = CarrierBudget()) throws -> FileReading {
        var reading = FileReading()
        let walk = ValueWalk(budget: budget) { reading.leaves.append(DatabaseValue($0)) }
        let input = CarrierInput(source, name: name) { [self] name in try? self.source(name) }
        do throws(CarrierFault) { try Carriers.read(input, as: Self.form(name), walk) } catch { reading.fault = error }
        reading.unread = budget.unread
        #expect(walk.trail.depth == 0)
        return reading
    }

    private static func form(_ name: String) -> CarrierForm {
        if name.hasSuffix("-wal") { return .sqliteLog }
        return name.hasSuffix("-journal") ? .sqliteJournal : .sqlite
    }

    func source(_ name: String) throws -> any ByteSource {
        try FileSource(Descriptor.openForReading(path: directory.path(name)))
    }

    func bytes(_ name: String = "app.db") throws -> [UInt8] { try SystemFile.read(directory.path(name)) }
}

/// A source that counts its reads.
final class CountingSource: ByteSource {
    private let source: any ByteSource
    private(set) var reads = 0

    init(_ source: any ByteSource) { self.source = source }

    var count: Int64 { source.count }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        reads += 1
        return try source.read(at: position, into: buffer)
    }

    func nextData(from position: Int64) -> Int64? { source.nextData(from: position) }
}
