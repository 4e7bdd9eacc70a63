/// A page of a b-tree (SQLite, "Database File Format", section 1.6).
struct SQLiteTreePage {
    enum Kind: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13

        var isLeaf: Bool { self == .leafIndex || self == .leafTable }
        /// Whether its cells hold records.
        var holdsRecords: Bool { self != .interiorTable }
    }

    let page: SQLitePage
    let kind: Kind
    let cellCount: Int
    /// Where the list of the cells' places begins.
    let cellPointers: Int
    private let start: Int

    /// Nil where the page is none.
    init?(_ page: SQLitePage, usable: Int) {
        start = page.number == 1 ? SQLiteHeader.size : 0
        guard let kind = Kind(rawValue: page.bytes[start]) else { return nil }
        self.page = page
        self.kind = kind
        cellCount = page.bytes.short(at: start + 3)
        cellPointers = start + (kind.isLeaf ? 8 : 12)
        // A page of garbage may begin with the right byte.
        guard cellPointers + 2 * cellCount <= usable, page.bytes[start + 7] <= 60 else { return nil }
    }

    /// Where the list of the cells' places ends.
    var cellPointersEnd: Int { cellPointers + 2 * cellCount }

    /// Where a cell begins.
    func cellStart(_ index: Int) -> Int { page.bytes.short(at: cellPointers + 2 * index) }

    /// The last child of an inner page.
    var rightChild: UInt32 { page.bytes.word(at: start + 8) }

    /// Where freed blocks begin that the page keeps in a list: their first four bytes are lost.
    func freeblocks(usable: Int) -> [(start: Int, size: Int)] {
        var blocks: [(start: Int, size: Int)] = []
        var next = page.bytes.short(at: start + 1)
        var floor = cellPointersEnd
        // The list ascends: whatever does not is damage, or a circle.
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

/// A cell of a b-tree page: where a record, or its first part, lies.
struct SQLiteCell {
    /// The subtree before it; only in inner pages.
    let child: UInt32?
    /// Only in tables with row ids.
    let rowID: Int64?
    /// How long the record is.
    let size: Int
    /// The part that lies on the page.
    let local: Range<Int>
    /// Where the rest begins; nil where nothing is missing.
    let overflow: UInt32?
    let start: Int
    let end: Int

    /// Nil where the bytes cannot be a cell.
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
        // A cell takes four bytes at least, so that a freed one can be in the list of freed blocks.
        end = min(max(index + kept + (kept < size ? 4 : 0), start + 4), usable)
    }

    /// A record whose size is known and whose cell's head is lost; nil where it does not end before `limit`.
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

    /// How much of a record stays on its page ("Database File Format", section 1.6).
    private static func kept(of size: Int, inTable: Bool, usable: Int) -> Int {
        let most = inTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if size <= most { return size }
        let least = (usable - 12) * 32 / 255 - 23
        let even = least + (size - least) % (usable - 4)
        return even <= most ? even : least
    }
}
