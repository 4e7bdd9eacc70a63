/// Searches the free space of a page for rows and hands out the remaining bytes as strings. Every byte is handed out as
/// one or the other, so a row that is not recognised is still searched.
struct SQLiteCarver {
    let scan: SQLiteScan
    let page: SQLitePage
    let owner: SQLiteTable?
    let version: SQLiteScan.Version
    /// The cells that the page still contains. Copies of them are not reported.
    private let cells: [SQLiteCell]
    private let kind: SQLiteTreePage.Kind
    private let freeblocks: [Int: Int]

    private var bytes: CarrierBytes { page.bytes }
    private var isTable: Bool { kind == .leafTable }

    /// Creates a carver for the gaps of a b-tree page.
    init(
        scan: SQLiteScan, tree: SQLiteTreePage, owner: SQLiteTable?, cells: [SQLiteCell], version: SQLiteScan.Version
    ) {
        (self.scan, page, self.owner, self.cells, self.version) = (scan, tree.page, owner, cells, version)
        // An interior page may have been a leaf before.
        kind = tree.kind == .leafTable || tree.kind == .interiorTable ? .leafTable : .leafIndex
        freeblocks = Dictionary(
            tree.freeblocks(usable: scan.usable).map { ($0.start, $0.size) }, uniquingKeysWith: { first, _ in first })
    }

    /// Creates a carver for a page whose header is lost.
    init(scan: SQLiteScan, page: SQLitePage, owner: SQLiteTable?) {
        (self.scan, self.page, self.owner, cells, version) = (scan, page, owner, [], .freed)
        (kind, freeblocks) = (.leafTable, [:])
    }

    /// Searches one gap.
    func carve(_ gap: Range<Int>) throws(CarrierFault) {
        var (index, floor) = (gap.lowerBound, gap.lowerBound)
        while index < gap.upperBound {
            // Bytes crafted to look like many rows cost much time, so the time limit is checked here.
            if index % 256 == 0 { try scan.walk.budget.checkTime() }
            guard let found = find(at: index, limit: gap.upperBound) else {
                index += 1
                continue
            }
            try leftover(floor..<index)
            try handOut(found)
            (index, floor) = (found.end, found.end)
        }
        try leftover(floor..<gap.upperBound)
    }

    /// A row in free space.
    private struct Found {
        let record: SQLiteRecord
        let body: Int
        let rowID: Int64?
        let start: Int
        let end: Int
        /// The cell, if the record continues on other pages.
        let cell: SQLiteCell?
    }

    private func find(at index: Int, limit: Int) -> Found? {
        if owner?.isSchema == true {
            if let found = whole(at: index, limit: limit) ?? definition(at: index, limit: limit) { return found }
            // The size checks below would take the first of several definitions for all of them.
            if (4...6).contains(where: { definition(at: index + $0, limit: limit) != nil }) { return nil }
        }
        if !freeblocks.isEmpty, let size = freeblocks[index],
            let found = headless(index..<min(index + size, limit))
        {
            return found
        }
        return whole(at: index, limit: limit) ?? formerlyFree(at: index, limit: limit)
    }

    /// Returns the row in a former freeblock that was merged with the space around it: the freeblock's header is still
    /// there.
    private func formerlyFree(at index: Int, limit: Int) -> Found? {
        let (next, size) = (bytes.short(at: index), bytes.short(at: index + 2))
        guard size >= 8, index + size <= limit, next == 0 || next > index,
            let found = headless(index..<index + size), found.end == index + size
        else { return nil }
        return found
    }

    private func whole(at index: Int, limit: Int) -> Found? {
        if bytes[index] == 0 { return nil }
        guard let cell = SQLiteCell(bytes, at: index, kind: kind, usable: scan.usable), cell.end <= limit,
            let shape = SQLiteRecord.shape(bytes, at: cell.local.lowerBound, end: cell.local.upperBound),
            shape.size == cell.size,
            let record = SQLiteRecord(bytes, at: cell.local.lowerBound, end: cell.local.upperBound)
        else { return nil }
        let body = cell.local.lowerBound + record.headerSize
        guard isPlausible(record, at: body, end: cell.local.upperBound) else { return nil }
        return Found(
            record: record, body: body, rowID: cell.rowID, start: index, end: cell.end,
            cell: cell.overflow == nil ? nil : cell)
    }

    /// Returns the remains of a deleted schema row, from the type of its second value on. The block around it may have
    /// been merged with others, so its size is not usable. A table's definition has the two words `table` and `CREATE`
    /// at known positions instead.
    private func definition(at index: Int, limit: Int) -> Found? {
        guard bytes[index] > 12, let type = SerialType(scan.header.encoding == .utf8 ? 23 : 33),
            let (rest, body) = types(4, from: index, end: limit), rest[0].kind == .text, rest[3].kind == .text
        else { return nil }
        let record = SQLiteRecord(types: [type] + rest, headerSize: 0)
        let end = body + record.bodySize
        guard end <= limit, isText("table", at: body), isText("CREATE", at: end - rest[3].size) else { return nil }
        return Found(record: record, body: body, rowID: nil, start: index, end: end, cell: nil)
    }

    private func isText(_ text: String, at start: Int) -> Bool {
        let (width, low) = scan.header.encoding == .utf8 ? (1, 0) : (2, scan.header.encoding == .utf16Big ? 1 : 0)
        return text.utf8.enumerated().allSatisfy { bytes[start + $0 * width + low] == $1 }
    }

    // MARK: Rows whose first four bytes became part of the list of free blocks

    private func headless(_ block: Range<Int>) -> Found? {
        guard isTable, let columns = owner?.columns, !columns.isEmpty, block.count > 4 else { return nil }
        return withHead(block, columns.count) ?? withTypes(block, columns) ?? withoutFirstType(block, columns)
    }

