/// The pages of a database as a program would see them: those of a log before those of the file.
final class SQLitePages {
    /// Which of the two files the caller reads: ranges are of that one.
    enum Subject { case database, log }

    private let database: (any ByteSource)?
    private let log: (any ByteSource)?
    private let subject: Subject
    let pageSize: Int
    /// Where in the log each page's version begins that counts now.
    var overlay: [UInt32: Int64] = [:]
    /// Pages that somebody owns already: each is read as part of one thing only, so that no cycle is followed.
    private var claimed = PageSet()

    init(database: (any ByteSource)?, log: (any ByteSource)?, subject: Subject, pageSize: Int) {
        self.database = database
        self.log = log
        self.subject = subject
        self.pageSize = pageSize
    }

    /// How many pages the database's own file has, a last one that was cut among them.
    var fileCount: UInt32 {
        let pages = ((database?.count ?? 0) + Int64(pageSize) - 1) / Int64(pageSize)
        return UInt32(clamping: pages)
    }

    /// The version that counts; nil where there is no such page.
    func page(_ number: UInt32) throws(CarrierFault) -> SQLitePage? {
        if let position = overlay[number] { return try logged(number, at: position) }
        return try stored(number)
    }

    /// The version of the database's own file.
    func stored(_ number: UInt32) throws(CarrierFault) -> SQLitePage? {
        guard let database, number > 0 else { return nil }
        let position = Int64(number - 1) * Int64(pageSize)
        let bytes = try database.bytes(at: position, count: pageSize)
        return page(number, bytes, at: subject == .database ? position : nil, isLogged: false)
    }

    /// A version in the log.
    func logged(_ number: UInt32, at position: Int64) throws(CarrierFault) -> SQLitePage? {
        guard let log else { return nil }
        let bytes = try log.bytes(at: position, count: pageSize)
        return page(number, bytes, at: subject == .log ? position : nil, isLogged: true)
    }

    private func page(_ number: UInt32, _ bytes: [UInt8], at position: Int64?, isLogged: Bool) -> SQLitePage? {
        if bytes.isEmpty { return nil }
        return SQLitePage(number: number, bytes: CarrierBytes(bytes), position: position, isLogged: isLogged)
    }

    /// Takes a page for one owner; false when it has one.
    func claim(_ number: UInt32) -> Bool { claimed.insert(number) }

    func isClaimed(_ number: UInt32) -> Bool { claimed.contains(number) }

    /// Nobody owns a page any more.
    func releaseAll() { claimed = PageSet() }

    /// The next page at or after this one that lies in the database's own file and not in a hole.
    func nextStored(from number: UInt32) -> UInt32? {
        guard let database, number > 0, number <= fileCount,
            let data = database.nextData(from: Int64(number - 1) * Int64(pageSize))
        else { return nil }
        return max(number, UInt32(clamping: data / Int64(pageSize) + 1))
    }
}

/// A page, as it lies in the database or in a log.
struct SQLitePage {
    let number: UInt32
    let bytes: CarrierBytes
    /// Where it begins in the file that is being read; nil where it comes from the file beside it.
    let position: Int64?
    /// Whether it is the version of a log.
    let isLogged: Bool

    /// The bytes of the file that a part of the page is; nil for what is not there.
    func range(_ part: Range<Int>) -> Range<Int64>? {
        if part.upperBound > bytes.count { return nil }
        return position.map { $0 + Int64(part.lowerBound)..<$0 + Int64(part.upperBound) }
    }
}

/// Bytes of a database, as many as were there. What lies outside of them reads as zero: a damaged page makes wrong values,
/// never a trap.
struct CarrierBytes {
    let all: [UInt8]

    init(_ all: [UInt8]) { self.all = all }

    var count: Int { all.count }

    subscript(index: Int) -> UInt8 { all.indices.contains(index) ? all[index] : 0 }

    /// Two bytes, the high one first.
    func short(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

    /// Four bytes, the high one first.
    func word(at index: Int) -> UInt32 {
        UInt32(short(at: index)) << 16 | UInt32(short(at: index + 2))
    }

    /// A number of one to nine bytes and where it ends (SQLite, "Database File Format", section 1.6); nil where the bytes end in it.
    func varint(at start: Int, end: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        var index = start
        while index < end, index < all.count, index >= 0 {
            let byte = all[index]
            index += 1
            if index - start == 9 { return (value << 8 | UInt64(byte), index) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return (value, index) }
        }
        return nil
    }

    /// Whether nothing but zeros is in the range.
    func isBlank(_ range: Range<Int>) -> Bool { range.allSatisfy { self[$0] == 0 } }

    /// Lends the bytes of a range, cut to what is there.
    func lend<Result>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(CarrierFault) -> Result
    ) throws(CarrierFault) -> Result {
        try all.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)]))
        }
    }
}
