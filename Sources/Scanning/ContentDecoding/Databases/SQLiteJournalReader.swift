/// Reads a rollback journal: pages as they were before the last transaction.
enum SQLiteJournalReader: CarrierReader {
    /// Whether first bytes and name are those of a rollback journal. One that is kept after its transaction has a head of
    /// zeros, so that only the name tells.
    static func isJournal(_ head: [UInt8], name: String) -> Bool {
        head.starts(with: SQLiteJournal.magic)
            || name.hasSuffix(suffix) && head.count > SQLiteJournal.headSize
                && head.prefix(SQLiteJournal.headSize).allSatisfy { $0 == 0 }
    }

    private static let suffix = "-journal"

    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let database = input.name.hasSuffix(suffix) ? input.sibling(String(input.name.dropLast(suffix.count))) : nil
        let stored = try database?.bytes(at: 0, count: SQLiteHeader.size)
        let known = stored.flatMap { try? SQLiteHeader($0) }
        guard let journal = try SQLiteJournal(input.source, pageSize: known?.pageSize) else {
            return try SQLiteLogReader.readUnknown(input, walk)
        }
        let pages = SQLitePages(
            database: database, log: input.source, subject: .log, pageSize: journal.pageSize)
        var frames: [(page: UInt32, position: Int64)] = []
        try journal.forEach(walk) { page, position in frames.append((page, position)) }
        for frame in frames.reversed() { pages.overlay[frame.page] = frame.position }
        guard let head = try pages.page(1).flatMap({ try? SQLiteHeader($0.bytes.all) }) ?? known,
            head.pageSize == journal.pageSize
        else { return try SQLiteLogReader.readUnknown(input, walk) }
        try read(frames, SQLiteScan(pages, head, form: .sqliteJournal, input, walk))
    }

    private static func read(
        _ frames: [(page: UInt32, position: Int64)], _ scan: SQLiteScan
    ) throws(CarrierFault) {
        // As it was before the transaction: a table that was dropped in it is among the others.
        try scan.loadSchema()
        try scan.findOwners(of: Set(frames.map(\.page)))
        let replay = SQLiteReplay(scan: scan, shown: [:])
        for frame in frames {
            if let page = try scan.pages.stored(frame.page) { try replay.prime(page) }
        }
        try replay.read(frames)
    }
}
