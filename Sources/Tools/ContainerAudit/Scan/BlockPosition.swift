internal import ContentDecoding

/// The positions in the file of one value's parts. Lines are counted incrementally, so that a value with many matches
/// is scanned once.
struct BlockPosition {
    private let bytes: UnsafeRawBufferPointer
    /// The value's bytes in the file, or `nil` if the file does not contain them.
    private let range: Range<Int64>?
    private var line: Int?
    /// The number of characters of the line before `counted`: bytes of UTF-8 that begin one.
    private var column = 0
    private var counted = 0

    /// - Parameter wrapped: The run that the value was decoded from, if any.
    init(_ leaf: DecodedValue, wrapped: Range<Int64>?) {
        // Lines of decoded content are not lines of the file.
        if case .block(_, let line) = leaf.value, leaf.range != nil || leaf.form == .utf16 { self.line = line }
        bytes = leaf.bytes
        range = leaf.range ?? wrapped
    }

    /// Returns the file range of a part of the value, which is exact if the file contains the value verbatim.
    func bytes(of part: Range<Int>) -> Range<Int64>? {
        guard let range, range.count == bytes.count else { return range }
        return range.lowerBound + Int64(part.lowerBound)..<range.lowerBound + Int64(part.upperBound)
    }

    /// Returns the location of a part. Parts must come in ascending order.
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

extension DecodedValue {
    /// The value's bytes; empty for a number.
    var bytes: UnsafeRawBufferPointer {
        switch value {
        case .text(let bytes), .data(let bytes), .block(let bytes, _), .strings(let bytes): bytes
        case .number, .flag: UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }

    /// Calls `body` with the bytes of a part of the value, or with all of a number or a flag.
    func withValue(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        switch value {
        case .number(let number): withUnsafeBytes(of: number.bitPattern.littleEndian, body)
        case .flag(let flag): withUnsafeBytes(of: flag ? UInt8(1) : 0, body)
        default: body(UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
    }
}
