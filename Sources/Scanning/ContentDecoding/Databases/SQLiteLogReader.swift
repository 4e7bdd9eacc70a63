/// Reads the contents of a write-ahead log that its database does not show.
///
/// If the database exists, its own reader hands out the newest version of each page. This reader hands out only earlier
/// versions and those of transactions that never ended.
enum SQLiteLogReader: CarrierReader {
    /// Returns whether the first bytes are those of a write-ahead log. The name `X-wal` is not considered.
    static func isLog(_ head: [UInt8]) -> Bool {
        head.starts(with: [0x37, 0x7F, 0x06, 0x82]) || head.starts(with: [0x37, 0x7F, 0x06, 0x83])
    }

    private static let suffix = "-wal"

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        guard let log = try SQLiteLog(input.source) else { throw .malformed("a log's header that contradicts itself") }
        let newest = try log.newest(walk)
        let database = input.name.hasSuffix(suffix) ? input.sibling(String(input.name.dropLast(suffix.count))) : nil
        let pages = SQLitePages(database: database, log: input.source, subject: .log, pageSize: log.pageSize)
        pages.overlay = newest
        guard let head = try pages.page(1).flatMap({ try? SQLiteHeader($0.bytes.all) }), head.pageSize == log.pageSize
        else { return try readUnknown(input, walk) }
        let scan = SQLiteScan(pages, head, form: .sqliteLog, input, walk)
        try scan.loadSchema()
        try scan.rememberStoredSchema()
        try rememberSchemas(log, scan)
        try scan.findOwners(of: Set(newest.keys))
        // Without the database, no other reader shows the current pages.
        let replay = SQLiteReplay(scan: scan, shown: database == nil ? [:] : newest)
        for (number, position) in newest where database != nil {
            if let page = try pages.logged(number, at: position) { try replay.prime(page) }
        }
        try replayAll(log, replay, walk)
    }

    /// Reads a log as unknown bytes. Without the first page of a database, the meaning of the other pages is unknown.
    static func readUnknown(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        try walk.part(at: 0, presence: .logged) { () throws(CarrierFault) in try BinaryReader.read(input, walk) }
    }

    /// Records the schemas in earlier versions of the first page, which contain tables that later versions drop.
    private static func rememberSchemas(_ log: SQLiteLog, _ scan: SQLiteScan) throws(CarrierFault) {
        var known: Set = [scan.header.schemaCookie]
        try log.forEach(scan.walk) { frame throws(CarrierFault) in
            guard frame.page == 1, known.count < mostSchemas, let page = try scan.pages.logged(1, at: frame.position),
                let header = try? SQLiteHeader(page.bytes.all), known.insert(header.schemaCookie).inserted
            else { return }
            try scan.rememberSchema(on: page)
        }
    }

    private static let mostSchemas = 256

    private static func replayAll(
        _ log: SQLiteLog, _ replay: SQLiteReplay, _ walk: ValueWalk
    ) throws(CarrierFault) {
        replay.scan.pages.overlay = [:]
        var (transaction, wasValid) = ([(page: UInt32, position: Int64)](), true)
        try log.forEach(walk) { frame throws(CarrierFault) in
            if wasValid, !frame.isValid {
                try replay.read(transaction)
                // Frames from an earlier use of the log belong to other versions of the pages around them.
                replay.scan.pages.overlay = [:]
                transaction = []
            }
            wasValid = frame.isValid
            guard frame.page > 0 else { return }
            transaction.append((frame.page, frame.position))
            guard frame.endsTransaction || transaction.count >= SQLiteLog.mostPages else { return }
            try replay.read(transaction)
            transaction.removeAll(keepingCapacity: true)
        }
        try replay.read(transaction)
    }
}

/// Visits page versions of a log or a journal, transaction by transaction, and hands out the values that no newer
/// version shows.
struct SQLiteReplay {
    let scan: SQLiteScan
    /// The versions that the database shows and hands out itself.
    let shown: [UInt32: Int64]

    /// Records the cells that the database shows on the same pages.
    func prime(_ page: SQLitePage) throws(CarrierFault) {
        guard let tree = SQLiteTreePage(page, usable: scan.usable), tree.kind.holdsRecords else { return }
        for cell in try scan.cells(of: tree, .freed) { _ = scan.seen.insert(page.bytes, cell.start..<cell.end) }
    }

    /// Hands out the pages of one transaction. Long values are read from the pages as they were at its end.
    func read(_ frames: [(page: UInt32, position: Int64)]) throws(CarrierFault) {
        for frame in frames { scan.pages.overlay[frame.page] = frame.position }
        scan.pages.releaseAll()
        var rest: [(page: UInt32, position: Int64)] = []
        for frame in frames where shown[frame.page] != frame.position {
            guard let page = try scan.pages.logged(frame.page, at: frame.position) else { continue }
            if let tree = SQLiteTreePage(page, usable: scan.usable) {
                try scan.read(tree, owner: scan.owners[frame.page], as: .logged)
            } else {
                rest.append(frame)
            }
        }
        for frame in rest where !scan.pages.isClaimed(frame.page) && !scan.header.isPointerMap(frame.page) {
            guard let page = try scan.pages.logged(frame.page, at: frame.position) else { continue }
            try scan.leftover(0..<scan.usable, of: page, presence: .logged)
        }
    }
}
