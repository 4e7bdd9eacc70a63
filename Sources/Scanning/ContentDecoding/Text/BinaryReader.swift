/// Reads content of unknown form: its bytes, and the runs of UTF-16 text in it, which programs use in memory.
enum BinaryReader: CarrierReader {
    /// The overlap of blocks, longer than any one-line secret except PEM keys.
    private static let overlap = 8 << 10

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        var blocks = BlockCursor(input.source, blockSize: TextReader.blockSize)
        while let block = try blocks.next() {
            try walk.budget.checkTime()
            let range = block.position..<block.position + Int64(block.bytes.count)
            try walk.visit(name: nil, .strings(block.bytes), range: range, form: .binary)
            try wideText(block.bytes, walk)
            if block.isLast { return }
            blocks.advance(by: block.bytes.count - overlap)
        }
    }

    /// Visits the runs of UTF-16 letters in a block, one per line.
    private static func wideText(_ bytes: UnsafeRawBufferPointer, _ walk: ValueWalk) throws(CarrierFault) {
        let text = WideRuns.text(in: bytes)
        if text.isEmpty { return }
        try text.span.withUnsafeBytes { text throws(CarrierFault) in
            try walk.visit(name: nil, .strings(text), range: nil, form: .utf16)
        }
    }
}

/// Runs of printable ASCII in little-endian UTF-16, at even and odd offsets.
enum WideRuns {
    /// The least number of letters. Shorter runs are chance.
    private static let shortest = 8

    /// Returns the runs as ASCII, each followed by a line end.
    static func text(in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var text: [UInt8] = []
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index + 1] == 0, isPrintable(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index + 1 < bytes.count, bytes[index + 1] == 0, isPrintable(bytes[index]) { index += 2 }
            guard (index - start) / 2 >= shortest else { continue }
            text.append(contentsOf: stride(from: start, to: index, by: 2).lazy.map { bytes[$0] })
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { 0x20...0x7E ~= byte || byte == UInt8(ascii: "\t") }
}
