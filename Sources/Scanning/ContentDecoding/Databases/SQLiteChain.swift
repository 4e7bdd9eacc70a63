/// Reads a record that goes on in overflow pages, from front to back and at most once.
final class SQLiteChain {
    private let scan: SQLiteScan
    private var next: UInt32
    /// How much of the record is still on pages to come.
    private var left: Int
    private var buffer: [UInt8]
    private var start = 0
    /// What the last page holds behind the record's end: an earlier use of the page.
    private(set) var slack: (page: SQLitePage, range: Range<Int>)?

    private let presence: Leaf.Presence

    init(_ scan: SQLiteScan, _ cell: SQLiteCell, on page: SQLitePage, presence: Leaf.Presence = .live) {
        self.scan = scan
        self.presence = presence
        buffer = Array(page.bytes.all[cell.local.clamped(to: 0..<page.bytes.count)])
        next = cell.overflow ?? 0
        left = cell.size - cell.local.count
    }

    /// What is there of the next bytes, at most so many.
    var available: CarrierBytes { CarrierBytes(Array(buffer[start...])) }

    /// Reads until so many bytes are at hand, or the chain breaks.
    func fill(_ count: Int) throws(CarrierFault) {
        while buffer.count - start < count, left > 0 { try readPage() }
    }

    /// Lends the next bytes, fewer where the chain broke.
    func lend(
        _ count: Int, _ body: (UnsafeRawBufferPointer) throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        try fill(count)
        let (start, end) = (start, min(start + count, buffer.count))
        let held = buffer
        try held.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }
    }

    /// A part of what comes, without going on; nil where the chain broke.
    func peek(_ range: Range<Int>) throws(CarrierFault) -> [UInt8]? {
        try fill(range.upperBound)
        guard start + range.upperBound <= buffer.count else { return nil }
        return Array(buffer[start + range.lowerBound..<start + range.upperBound])
    }

    /// Goes on behind the next bytes, over pages that nobody asked for.
    func skip(_ count: Int) throws(CarrierFault) {
        var count = count
        while count > 0 {
            if start == buffer.count { try fill(1) }
            let step = min(count, buffer.count - start)
            if step == 0 { return }
            start += step
            count -= step
        }
    }

    /// Owns the pages to the end, so that they are not taken for freed ones.
    func drain() throws(CarrierFault) { try skip(.max) }

    private func readPage() throws(CarrierFault) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        guard let page = try scan.overflowPage(next) else {
            left = 0
            // Of what was given back, parts are in use again: that is no damage.
            return presence != .live ? () : scan.walk.note(.malformed("the pages of a long value do not hang together"))
        }
        let used = min(left, scan.usable - 4)
        let end = min(4 + used, page.bytes.count)
        if end > 4 { buffer += page.bytes.all[4..<end] }
        left -= used
        next = page.bytes.word(at: 0)
        if left == 0, 4 + used < scan.usable { slack = (page, 4 + used..<scan.usable) }
    }
}
