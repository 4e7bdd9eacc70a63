/// Reads HEIC and AVIF (ISO/IEC 23008-12): the Exif and XMP items that the file's header lists.
enum HEIFImage {
    private static let brands: Set = ["heic", "heix", "hevc", "heim", "heis", "mif1", "msf1", "avif", "avis"]

    static func isBrand(_ bytes: ArraySlice<UInt8>) -> Bool { brands.contains(String(decoding: bytes, as: UTF8.self)) }

    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        var position: Int64 = 0
        while position + 8 <= source.count {
            try leaves.walk.budget.checkTime()
            let head = CarrierBytes(try source.bytes(at: position, count: 16))
            var size = Int64(head.word(at: 0))
            if size == 1 { size = Int64(clamping: UInt64(head.word(at: 8)) << 32 | UInt64(head.word(at: 12))) }
            if size == 0 { size = source.count - position }
            guard size >= 8 else { throw .malformed("boxes that do not hang together") }
            if head.word(at: 4) == code("meta"), size <= ImageLeaves.longest {
                // A version and flags precede the boxes inside.
                let body = CarrierBytes(try source.bytes(at: position + 12, count: Int(size) - 12))
                return try readItems(body, source, leaves)
            }
            if head.word(at: 4) == code("meta") { leaves.noteLong("the list of its parts") }
            guard size <= source.count - position else { return }
            position += size
        }
    }

    private static func readItems(
        _ meta: CarrierBytes, _ source: any ByteSource, _ leaves: ImageLeaves
    ) throws(CarrierFault) {
        let boxes = boxes(meta, 0..<meta.count)
        guard let infos = boxes.first(where: { $0.type == code("iinf") }),
            let places = boxes.first(where: { $0.type == code("iloc") })
        else { return }
        let wanted = kinds(meta, infos.body)
        for (item, range) in HEIFPlaces.all(meta, places.body) where wanted[item] != nil {
            if wanted[item] == code("Exif") {
                // The item begins with the offset of the tags.
                let skip = CarrierBytes(try source.bytes(at: range.lowerBound, count: 4)).word(at: 0)
                let start = range.lowerBound + 4 + Int64(skip)
                if start < range.upperBound { try leaves.exif(source, start..<range.upperBound) }
            } else if range.count <= ImageLeaves.longest {
                let text = try source.bytes(at: range.lowerBound, count: range.count)
                try leaves.block(text, in: "XMP", at: range.lowerBound)
            } else {
                leaves.noteLong("a text")
            }
        }
    }

    /// Returns the items with Exif or with a MIME type, which is XMP's.
    private static func kinds(_ meta: CarrierBytes, _ infos: Range<Int>) -> [Int: UInt32] {
        let start = infos.lowerBound + (meta[infos.lowerBound] == 0 ? 6 : 8)
        guard start <= infos.upperBound else { return [:] }
        var kinds: [Int: UInt32] = [:]
        for box in boxes(meta, start..<infos.upperBound) where box.type == code("infe") {
            let version = meta[box.body.lowerBound]
            guard version >= 2 else { continue }
            let id = box.body.lowerBound + 4
            let item = version == 2 ? meta.short(at: id) : Int(meta.word(at: id))
            let type = meta.word(at: id + (version == 2 ? 4 : 6))
            if type == code("Exif") || type == code("mime") { kinds[item] = type }
        }
        return kinds
    }

    private static func boxes(_ bytes: CarrierBytes, _ range: Range<Int>) -> [(type: UInt32, body: Range<Int>)] {
        var boxes: [(type: UInt32, body: Range<Int>)] = []
        var index = range.lowerBound
        while index + 8 <= range.upperBound {
            let size = Int(bytes.word(at: index))
            guard size >= 8, index + size <= range.upperBound else { break }
            boxes.append((bytes.word(at: index + 4), index + 8..<index + size))
            index += size
        }
        return boxes
    }

    static func code(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The positions of a file's items, from its `iloc` box.
enum HEIFPlaces {
    /// Returns the first extent of each item that the file itself stores.
    static func all(_ bytes: CarrierBytes, _ body: Range<Int>) -> [(item: Int, range: Range<Int64>)] {
        let start = body.lowerBound
        let version = bytes[start]
        let (offsetSize, lengthSize) = (Int(bytes[start + 4] >> 4), Int(bytes[start + 4] & 15))
        let (baseSize, indexSize) = (Int(bytes[start + 5] >> 4), version == 0 ? 0 : Int(bytes[start + 5] & 15))
        var index = start + 6
        let count = version < 2 ? bytes.short(at: index) : Int(bytes.word(at: index))
        index += version < 2 ? 2 : 4
        var places: [(item: Int, range: Range<Int64>)] = []
        for _ in 0..<count where index < body.upperBound {
            let item = version < 2 ? bytes.short(at: index) : Int(bytes.word(at: index))
            index += version < 2 ? 2 : 4
            let method = version == 0 ? 0 : bytes.short(at: index) & 15
            if version > 0 { index += 2 }
            index += 2
            let base = number(bytes, index, baseSize)
            index += baseSize
            let extents = bytes.short(at: index)
            index += 2
            let first = base &+ number(bytes, index + indexSize, offsetSize)
            let length = number(bytes, index + indexSize + offsetSize, lengthSize)
            index += extents * (indexSize + offsetSize + lengthSize)
            if method == 0, extents > 0, first >= 0, length > 0, length < 1 << 31, first < .max - length {
                places.append((item, first..<first + length))
            }
        }
        return places
    }

    private static func number(_ bytes: CarrierBytes, _ index: Int, _ size: Int) -> Int64 {
        (0..<min(size, 8)).reduce(0) { $0 << 8 | Int64(bytes[index + $1]) }
    }
}
