/// The frames of a write-ahead log (SQLite, "Database File Format", section 4).
struct SQLiteLog {
    /// A version of a page.
    struct Frame {
        let page: UInt32
        /// The offset of the page's bytes.
        let position: Int64
        let endsTransaction: Bool
        /// True if recovery would use the frame once its transaction has ended: all frames before it are whole and
        /// belong to the same use of the log.
        let isValid: Bool
    }

    private let source: any ByteSource
    let pageSize: Int
    private let isBigEndian: Bool
    private let salts: UInt64
    private let headSums: (UInt32, UInt32)

    private static let headSize = 32
    private static let frameHeadSize = 24
    /// The limit on page map entries, which bounds memory.
    static let mostPages = 1 << 20

    /// Opens a log, or returns `nil` if the source is not a log.
    init?(_ source: any ByteSource) throws(CarrierFault) {
        let head = CarrierBytes(try source.bytes(at: 0, count: Self.headSize))
        guard head.count == Self.headSize, head.word(at: 0) | 1 == 0x377F_0683,
            let size = SQLiteHeader.pageSize(Int(head.word(at: 8)) == 65536 ? 1 : Int(head.word(at: 8)))
        else { return nil }
        self.source = source
        pageSize = size
        isBigEndian = head.word(at: 0) & 1 == 1
        salts = UInt64(head.word(at: 16)) << 32 | UInt64(head.word(at: 20))
        headSums = (head.word(at: 24), head.word(at: 28))
    }

    /// Visits all frames, including those left by an earlier use of the log.
    func forEach(_ walk: ValueWalk, _ body: (Frame) throws(CarrierFault) -> Void) throws(CarrierFault) {
        var (position, sums, isValid) = (Int64(Self.headSize), headSums, true)
        let size = Self.frameHeadSize + pageSize
        while position + Int64(size) <= source.count {
            try walk.budget.checkTime()
            let bytes = CarrierBytes(try source.bytes(at: position, count: size))
            guard bytes.count == size else { return }
            isValid = isValid && check(bytes, &sums)
            if bytes.isBlank(0..<Self.frameHeadSize) {
                guard let next = frame(after: position, size) else { return }
                position = next
                continue
            }
            try body(
                Frame(
                    page: bytes.word(at: 0), position: position + Int64(Self.frameHeadSize),
                    endsTransaction: bytes.word(at: 4) != 0, isValid: isValid))
            position += Int64(size)
        }
    }

    /// Returns the position of the next frame with data after a frame that was never written, since logs may have
    /// holes, or `nil` if no data follows.
    private func frame(after position: Int64, _ size: Int) -> Int64? {
        guard let data = source.nextData(from: position) else { return nil }
        let start = Int64(Self.headSize)
        return max(position + Int64(size), start + (data - start) / Int64(size) * Int64(size))
    }

    /// Returns the offset of the version of each page that a program would see.
    func newest(_ walk: ValueWalk) throws(CarrierFault) -> [UInt32: Int64] {
        var (newest, pending) = ([UInt32: Int64](), [UInt32: Int64]())
        try forEach(walk) { frame throws(CarrierFault) in
            guard frame.isValid, frame.page > 0 else { return }
            if pending.count + newest.count < Self.mostPages { pending[frame.page] = frame.position }
            guard frame.endsTransaction else { return }
            newest.merge(pending) { _, new in new }
            pending.removeAll(keepingCapacity: true)
        }
        return newest
    }

    private func check(_ frame: CarrierBytes, _ sums: inout (UInt32, UInt32)) -> Bool {
        guard UInt64(frame.word(at: 8)) << 32 | UInt64(frame.word(at: 12)) == salts else { return false }
        add(frame, 0..<8, &sums)
        add(frame, Self.frameHeadSize..<frame.count, &sums)
        return sums == (frame.word(at: 16), frame.word(at: 20))
    }

    /// Adds a range to the two interdependent sums of section 4.2.
    private func add(_ bytes: CarrierBytes, _ range: Range<Int>, _ sums: inout (UInt32, UInt32)) {
        var (first, second) = sums
        bytes.all.span.withUnsafeBytes { all in
            for index in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                first = first &+ word(all, index) &+ second
                second = second &+ word(all, index + 4) &+ first
            }
        }
        sums = (first, second)
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}
