/// PNG (ISO/IEC 15948): text and Exif among its chunks.
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

    /// Chunks of the picture, its colours, its size and its animation; the last two are Apple's.
    private static let pictorial: Set = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD",
        "hIST", "pHYs", "sPLT", "tIME", "acTL", "fcTL", "fdAT", "CgBI", "iDOT",
    ]

    /// A flag, a method, a language and the keyword in that language, then the text.
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
