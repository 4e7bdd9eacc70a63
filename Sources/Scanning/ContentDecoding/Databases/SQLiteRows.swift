/// Hands out the values of records with names and positions.
struct SQLiteRows {
    let scan: SQLiteScan
    /// The size limit. Longer values are handed out in pieces and not examined for nested ones.
    private static let longestValue = 8 << 20
    private static let piece = 1 << 20
    /// The overlap of two pieces, so that a secret across their boundary is whole in one of them.
    private static let overlap = 8 << 10

    /// Reads the record of a cell.
    func read(
        _ cell: SQLiteCell, on page: SQLitePage, table: SQLiteTable?, presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        guard cell.overflow != nil else {
            guard let record = SQLiteRecord(page.bytes, at: cell.local.lowerBound, end: cell.local.upperBound) else {
                return noteRow(presence)
            }
            let body = cell.local.lowerBound + record.headerSize
            return try read(record, body: body, on: page, table: table, rowID: cell.rowID, presence: presence)
        }
        let chain = SQLiteChain(scan, cell, on: page, presence: presence)
        try read(chain, table: table, rowID: cell.rowID, presence: presence)
        if let (page, range) = chain.slack { try scan.leftover(range, of: page, presence: .freed) }
    }

    /// Reads a record that is stored on one page.
    func read(
        _ record: SQLiteRecord, body: Int, on page: SQLitePage, table: SQLiteTable?, rowID: Int64?,
        presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        let columns = RowColumns(table, name: name(of: record, body: body, page.bytes, table))
        try within(table, rowID, presence) { () throws(CarrierFault) in
            var start = body
            for (index, type) in record.types.enumerated() {
                let range = start..<start + type.size
                try page.bytes.lend(range) { bytes throws(CarrierFault) in
                    let value = Value(type: type, bytes: bytes, range: page.range(range), presence: presence)
                    try column(index, value, columns, rowID)
                }
                start += type.size
            }
        }
    }

    /// Reads a record that continues on overflow pages.
    private func read(
        _ chain: SQLiteChain, table: SQLiteTable?, rowID: Int64?, presence: DecodedValue.Presence
    ) throws(CarrierFault) {
        try chain.fill(9)
        let size = chain.available.varint(at: 0, end: 9).map { min($0.value, 1 << 18) } ?? 0
        try chain.fill(Int(size))
        guard let record = SQLiteRecord(chain.available, at: 0, end: Int(size)) else {
            noteRow(presence)
            return try chain.drain()
        }
        try chain.skip(record.headerSize)
        let columns = RowColumns(table, name: try name(of: record, chain, table))
        try within(table, rowID, presence) { () throws(CarrierFault) in
            for (index, type) in record.types.enumerated() {
                if type.size > Self.longestValue {
                    try pieces(chain, type, presence, columns[index])
                    continue
                }
                try chain.lend(type.size) { bytes throws(CarrierFault) in
                    let value = Value(type: type, bytes: bytes, range: nil, presence: presence)
                    try column(index, value, columns, rowID)
                }
                try chain.skip(type.size)
            }
        }
        try chain.drain()
    }

    private func noteRow(_ presence: DecodedValue.Presence) {
        if presence == .live { scan.walk.note(.malformed("a row whose sizes contradict each other")) }
    }

    /// Hands out a value that is too long for memory as running text.
    private func pieces(
        _ chain: SQLiteChain, _ type: SerialType, _ presence: DecodedValue.Presence, _ column: SQLiteColumn?
    ) throws(CarrierFault) {
        let depth = scan.walk.trail.depth
        if let column { scan.walk.trail.enter(.key(column.name)) }
        defer { scan.walk.trail.leave(to: depth) }
        scan.walk.note(.unsupported("a value is longer than 8 MiB; it was searched, but not decoded"))
        var left = type.size
        while left > 0 {
            var count = 0
            try chain.lend(min(Self.piece, left)) { bytes throws(CarrierFault) in
                count = bytes.count
                try scan.raw(bytes, range: nil, presence: presence)
            }
            let step = count == left ? count : count - Self.overlap
            if step <= 0 { return }
            try chain.skip(step)
            left -= step
        }
    }

