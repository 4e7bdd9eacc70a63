/// Reads a record that continues in overflow pages, from front to back and at most once.
final class SQLiteChain {
    private let scan: SQLiteScan
    private var next: UInt32
    /// The number of the record's bytes on pages not yet read.
    private var left: Int
    private var buffer: [UInt8]
    private var start = 0
    /// The bytes of the last page after the record's end, which are from an earlier use of the page.
    private(set) var slack: (page: SQLitePage, range: Range<Int>)?

    private let presence: DecodedValue.Presence

    init(_ scan: SQLiteScan, _ cell: SQLiteCell, on page: SQLitePage, presence: DecodedValue.Presence = .live) {
        self.scan = scan
        self.presence = presence
        buffer = Array(page.bytes.all[cell.local.clamped(to: 0..<page.bytes.count)])
        next = cell.overflow ?? 0
        left = cell.size - cell.local.count
    }

    /// The available bytes from the current position on.
    var available: CarrierBytes { CarrierBytes(Array(buffer[start...])) }

    /// Reads until `count` bytes are available or the chain ends.
    func fill(_ count: Int) throws(CarrierFault) {
        while buffer.count - start < count, left > 0 { try readPage() }
    }

    /// Lends the next bytes, or fewer if the chain is broken.
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

    /// Returns a part of the coming bytes without advancing, or `nil` if the chain is broken.
    func peek(_ range: Range<Int>) throws(CarrierFault) -> [UInt8]? {
        try fill(range.upperBound)
        guard start + range.upperBound <= buffer.count else { return nil }
        return Array(buffer[start + range.lowerBound..<start + range.upperBound])
    }

    /// Advances past the next bytes, over pages that the caller does not need.
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

    /// Claims the chain's remaining pages, so that they are not taken for freed ones.
    func drain() throws(CarrierFault) { try skip(.max) }

    private func readPage() throws(CarrierFault) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        guard let page = try scan.overflowPage(next) else {
            left = 0
            // Pages of a freed value may be in use again, which is not damage.
            return presence != .live ? () : scan.walk.note(.malformed("the pages of a long value are not a chain"))
        }
        let used = min(left, scan.usable - 4)
        let end = min(4 + used, page.bytes.count)
        if end > 4 { buffer += page.bytes.all[4..<end] }
        left -= used
        next = page.bytes.word(at: 0)
        if left == 0, 4 + used < scan.usable { slack = (page, 4 + used..<scan.usable) }
    }
}
