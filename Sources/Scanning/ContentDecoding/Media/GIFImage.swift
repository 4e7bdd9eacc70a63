/// GIF (89a): comments, and what applications keep in it.
enum GIFImage {
    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        let screen = CarrierBytes(try source.bytes(at: 6, count: 7))
        var position = 13 + colours(screen[4])
        while position < source.count {
            try leaves.walk.budget.checkTime()
            let head = CarrierBytes(try source.bytes(at: position, count: 10))
            switch head[0] {
            case 0x21:
                position = try extend(head[1], source, at: position + 2, leaves)
            case 0x2C:
                position = try blocks(source, at: position + 10 + colours(head[9]) + 1, leaves).end
            case 0x3B: return try leaves.trailing(source, from: position + 1)
            default: throw .malformed("blocks that do not hang together")
            }
        }
        leaves.walk.note(.malformed("the image ends before its end mark"))
    }

    /// The size of the table of colours that flags tell of.
    private static func colours(_ flags: UInt8) -> Int64 { flags & 0x80 == 0 ? 0 : 3 << (Int64(flags & 7) + 1) }

    private static func extend(
        _ label: UInt8, _ source: any ByteSource, at position: Int64, _ leaves: ImageLeaves
    ) throws(CarrierFault) -> Int64 {
        if label == 0xFF, try source.bytes(at: position + 1, count: 11) == Array("XMP DataXMP".utf8) {
            return try readXMP(source, at: position + 12, leaves)
        }
        let (text, end) = try blocks(source, at: position, leaves, keeping: label != 0xF9)
        if label == 0xFE { try leaves.text(text, named: "Comment", in: "GIF", at: nil) }
        if label == 0xFF || label == 0x01 { try leaves.strings(text, in: "application", at: nil) }
        return end
    }

    /// Blocks with their lengths before them, up to an empty one.
    private static func blocks(
        _ source: any ByteSource, at start: Int64, _ leaves: ImageLeaves, keeping isKept: Bool = false
    ) throws(CarrierFault) -> (bytes: [UInt8], end: Int64) {
        var (bytes, position, steps) = ([UInt8](), start, 0)
        while position < source.count {
            let block = try source.bytes(at: position, count: isKept ? 256 : 1)
            let length = Int(block.first ?? 0)
            if isKept, bytes.count < ImageLeaves.longest { bytes += block.dropFirst().prefix(length) }
            position += 1 + Int64(length)
            if length == 0 { break }
            steps += 1
            if steps % 256 == 0 { try leaves.walk.budget.checkTime() }
        }
        return (bytes, position)
    }

    /// XMP is not written in blocks: it ends with a row of bytes that leads readers of blocks to its end.
    private static func readXMP(
        _ source: any ByteSource, at start: Int64, _ leaves: ImageLeaves
    ) throws(CarrierFault) -> Int64 {
        let bytes = try source.bytes(at: start, count: ImageLeaves.longest)
        let text = bytes.prefix { $0 != 1 && $0 != 0 }
        try leaves.block(Array(text), in: "XMP", at: start)
        return try blocks(source, at: start + Int64(text.count), leaves).end
    }
}
