/// Reads text in UTF-16 as UTF-8 in blocks.
enum UTF16Reader: CarrierReader {
    /// The order of the two bytes of a unit.
    enum ByteOrder { case little, big }

    /// The overlap in units, longer than any one-line secret except PEM keys.
    private static let overlap = 8 << 10

    static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: Carriers.headSize)
        guard let order = order(of: head) else { return try TextReader.read(input, walk) }
        var blocks = BlockCursor(input.source, blockSize: TextReader.blockSize)
        var line = 1
        while let block = try blocks.next() {
            try walk.budget.checkTime()
            let end = block.isLast ? block.bytes.count : cut(block.bytes, order)
            let text = utf8(block.bytes[..<end], order)
            // The value has no range, because its bytes are not the file's.
            try text.span.withUnsafeBytes { bytes throws(CarrierFault) in
                try walk.visit(name: nil, .block(bytes, line: line), range: nil, form: .utf16)
                line += LineCount.newlines(in: bytes)
            }
            if block.isLast { return }
            // Only a line without an end is split. The next block repeats its last units.
            let endsLine = unit(block.bytes, end / 2 - 1, order) == 0x0A
            blocks.advance(by: endsLine ? end : end - 2 * overlap)
        }
    }

    /// Returns the byte order by its mark, or because every other byte is zero as in Latin text.
    static func order(of head: [UInt8]) -> ByteOrder? {
        if head.starts(with: [0xFF, 0xFE]) { return .little }
        if head.starts(with: [0xFE, 0xFF]) { return .big }
        let units = head.count / 2
        guard units >= 4 else { return nil }
        let zeros = (even: (0..<units).count { head[2 * $0] == 0 }, odd: (0..<units).count { head[2 * $0 + 1] == 0 })
        let printable = { (offset: Int) in
            (0..<units).count { 0x20...0x7E ~= head[2 * $0 + offset] || 0x09...0x0D ~= head[2 * $0 + offset] }
        }
        if zeros.odd * 10 >= units * 9, zeros.even == 0, printable(0) * 10 >= units * 9 { return .little }
        if zeros.even * 10 >= units * 9, zeros.odd == 0, printable(1) * 10 >= units * 9 { return .big }
        return nil
    }

    /// Returns the position after the last line end, on a unit boundary.
    private static func cut(_ block: UnsafeRawBufferPointer, _ order: ByteOrder) -> Int {
        var unit = block.count / 2 - 1
        while unit >= 0 {
            if self.unit(block, unit, order) == 0x0A { return 2 * unit + 2 }
            unit -= 1
        }
        return block.count & ~1
    }

    private static func unit(_ bytes: UnsafeRawBufferPointer, _ index: Int, _ order: ByteOrder) -> UInt16 {
        let first = UInt16(bytes[2 * index])
        let second = UInt16(bytes[2 * index + 1])
        return order == .little ? second << 8 | first : first << 8 | second
    }

    private static func utf8(_ bytes: Slice<UnsafeRawBufferPointer>, _ order: ByteOrder) -> [UInt8] {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        let units = (0..<bytes.count / 2).lazy.map { unit(bytes, $0, order) }
        _ = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false) { text.append($0) }
        return text
    }
}
