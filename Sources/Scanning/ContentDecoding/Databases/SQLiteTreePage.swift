/// A page of a b-tree (SQLite, "Database File Format", section 1.6).
struct SQLiteTreePage {
    enum Kind: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13

        var isLeaf: Bool { self == .leafIndex || self == .leafTable }
        /// True if the cells contain records.
        var holdsRecords: Bool { self != .interiorTable }
    }

    let page: SQLitePage
    let kind: Kind
    let cellCount: Int
    /// The offset of the cell pointer array.
    let cellPointers: Int
    private let start: Int

    /// Creates a tree page, or `nil` if the page is not a b-tree page.
    init?(_ page: SQLitePage, usable: Int) {
        start = page.number == 1 ? SQLiteHeader.size : 0
        guard let kind = Kind(rawValue: page.bytes[start]) else { return nil }
        self.page = page
        self.kind = kind
        cellCount = page.bytes.short(at: start + 3)
        cellPointers = start + (kind.isLeaf ? 8 : 12)
        // A page of garbage may begin with a valid byte.
        guard cellPointers + 2 * cellCount <= usable, page.bytes[start + 7] <= 60 else { return nil }
    }

    /// The end of the cell pointer array.
    var cellPointersEnd: Int { cellPointers + 2 * cellCount }

    /// Returns the offset of a cell.
    func cellStart(_ index: Int) -> Int { page.bytes.short(at: cellPointers + 2 * index) }

    /// The last child of an interior page.
    var rightChild: UInt32 { page.bytes.word(at: start + 8) }

    /// Returns the freeblocks in the page's list. The first four bytes of each are lost.
    func freeblocks(usable: Int) -> [(start: Int, size: Int)] {
        var blocks: [(start: Int, size: Int)] = []
        var next = page.bytes.short(at: start + 1)
        var floor = cellPointersEnd
        // The list is ascending. Anything else is damage or a cycle.
        while next >= floor, next + 4 <= usable {
            let size = page.bytes.short(at: next + 2)
            guard size >= 4, next + size <= usable else { break }
            blocks.append((next, size))
            floor = next + size
            next = page.bytes.short(at: next)
        }
        return blocks
    }
}

/// A cell of a b-tree page, with the position of its record or the record's first part.
struct SQLiteCell {
    /// The left subtree; only in interior pages.
    let child: UInt32?
    /// The row id; only in tables with row ids.
    let rowID: Int64?
    /// The number of bytes of the record.
    let size: Int
    /// The part of the record on this page.
    let local: Range<Int>
    /// The first overflow page, or `nil` if the record is whole.
    let overflow: UInt32?
    let start: Int
    let end: Int

    /// Parses a cell, or returns `nil` if the bytes cannot be one.
    init?(_ bytes: CarrierBytes, at start: Int, kind: SQLiteTreePage.Kind, usable: Int) {
        var index = start
        child = kind.isLeaf ? nil : bytes.word(at: index)
        if !kind.isLeaf { index += 4 }
        var size = 0
        if kind.holdsRecords {
            guard let (value, end) = bytes.varint(at: index, end: usable), value < 1 << 31 else { return nil }
            (size, index) = (Int(value), end)
        }
        if kind == .leafTable || kind == .interiorTable {
            guard let (value, end) = bytes.varint(at: index, end: usable) else { return nil }
            (rowID, index) = (Int64(bitPattern: value), end)
        } else {
            rowID = nil
        }
        let kept = kind.holdsRecords ? Self.kept(of: size, inTable: kind == .leafTable, usable: usable) : 0
        guard start >= 0, index + kept + (kept < size ? 4 : 0) <= usable else { return nil }
        self.size = size
        self.start = start
        local = index..<index + kept
        overflow = kept < size ? bytes.word(at: index + kept) : nil
        // A cell takes at least four bytes, so that it can become a freeblock.
        end = min(max(index + kept + (kept < size ? 4 : 0), start + 4), usable)
    }

    /// Creates a cell from a record of known size whose cell header is lost, or `nil` if it does not end before
    /// `limit`.
    init?(_ bytes: CarrierBytes, record: Int, size: Int, isTable: Bool, usable: Int, limit: Int) {
        let kept = Self.kept(of: size, inTable: isTable, usable: usable)
        end = record + kept + (kept < size ? 4 : 0)
        guard end <= limit else { return nil }
        (child, rowID) = (nil, nil)
        self.size = size
        start = record
        local = record..<record + kept
        overflow = kept < size ? bytes.word(at: record + kept) : nil
    }

    /// Returns the number of a record's bytes that stay on its page ("Database File Format", section 1.6).
    private static func kept(of size: Int, inTable: Bool, usable: Int) -> Int {
        let most = inTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if size <= most { return size }
        let least = (usable - 12) * 32 / 255 - 23
        let even = least + (size - least) % (usable - 4)
        return even <= most ? even : least
    }
}
