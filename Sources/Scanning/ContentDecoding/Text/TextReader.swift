/// Reads running text, block by block.
///
/// A block ends with a line, and before a block of PEM that it does not hold to its end, so that nothing that belongs together
/// is cut; a line longer than a block is cut, and what follows begins with the end of what went before.
enum TextReader: CarrierReader {
    /// How many bytes are looked at at once.
    static let blockSize = 1 << 20
    /// How far back a cut may look for a better place.
    private static let reach = 32 << 10
    /// How much of a line is seen twice where it has to be cut: longer than any secret of one line but keys in PEM.
    private static let overlap = 8 << 10

    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        try read(input, walk, form: input.name.hasSuffix(".log") ? .log : .text)
    }

    /// - Parameter firstLine: The number of the source's first line, where it is a part of a text.
    static func read(
        _ input: CarrierInput, _ walk: LeafWalk, form: CarrierForm, firstLine: Int = 1
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
            // Only a line without an end is cut inside: then its last bytes are seen once more.
            let kept = piece.last == UInt8(ascii: "\n") ? 0 : overlap
            line += LineCount.newlines(in: UnsafeRawBufferPointer(rebasing: piece.dropLast(kept)))
            blocks.advance(by: end - kept)
        }
    }

    /// Where a full block is cut.
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
