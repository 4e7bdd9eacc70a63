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
