/// Reads a SQLite database without opening it: no lock, no recovery, no SQL executed, no writes (decision 0017).
///
/// Rows that a program would see, including changes in a log beside the database, are live. Other rows that pages and
/// free space still contain are freed.
enum SQLiteReader: CarrierReader {
    /// Returns whether the first bytes are those of a database.
    static func isDatabase(_ head: [UInt8]) -> Bool { head.starts(with: SQLiteHeader.magic) }

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: SQLiteHeader.size + 8)
        let stored = try SQLiteHeader(head)
        guard SQLiteTreePage.Kind(rawValue: CarrierBytes(head)[SQLiteHeader.size]) != nil else {
            throw SQLiteHeader.layoutFault(reserved: head[20])
        }
        let log = input.name.isEmpty ? nil : input.sibling(input.name + "-wal")
        let pages = SQLitePages(database: input.source, log: log, subject: .database, pageSize: stored.pageSize)
        if let log { pages.overlay = try overlay(log, stored, walk) }
        let newest = try pages.page(1).flatMap { try? SQLiteHeader($0.bytes.all) } ?? stored
        guard newest.pageSize == stored.pageSize else { throw .malformed("a log of another database") }
        try read(SQLiteScan(pages, newest, form: .sqlite, input, walk))
    }

    private static func read(_ scan: SQLiteScan) throws(CarrierFault) {
        try scan.loadSchema()
        try scan.rememberStoredSchema()
        for table in scan.schema.tables where table.root > 0 {
            let depth = scan.walk.trail.depth
            try scan.visitNames(of: table)
            try scan.walkTree(table.root, of: table)
            scan.walk.trail.leave(to: depth)
        }
        let (free, lists) = try scan.freePages()
        try scan.readGaps()
        try scan.readFreeSchema(free)
        try scan.findFormerOwners(free, lists)
        try scan.readLists(lists)
        try scan.readFree(free)
        try scan.readLost(besides: free)
        try scan.readReplaced()
    }

    private static func overlay(
        _ log: any ByteSource, _ header: SQLiteHeader, _ walk: ValueWalk
    ) throws(CarrierFault) -> [UInt32: Int64] {
        guard let frames = try SQLiteLog(log) else { return [:] }
        guard frames.pageSize == header.pageSize else {
            walk.note(.malformed("a log of another database"))
            return [:]
        }
        return try frames.newest(walk)
    }
}

/// The first 100 bytes of a database (SQLite, "Database File Format", section 1.3), as far as the reader needs them.
struct SQLiteHeader {
    static let size = 100
    static let magic = Array("SQLite format 3\0".utf8)

    enum Encoding: UInt32 { case utf8 = 1, utf16Little, utf16Big }

    let pageSize: Int
    /// The number of bytes of a page that the tree may use. The rest belongs to an extension, such as a page's
    /// authentication code.
    let usable: Int
    let encoding: Encoding
    let firstFreePage: UInt32
    /// The schema's version, which changes with every schema change.
    let schemaCookie: UInt32
    /// True if the file contains pointer map pages.
    let hasPointerMaps: Bool

    init(_ head: [UInt8]) throws(CarrierFault) {
        let bytes = CarrierBytes(head)
        guard head.count >= Self.size, head.starts(with: Self.magic) else {
            throw .malformed("it does not begin with a database header")
        }
        guard let size = Self.pageSize(bytes.short(at: 16)) else { throw .malformed("an invalid page size") }
        pageSize = size
        usable = size - Int(bytes[20])
        guard bytes[21] == 64, bytes[22] == 32, bytes[23] == 32, usable >= 480,
            [0, 1, 2, 3].contains(bytes.word(at: 56))
        else { throw Self.layoutFault(reserved: bytes[20]) }
        encoding = Encoding(rawValue: bytes.word(at: 56)) ?? .utf8
        firstFreePage = bytes.word(at: 32)
        schemaCookie = bytes.word(at: 40)
        hasPointerMaps = bytes.word(at: 52) != 0
    }

    /// Returns the page size for a header value. 1 means 65536, which two bytes cannot hold.
    static func pageSize(_ written: Int) -> Int? {
        let size = written == 1 ? 65536 : written
        return size >= 512 && size <= 65536 && size & (size - 1) == 0 ? size : nil
    }

    /// Returns the fault for an invalid header. Page encryption keeps at most the first bytes readable and reserves
    /// space for a code in each page.
    static func layoutFault(reserved: UInt8) -> CarrierFault {
        reserved >= 16 ? .unsupported("its pages are encrypted") : .malformed("a header that contradicts itself")
    }

    /// The page that contains the lock bytes and never any data.
    var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize + 1) }

    /// Returns whether a page is a pointer map page, which contains no values.
    func isPointerMap(_ number: UInt32) -> Bool {
        guard hasPointerMaps, number >= 2 else { return false }
        let (stride, past) = (UInt32(usable / 5 + 1), (number - 2))
        let nominal = past / stride * stride + 2
        // If the pointer map would be on the lock page, it moves to the next one.
        return number == (nominal == lockPage ? nominal + 1 : nominal)
    }
}
