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
