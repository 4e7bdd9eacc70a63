/// Reads PNG (ISO/IEC 15948): the text and Exif chunks.
enum PNGImage {
    static let magic: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        var position = Int64(magic.count)
        while position + 12 <= source.count {
            try leaves.walk.budget.checkTime()
            let head = CarrierBytes(try source.bytes(at: position, count: 8))
            let (length, type) = (Int64(head.word(at: 0)), String(decoding: head.all.dropFirst(4), as: UTF8.self))
            let body = position + 8..<min(position + 8 + length, source.count)
            try chunk(type, source, body, leaves)
            position += 12 + length
            if type == "IEND" { return try leaves.trailing(source, from: position) }
        }
        leaves.walk.note(.malformed("the image ends before its end mark"))
    }

    private static func chunk(
        _ type: String, _ source: any ByteSource, _ range: Range<Int64>, _ leaves: ImageLeaves
    ) throws(CarrierFault) {
        switch type {
        case "eXIf": try leaves.exif(source, range)
        case "tEXt", "zTXt", "iTXt":
            guard range.count <= ImageLeaves.longest else { return leaves.noteLong("a text") }
            let body = try source.bytes(at: range.lowerBound, count: range.count)
            let keyword = body.prefix { $0 != 0 }
            let name = String(decoding: keyword, as: UTF8.self)
            let rest = body.dropFirst(keyword.count + 1)
            switch type {
            case "tEXt": try text(rest, name, leaves, at: range.lowerBound + Int64(keyword.count) + 1)
            case "zTXt": try compressed(rest.dropFirst(), name, leaves)
            default: try international(rest, name, leaves, range)
            }
        case _ where pictorial.contains(type): return
        default: try leaves.unknown(source, range, called: "chunk \(type)")
        }
    }

    /// Chunks with the image data, its colours, its size and its animation. The last two are Apple's.
    private static let pictorial: Set = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD",
        "hIST", "pHYs", "sPLT", "tIME", "acTL", "fcTL", "fdAT", "CgBI", "iDOT",
    ]

    /// Reads a flag, a method, a language, the keyword in that language, and the text.
    private static func international(
        _ body: ArraySlice<UInt8>, _ name: String, _ leaves: ImageLeaves, _ range: Range<Int64>
    ) throws(CarrierFault) {
        let isCompressed = body.first == 1
        var rest = body.dropFirst(2)
        for _ in 0..<2 { rest = rest.drop { $0 != 0 }.dropFirst() }
        if isCompressed { return try compressed(rest, name, leaves) }
        try text(rest, name, leaves, at: range.lowerBound + Int64(rest.startIndex))
    }

    private static func compressed(
        _ body: ArraySlice<UInt8>, _ name: String, _ leaves: ImageLeaves
    ) throws(CarrierFault) {
        let budget = leaves.walk.budget
        var expansion = Expansion(most: min(budget.remainingInflated, ImageLeaves.longest))
        var text: [UInt8] = []
        body.withUnsafeBytes { body in expansion.feed(body) { text += $0 } }
        try budget.spendInflated(text.count)
        if expansion.isCut { leaves.walk.note(.exhausted(.inflated)) }
        try self.text(text[...], name, leaves, at: nil)
    }

    private static func text(
        _ text: ArraySlice<UInt8>, _ name: String, _ leaves: ImageLeaves, at position: Int64?
    ) throws(CarrierFault) {
        if name.hasPrefix("XML:com.adobe.xmp") { return try leaves.block(Array(text), in: "XMP", at: position) }
        try leaves.text(Array(text), named: name, in: "text", at: position)
    }
}

/// Reads WebP (RFC 9649): the Exif and XMP chunks.
enum WebPImage {
    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        let length = try source.bytes(at: 4, count: 4)
        let end = min(source.count, 8 + Int64(little(length)))
        var position: Int64 = 12
        while position + 8 <= end {
            try leaves.walk.budget.checkTime()
            let head = try source.bytes(at: position, count: 8)
            let size = Int64(little(Array(head.dropFirst(4))))
            let body = position + 8..<min(position + 8 + size, end)
            if head.starts(with: "EXIF".utf8) { try leaves.exif(source, body) }
            if head.starts(with: "XMP ".utf8), size > ImageLeaves.longest {
                leaves.noteLong("a text")
            } else if head.starts(with: "XMP ".utf8) {
                let text = try source.bytes(at: body.lowerBound, count: body.count)
                try leaves.block(text, in: "XMP", at: body.lowerBound)
            }
            position += 8 + size + size % 2
        }
        try leaves.trailing(source, from: max(end, 12))
    }

    private static func little(_ bytes: [UInt8]) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
}

/// Reads GIF (89a): comments and application data.
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

    /// Returns the size of the colour table that the flags declare.
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

    /// Reads length-prefixed blocks up to an empty one.
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

    /// Reads XMP, which is not stored in blocks. It ends with a trailer that leads block readers to its end.
    private static func readXMP(
        _ source: any ByteSource, at start: Int64, _ leaves: ImageLeaves
    ) throws(CarrierFault) -> Int64 {
        let bytes = try source.bytes(at: start, count: ImageLeaves.longest)
        let text = bytes.prefix { $0 != 1 && $0 != 0 }
        try leaves.block(Array(text), in: "XMP", at: start)
        return try blocks(source, at: start + Int64(text.count), leaves).end
    }
}
