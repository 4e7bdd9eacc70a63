/// The pages of a database as a program would see them: pages of a log take precedence over those of the file.
final class SQLitePages {
    /// The file that the caller reads. Ranges refer to this file.
    enum Subject { case database, log }

    private let database: (any ByteSource)?
    private let log: (any ByteSource)?
    private let subject: Subject
    let pageSize: Int
    /// The offset in the log of each page's current version.
    var overlay: [UInt32: Int64] = [:]
    /// Pages that have an owner. Each page is read as part of one structure only, so cycles are not followed.
    private var claimed = PageSet()

    init(database: (any ByteSource)?, log: (any ByteSource)?, subject: Subject, pageSize: Int) {
        self.database = database
        self.log = log
        self.subject = subject
        self.pageSize = pageSize
    }

    /// The number of pages in the database's own file, including a truncated last page.
    var fileCount: UInt32 {
        let pages = ((database?.count ?? 0) + Int64(pageSize) - 1) / Int64(pageSize)
        return UInt32(clamping: pages)
    }

    /// Returns the current version of a page, or `nil` if the page does not exist.
    func page(_ number: UInt32) throws(CarrierFault) -> SQLitePage? {
        if let position = overlay[number] { return try logged(number, at: position) }
        return try stored(number)
    }

    /// Returns the version of a page in the database's own file.
    func stored(_ number: UInt32) throws(CarrierFault) -> SQLitePage? {
        guard let database, number > 0 else { return nil }
        let position = Int64(number - 1) * Int64(pageSize)
        let bytes = try database.bytes(at: position, count: pageSize)
        return page(number, bytes, at: subject == .database ? position : nil, isLogged: false)
    }

    /// Returns a version of a page in the log.
    func logged(_ number: UInt32, at position: Int64) throws(CarrierFault) -> SQLitePage? {
        guard let log else { return nil }
        let bytes = try log.bytes(at: position, count: pageSize)
        return page(number, bytes, at: subject == .log ? position : nil, isLogged: true)
    }

    private func page(_ number: UInt32, _ bytes: [UInt8], at position: Int64?, isLogged: Bool) -> SQLitePage? {
        if bytes.isEmpty { return nil }
        return SQLitePage(number: number, bytes: CarrierBytes(bytes), position: position, isLogged: isLogged)
    }

    /// Claims a page for one owner, or returns `false` if it has one.
    func claim(_ number: UInt32) -> Bool { claimed.insert(number) }

    func isClaimed(_ number: UInt32) -> Bool { claimed.contains(number) }

    /// Releases the claims on all pages.
    func releaseAll() { claimed = PageSet() }

    /// Returns the next page at or after this one that the database's own file stores outside a hole.
    func nextStored(from number: UInt32) -> UInt32? {
        guard let database, number > 0, number <= fileCount,
            let data = database.nextData(from: Int64(number - 1) * Int64(pageSize))
        else { return nil }
        return max(number, UInt32(clamping: data / Int64(pageSize) + 1))
    }
}

/// A page of the database or of a log.
struct SQLitePage {
    let number: UInt32
    let bytes: CarrierBytes
    /// The offset in the file that is being read, or `nil` if the page comes from the other file.
    let position: Int64?
    /// True if the page comes from a log.
    let isLogged: Bool

    /// Returns the file range of a part of the page, or `nil` if the file does not contain it.
    func range(_ part: Range<Int>) -> Range<Int64>? {
        if part.upperBound > bytes.count { return nil }
        return position.map { $0 + Int64(part.lowerBound)..<$0 + Int64(part.upperBound) }
    }
}

/// The available bytes of a page or record. Bytes out of range read as zero: a damaged page gives wrong values, never a
/// trap.
struct CarrierBytes {
    let all: [UInt8]

    init(_ all: [UInt8]) { self.all = all }

    var count: Int { all.count }

    subscript(index: Int) -> UInt8 { all.indices.contains(index) ? all[index] : 0 }

    /// Returns two bytes as a big-endian number.
    func short(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

    /// Returns four bytes as a big-endian number.
    func word(at index: Int) -> UInt32 {
        UInt32(short(at: index)) << 16 | UInt32(short(at: index + 2))
    }

    /// Returns a number of one to nine bytes and its end (SQLite, "Database File Format", section 1.6), or `nil` if the
    /// bytes are cut off inside it.
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

    /// Returns whether the range contains only zeros.
    func isBlank(_ range: Range<Int>) -> Bool { range.allSatisfy { self[$0] == 0 } }

    /// Lends the bytes of a range, clamped to the available bytes.
    func lend<Result>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(CarrierFault) -> Result
    ) throws(CarrierFault) -> Result {
        try all.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)]))
        }
    }
}
