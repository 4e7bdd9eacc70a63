/// Reads running text in blocks.
///
/// A block ends at a line end, and before a PEM block that it does not contain whole, so that related lines are not
/// split. A line longer than a block is split, and the next block repeats the end of the previous one.
enum TextReader: CarrierReader {
    /// The number of bytes in a block.
    static let blockSize = 1 << 20
    /// The distance from the block's end within which a better split is searched.
    private static let reach = 32 << 10
    /// The overlap where a line is split, longer than any one-line secret except PEM keys.
    private static let overlap = 8 << 10

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        try read(input, walk, form: input.name.hasSuffix(".log") ? .log : .text)
    }

    /// - Parameter firstLine: The number of the source's first line, for a source that is a part of a text.
    static func read(
        _ input: CarrierInput, _ walk: ValueWalk, form: CarrierForm, firstLine: Int = 1
    ) throws(CarrierFault) {
        var blocks = BlockCursor(input.source, blockSize: blockSize)
        var line = firstLine
        while let block = try blocks.next() {
            try walk.budget.checkTime()
            let end = block.isLast ? block.bytes.count : cut(block.bytes)
            let piece = UnsafeRawBufferPointer(rebasing: block.bytes[..<end])
            let range = block.position..<block.position + Int64(end)
            try walk.visit(name: nil, .block(piece, line: line), range: range, form: form)
            if block.isLast { return }
            // Only a line without an end is split. The next block repeats its last bytes.
            let kept = piece.last == UInt8(ascii: "\n") ? 0 : overlap
            line += LineCount.newlines(in: UnsafeRawBufferPointer(rebasing: piece.dropLast(kept)))
            blocks.advance(by: end - kept)
        }
    }

    /// Returns the position where a full block is split.
    private static func cut(_ block: UnsafeRawBufferPointer) -> Int {
        let tail = block.suffix(reach)
        let opening = ByteText.lastRange(of: pemOpening, in: tail)
        if let opening, ByteText.lastRange(of: pemClosing, in: tail[opening.upperBound...]) == nil,
            let lineStart = block[..<opening.lowerBound].lastIndex(of: UInt8(ascii: "\n")), lineStart > 0
        {
            return lineStart + 1
        }
        return tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? block.count
    }

    private static let pemOpening = Array("-----BEGIN ".utf8)
    private static let pemClosing = Array("-----END ".utf8)
}

/// Detects the form of a text.
enum TextForm {
    /// Returns the form, or `nil` if the bytes are not text.
    static func of(_ head: [UInt8], name: String) -> CarrierForm? {
        guard !head.isEmpty, isText(head) else { return head.isEmpty ? .text : nil }
        let body = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head[3...] : head[...]
        if looksLikeJSON(body) { return .json }
        if ByteText.contains("<plist", in: body) || ByteText.contains("<!DOCTYPE plist", in: body) {
            return .xmlPropertyList
        }
        // OpenStep property lists resemble other text, so only the name identifies them.
        if [".plist", ".strings", ".pbxproj"].contains(where: name.hasSuffix) { return .openStepPropertyList }
        return name.hasSuffix(".log") ? .log : .text
    }

    /// Returns whether the bytes contain none of the control characters that text never has. Bytes above ASCII pass in
    /// every encoding.
    private static func isText(_ head: [UInt8]) -> Bool {
        !head.contains { $0 < 0x20 && !(0x07...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
    }

    /// Checks the first two characters: an object's first key or end, an array's first value or end.
    private static func looksLikeJSON(_ body: ArraySlice<UInt8>) -> Bool {
        var dense = body.lazy.filter { $0 > 0x20 }.makeIterator()
        guard let first = dense.next() else { return false }
        let second = dense.next()
        if first == UInt8(ascii: "{") { return second.map { "\"}".utf8.contains($0) } ?? true }
        if first == UInt8(ascii: "[") { return second.map { "{[\"]-0123456789tfn".utf8.contains($0) } ?? true }
        return false
    }
}

/// Searches bytes for short texts.
enum ByteText {
    /// Returns the last range of the text in the bytes.
    static func lastRange(of text: [UInt8], in bytes: Slice<UnsafeRawBufferPointer>) -> Range<Int>? {
        guard let first = text.first, bytes.count >= text.count else { return nil }
        var end = bytes.endIndex - text.count + 1
        while let start = bytes[bytes.startIndex..<end].lastIndex(of: first) {
            if bytes[start..<start + text.count].elementsEqual(text) { return start..<start + text.count }
            end = start
        }
        return nil
    }

    /// Returns whether the bytes contain the text.
    static func contains(_ text: String, in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { lastRange(of: Array(text.utf8), in: $0[...]) != nil }
    }
}

/// Counts lines.
package enum LineCount {
    /// Returns the number of line ends. Counts sixteen bytes at once, because every byte of every text passes here.
    package static func newlines(in bytes: UnsafeRawBufferPointer) -> Int {
        let newline = SIMD16<UInt8>(repeating: UInt8(ascii: "\n"))
        var total = 0
        var index = 0
        while index + 16 <= bytes.count {
            // A lane counts up to 255 before it is added to the total.
            var lanes = SIMD16<UInt8>()
            let end = min(bytes.count - 15, index + 255 * 16)
            while index < end {
                let chunk = bytes.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
                lanes.replace(with: lanes &+ 1, where: chunk .== newline)
                index += 16
            }
            total += (0..<16).reduce(0) { $0 + Int(lanes[$1]) }
        }
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { total += 1 }
            index += 1
        }
        return total
    }
}
