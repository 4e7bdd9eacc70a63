internal import ContentDecoding

/// Where in the file the parts of one leaf are. Lines are counted on as far as somebody asks, so that a leaf of many
/// matches is gone through once.
struct BlockPosition {
    private let bytes: UnsafeRawBufferPointer
    /// The leaf's bytes in the file; nil where they do not lie there.
    private let range: Range<Int64>?
    private var line: Int?
    /// Characters of the line before `counted`: bytes of UTF-8 that begin one.
    private var column = 0
    private var counted = 0

    /// - Parameter wrapped: Where the run lies that the leaf was decoded from, if it was.
    init(_ leaf: Leaf, wrapped: Range<Int64>?) {
        // Lines of something decoded are no lines of the file.
        if case .block(_, let line) = leaf.value, leaf.range != nil || leaf.form == .utf16 { self.line = line }
        bytes = leaf.bytes
        range = leaf.range ?? wrapped
    }

    /// The bytes of the file that hold a part of the leaf: exactly those, where the leaf lies there as it is.
    func bytes(of part: Range<Int>) -> Range<Int64>? {
        guard let range, range.count == bytes.count else { return range }
        return range.lowerBound + Int64(part.lowerBound)..<range.lowerBound + Int64(part.upperBound)
    }

    /// The location of a part; ask in the order of the bytes.
    mutating func location(of part: Range<Int>, place: String) -> FindingLocation {
        let bytes = bytes(of: part)
        let (line, column) = lineAndColumn(of: part.lowerBound)
        return FindingLocation(
            line: line, column: column, offset: bytes?.lowerBound, length: bytes.map { Int64($0.count) },
            place: place.isEmpty ? nil : place)
    }

    private mutating func lineAndColumn(of index: Int) -> (Int?, Int?) {
        guard var line else { return (nil, nil) }
        if index < counted { return (nil, nil) }
        for position in counted..<index {
            if bytes[position] == UInt8(ascii: "\n") {
                line += 1
                column = 0
            } else if bytes[position] & 0xC0 != 0x80 {
                column += 1
            }
        }
        counted = index
        self.line = line
        return (line, column + 1)
    }
}

extension Leaf {
    /// The value's bytes; none for a number.
    var bytes: UnsafeRawBufferPointer {
        switch value {
        case .text(let bytes), .data(let bytes), .block(let bytes, _), .strings(let bytes): bytes
        case .number, .flag: UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// The bytes of a part of the value; a number's and a flag's are all of it.
    func withValue(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        switch value {
        case .number(let number): withUnsafeBytes(of: number.bitPattern.littleEndian, body)
        case .flag(let flag): withUnsafeBytes(of: flag ? UInt8(1) : 0, body)
        default: body(UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
    }
}