    private func within(
        _ table: SQLiteTable?, _ rowID: Int64?, _ presence: DecodedValue.Presence,
        _ body: () throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let trail = scan.walk.trail
        let depth = trail.depth
        defer { trail.leave(to: depth) }
        if let table { trail.enter(table.step) }
        if let rowID { trail.enter(.words("row \(rowID)")) } else if presence == .freed { trail.enter(Self.freedRow) }
        try body()
    }

    private static let freedRow = ValuePath.Step.words("freed row")

    private func column(
        _ index: Int, _ value: SQLiteValue, _ columns: RowColumns, _ rowID: Int64?
    ) throws(CarrierFault) {
        let (table, column) = (columns.table, columns[index])
        if value.type.size == 0, value.type.kind == .null || value.type.kind == .text || value.type.kind == .blob {
            guard let rowID, column?.isRowID == true else { return }
            return try scan.leaf(.number(Double(rowID)), column, nil, value.presence)
        }
        if table?.isSchema == true, column?.isRunningText != true { return }
        try scan.value(value, column, in: table)
    }

    // MARK: Names that rows give their values

    private func name(
        of record: SQLiteRecord, body: Int, _ bytes: CarrierBytes, _ table: SQLiteTable?
    ) -> RowName? {
        guard let (place, isText) = Self.key(of: record, table) else { return nil }
        let range = body + place.lowerBound..<body + place.upperBound
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        return name(bytes.all[range], isText: isText)
    }

    /// Returns the row's name. The key may follow its value, but only within `furthestKey`.
    private func name(
        of record: SQLiteRecord, _ chain: SQLiteChain, _ table: SQLiteTable?
    ) throws(CarrierFault) -> RowName? {
        guard let (place, isText) = Self.key(of: record, table), place.upperBound <= Self.furthestKey else {
            return nil
        }
        return try chain.peek(place).flatMap { name($0[...], isText: isText) }
    }

    private static let furthestKey = 64 << 10
    /// The limit in bytes. UTF-16 uses two for each letter.
    private static let longestKey = 256

    /// Returns the position of the key among the values, and whether it is text rather than data that may be text.
    private static func key(of record: SQLiteRecord, _ table: SQLiteTable?) -> (place: Range<Int>, isText: Bool)? {
        guard let naming = table?.naming, let type = record.types.element(naming.key), 1...longestKey ~= type.size,
            type.kind == .text || type.kind == .blob
        else { return nil }
        let start = record.types[..<naming.key].reduce(0) { $0 + $1.size }
        return (start..<start + type.size, type.kind == .text)
    }

    private func name(_ key: ArraySlice<UInt8>, isText: Bool) -> RowName? {
        guard isText, scan.header.encoding != .utf8 else { return RowName(Array(key)) }
        return RowName(key.withUnsafeBytes { WideText.utf8($0, scan.header.encoding) })
    }

    private typealias Value = SQLiteValue
}

/// A value of a record and its position.
struct SQLiteValue {
    let type: SerialType
    let bytes: UnsafeRawBufferPointer
    /// The file range that contains the value.
    let range: Range<Int64>?
    let presence: DecodedValue.Presence
}

extension Array {
    /// Returns the element at an index, or `nil` if the index is out of range.
    func element(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

/// Conversion of text in UTF-16 databases.
enum WideText {
    /// Returns the text as UTF-8. Half a code unit at the end is dropped.
    static func utf8(_ bytes: UnsafeRawBufferPointer, _ encoding: SQLiteHeader.Encoding) -> [UInt8] {
        let high = encoding == .utf16Big ? 0 : 1
        let units = (0..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + 1 - high])
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        _ = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false) { text.append($0) }
        return text
    }
}
