/// The pages of a rollback journal (SQLite, "Database File Format", section 3).
struct SQLiteJournal {
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The part of the header that carries information. The header fills a sector.
    static let headSize = 28

    private let source: any ByteSource
    let pageSize: Int
    private let sectorSize: Int

    /// Creates a journal reader, or `nil` if the page size is unknown.
    ///
    /// - Parameter pageSize: The page size of the database, if the database exists.
    init?(_ source: any ByteSource, pageSize known: Int?) throws(CarrierFault) {
        let head = CarrierBytes(try source.bytes(at: 0, count: Self.headSize))
        self.source = source
        let isWhole = head.all.starts(with: Self.magic)
        let sector = isWhole ? Int(head.word(at: 20)) : 0
        sectorSize = sector >= 32 && sector <= 1 << 16 && sector & (sector - 1) == 0 ? sector : 512
        let written = isWhole ? SQLiteHeader.pageSize(head.word(at: 24) == 65536 ? 1 : Int(head.word(at: 24))) : nil
        var size = written ?? known
        if size == nil { size = try Self.guess(source, sectorSize) }
        guard let size else { return nil }
        pageSize = size
    }

    /// Guesses the page size. Each record's checksum is the journal's nonce plus the sum of some bytes, so two records
    /// give the same nonce only if the page size is right.
    private static func guess(_ source: any ByteSource, _ sectorSize: Int) throws(CarrierFault) -> Int? {
        for shift in 9...16 {
            let size = 1 << shift
            let first = try nonce(source, Int64(sectorSize), size)
            let second = try nonce(source, Int64(sectorSize + size + 8), size)
            if let first, first == second { return size }
        }
        return nil
    }

    private static func nonce(_ source: any ByteSource, _ position: Int64, _ size: Int) throws(CarrierFault) -> UInt32?
    {
        let record = CarrierBytes(try source.bytes(at: position, count: size + 8))
        guard record.count == size + 8, record.word(at: 0) != 0 else { return nil }
        let sum = stride(from: size - 200, to: 0, by: -200).reduce(UInt32(0)) { $0 &+ UInt32(record[4 + $1]) }
        return record.word(at: 4 + size) &- sum
    }

    /// Visits all records. Further headers begin at sector boundaries.
    func forEach(_ walk: ValueWalk, _ body: (UInt32, Int64) -> Void) throws(CarrierFault) {
        var (position, count) = (Int64(sectorSize), 0)
        let size = Int64(pageSize + 8)
        while position + size <= source.count, count < SQLiteLog.mostPages {
            try walk.budget.checkTime()
            guard let data = source.nextData(from: position) else { return }
            if data >= position + size { position += (data - position) / Int64(sectorSize) * Int64(sectorSize) }
            let page = CarrierBytes(try source.bytes(at: position, count: 8))
            if page.all == Self.magic || page.word(at: 0) == 0 {
                position = (position / Int64(sectorSize) + 1) * Int64(sectorSize)
                continue
            }
            body(page.word(at: 0), position + 4)
            (position, count) = (position + size, count + 1)
        }
    }
}

/// Reads a rollback journal, which contains pages as they were before the last transaction.
enum SQLiteJournalReader: CarrierReader {
    /// Returns whether first bytes and name are those of a rollback journal. A journal that is kept after its
    /// transaction has a header of zeros, so only the name identifies it.
    static func isJournal(_ head: [UInt8], name: String) -> Bool {
        head.starts(with: SQLiteJournal.magic)
            || name.hasSuffix(suffix) && head.count > SQLiteJournal.headSize
                && head.prefix(SQLiteJournal.headSize).allSatisfy { $0 == 0 }
    }

    private static let suffix = "-journal"

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
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
        // The schema before the transaction still contains a table that the transaction dropped.
        try scan.loadSchema()
        try scan.findOwners(of: Set(frames.map(\.page)))
        let replay = SQLiteReplay(scan: scan, shown: [:])
        for frame in frames {
            if let page = try scan.pages.stored(frame.page) { try replay.prime(page) }
        }
        try replay.read(frames)
    }
}
