/// The pages of a rollback journal (SQLite, "Database File Format", section 3).
struct SQLiteJournal {
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// As much of the head as says something; it fills a sector.
    static let headSize = 28

    private let source: any ByteSource
    let pageSize: Int
    private let sectorSize: Int

    /// Nil where nothing tells how long a page is.
    ///
    /// - Parameter pageSize: The database's, if it is there.
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

    /// Each record's check sum is a number of the whole journal and the sum of some bytes: it is the same number in two records
    /// only with the right size.
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

    /// Goes through all records; further heads stand where a sector begins.
    func forEach(_ walk: LeafWalk, _ body: (UInt32, Int64) -> Void) throws(CarrierFault) {
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
