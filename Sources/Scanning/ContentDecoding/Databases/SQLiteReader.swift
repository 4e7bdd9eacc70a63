/// Reads a SQLite database without opening it: no lock, no recovery, nothing executed, nothing written (decision 0017).
///
/// Rows as a program would see them, with what a log beside the database changes, are live; what pages and free space still
/// hold of others is freed.
enum SQLiteReader: CarrierReader {
    /// Whether the first bytes are those of a database.
    static func isDatabase(_ head: [UInt8]) -> Bool { head.starts(with: SQLiteHeader.magic) }

    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: SQLiteHeader.size + 8)
        let stored = try SQLiteHeader(head)
        guard SQLiteTreePage.Kind(rawValue: CarrierBytes(head)[SQLiteHeader.size]) != nil else {
            throw SQLiteHeader.oddity(reserved: head[20])
        }
        let log = input.name.isEmpty ? nil : input.sibling(input.name + "-wal")
        let pages = SQLitePages(database: input.source, log: log, subject: .database, pageSize: stored.pageSize)
        if let log { pages.overlay = try overlay(log, stored, walk) }
        let newest = try pages.page(1).flatMap { try? SQLiteHeader($0.bytes.all) } ?? stored
        guard newest.pageSize == stored.pageSize else { throw .malformed("a log of another database beside it") }
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
        _ log: any ByteSource, _ header: SQLiteHeader, _ walk: LeafWalk
    ) throws(CarrierFault) -> [UInt32: Int64] {
        guard let frames = try SQLiteLog(log) else { return [:] }
        guard frames.pageSize == header.pageSize else {
            walk.note(.malformed("a log of another database beside it"))
            return [:]
        }
        return try frames.newest(walk)
    }
}