    /// Finds a record whose header is whole: only size and row id were overwritten by the freeblock's four bytes, and
    /// perhaps a few bytes more.
    private func withHead(_ block: Range<Int>, _ columns: Int) -> Found? {
        for start in block.lowerBound + 4..<min(block.lowerBound + 13, block.upperBound) {
            guard let shape = SQLiteRecord.shape(bytes, at: start, end: block.upperBound), shape.count == columns,
                let cell = SQLiteCell(
                    bytes, record: start, size: shape.size, isTable: true, usable: scan.usable, limit: block.upperBound),
                let record = SQLiteRecord(bytes, at: start, end: block.upperBound),
                isPlausible(record, at: start + record.headerSize, end: cell.local.upperBound)
            else { continue }
            return Found(
                record: record, body: start + record.headerSize, rowID: nil, start: block.lowerBound, end: cell.end,
                cell: cell.overflow == nil ? nil : cell)
        }
        return nil
    }

    /// Finds a record whose header size was in the fourth byte.
    private func withTypes(_ block: Range<Int>, _ columns: [SQLiteColumn]) -> Found? {
        guard let (types, body) = types(columns.count, from: block.lowerBound + 4, end: block.upperBound) else {
            return nil
        }
        return found(SQLiteRecord(types: types, headerSize: 0), body: body, block)
    }

    /// Finds a record whose first serial type was in the fourth byte. The block's size gives the length of the first
    /// value.
    private func withoutFirstType(_ block: Range<Int>, _ columns: [SQLiteColumn]) -> Found? {
        guard let (rest, body) = types(columns.count - 1, from: block.lowerBound + 4, end: block.upperBound) else {
            return nil
        }
        let length = block.upperBound - body - rest.reduce(0) { $0 + $1.size }
        guard length >= 0 || columns[0].isRowID, let first = Self.type(of: columns[0], length: length) else {
            return nil
        }
        return found(SQLiteRecord(types: [first] + rest, headerSize: 0), body: body, block)
    }

    private func found(_ record: SQLiteRecord, body: Int, _ block: Range<Int>) -> Found? {
        let end = body + record.bodySize
        guard end <= block.upperBound, isPlausible(record, at: body, end: end) else { return nil }
        return Found(record: record, body: body, rowID: nil, start: block.lowerBound, end: end, cell: nil)
    }

    private static func type(of column: SQLiteColumn, length: Int) -> SerialType? {
        if column.isRowID || length == 0 { return SerialType(0) }
        if column.affinity == .integer { return SerialType([1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6][length] ?? 10) }
        return SerialType(UInt64(length) * 2 + (column.affinity == .blob ? 12 : 13))
    }

    private func types(_ count: Int, from start: Int, end: Int) -> (types: [SerialType], body: Int)? {
        var (types, index) = ([SerialType](), start)
        while types.count < count {
            guard let (code, next) = bytes.varint(at: index, end: end), let type = SerialType(code) else { return nil }
            types.append(type)
            index = next
        }
        return (types, index)
    }

    // MARK: Telling rows from chance

    private func isPlausible(_ record: SQLiteRecord, at body: Int, end: Int) -> Bool {
        let isOwners = owner.map { suits(record.types, $0) } ?? false
        let hasText = record.types.contains { $0.kind == .text && $0.size >= 4 }
        guard isOwners || record.types.count >= 2 && hasText else { return false }
        var start = body
        for type in record.types {
            let next = min(start + type.size, max(start, end))
            if type.kind == .text, !isText(start..<next) { return false }
            start = next
        }
        return true
    }

    /// Returns whether the types fit the table. A few numbers alone are too weak as evidence.
    private func suits(_ types: [SerialType], _ table: SQLiteTable) -> Bool {
        guard table.suits(types) != nil else { return false }
        return types.count == table.columns.count && types.contains { $0.size > 0 }
            || types.contains { $0.kind == .text && $0.size > 0 }
    }

    private func isText(_ range: Range<Int>) -> Bool {
        guard range.upperBound <= bytes.count, range.lowerBound <= range.upperBound else { return false }
        let part = bytes.all[range]
        if scan.header.encoding != .utf8 { return part.count % 2 == 0 }
        if part.contains(where: { $0 < 0x20 && !(0x09...0x0D ~= $0) }) { return false }
        // A text that continues on another page may be cut inside a character.
        return range.count > 64 || String(validating: part, as: UTF8.self) != nil
    }

    // MARK: Handing out

    private func handOut(_ found: Found) throws(CarrierFault) {
        let range = found.start..<found.end
        if cells.contains(where: { isSame($0.start..<$0.end, range) }) { return }
        if version != .live, version != .freed, !scan.seen.insert(bytes, range) { return }
        let table = scan.owner(of: found.record.types, kind: kind, near: owner)
        if table?.isSchema != false { scan.keepDefinition(found.record, body: found.body, on: page) }
        let rows = SQLiteRows(scan: scan)
        guard let cell = found.cell else {
            return try rows.read(
                found.record, body: found.body, on: page, table: table, rowID: found.rowID, presence: version.ofGaps)
        }
        try rows.read(cell, on: page, table: table, presence: version.ofGaps)
    }

    private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.count == other.count
            && bytes.all[one.clamped(to: 0..<bytes.count)] == bytes.all[other.clamped(to: 0..<bytes.count)]
    }

    private func leftover(_ range: Range<Int>) throws(CarrierFault) {
        if range.isEmpty { return }
        let trail = scan.walk.trail
        let depth = trail.depth
        if let owner { trail.enter(owner.step) }
        defer { trail.leave(to: depth) }
        try scan.leftover(range, of: page, presence: version.ofGaps)
    }
}
