/// Hands out the metadata of an image.
struct ImageLeaves {
    let walk: LeafWalk
    /// The size limit. Longer parts are pixels, regardless of their type.
    static let longest = 8 << 20

    /// Hands out a named value and its nested values.
    func text(_ text: [UInt8], named name: String, in group: String, at position: Int64?) throws(CarrierFault) {
        let text = text.last == 0 ? Array(text.prefix { $0 != 0 }) : text
        if text.isEmpty { return }
        try value(text, name, group) { (bytes, name) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: name, .text(bytes), range: range, form: .image)
            _ = try Carriers.readValue(bytes, isText: true, name: name, at: position, walk)
        }
    }

    /// Hands out running text, such as XMP.
    func block(_ text: [UInt8], in group: String, at position: Int64?) throws(CarrierFault) {
        if text.isEmpty { return }
        try value(text, nil, group) { (bytes, _) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: nil, .block(bytes, line: 1), range: range, form: .image)
        }
    }

    /// Hands out data in a maker's private format.
    func strings(_ bytes: [UInt8], in group: String, at position: Int64?) throws(CarrierFault) {
        if bytes.isEmpty { return }
        try value(bytes, nil, group) { (bytes, _) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: nil, .strings(bytes), range: range, form: .image)
        }
    }

    /// Reads a part of any form that a program stores in the image for itself.
    func unknown(_ source: any ByteSource, _ range: Range<Int64>, called name: String) throws(CarrierFault) {
        if range.isEmpty { return }
        let part = PartSource(source, range)
        try walk.nested(name, at: range.lowerBound) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(part), walk)
        }
    }

    /// Notes a part that was skipped because of its size.
    func noteLong(_ what: String) { walk.note(.unsupported("\(what) in it is longer than 8 MiB")) }

    /// Reads the bytes after the image's end in its file, which image viewers ignore.
    func trailing(_ source: any ByteSource, from position: Int64) throws(CarrierFault) {
        guard position < source.count else { return }
        let rest = PartSource(source, position..<source.count)
        try walk.nested("after the image", at: position) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(rest), walk)
        }
    }

    /// Reads the Exif tags, which are those of a TIFF file.
    func exif(_ source: any ByteSource, _ range: Range<Int64>) throws(CarrierFault) {
        var range = range
        let head = try source.bytes(at: range.lowerBound, count: 6)
        if head == Array("Exif\0\0".utf8) { range = min(range.lowerBound + 6, range.upperBound)..<range.upperBound }
        let part = PartSource(source, range)
        do throws(CarrierFault) {
            try walk.part(at: range.lowerBound) { () throws(CarrierFault) in try TIFFImage.read(part, self) }
        } catch {
            guard case .malformed = error else { throw error }
            walk.note(error)
        }
    }

    private func value(
        _ bytes: [UInt8], _ name: String?, _ group: String,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let depth = walk.trail.depth
        walk.trail.enter(.words(group))
        if let name { walk.trail.enter(.key(name)) }
        defer { walk.trail.leave(to: depth) }
        let called = Array((name ?? "").utf8)
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try called.span.withUnsafeBytes { called throws(CarrierFault) in
                try body(bytes, name == nil ? nil : called)
            }
        }
    }
}

/// Reads the metadata of an image, never its pixels.
enum ImageReader: CarrierReader {
    /// Returns whether the first bytes are those of a PNG, JPEG, GIF, WebP, HEIC, AVIF or TIFF file.
    static func isImage(_ head: [UInt8]) -> Bool { reader(of: head) != nil }

    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: 16)
        guard let reader = reader(of: head) else { throw .malformed("it does not begin like an image") }
        try reader(input.source, ImageLeaves(walk: walk))
    }

    private typealias Reader = (any ByteSource, ImageLeaves) throws(CarrierFault) -> Void

    private static func reader(of head: [UInt8]) -> Reader? {
        if head.starts(with: PNGImage.magic) { return PNGImage.read }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return JPEGImage.read }
        if head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8) { return GIFImage.read }
        if head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBP".utf8) { return WebPImage.read }
        if head.starts(with: [0x49, 0x49, 42, 0]) || head.starts(with: [0x4D, 0x4D, 0, 42]) { return TIFFImage.read }
        if head.dropFirst(4).starts(with: "ftyp".utf8), HEIFImage.isBrand(head.dropFirst(8).prefix(4)) {
            return HEIFImage.read
        }
        return nil
    }
}

/// Reads IPTC captions and credits (IIM 4.2), in Photoshop's image resources or on their own.
enum IPTCRecords {
    private static let names: [UInt8: String] = [
        5: "Title", 25: "Keywords", 40: "Instructions", 80: "Author", 90: "City", 92: "Location", 95: "State",
        101: "Country", 103: "Reference", 105: "Headline", 110: "Credit", 115: "Source", 116: "Copyright",
        118: "Contact",
        120: "Caption", 122: "Writer",
    ]

    /// Finds the records among Photoshop's resources.
    static func readResources(_ bytes: CarrierBytes, _ leaves: ImageLeaves, at position: Int64?) throws(CarrierFault) {
        var index = Array("Photoshop 3.0\0".utf8).count
        while index + 12 <= bytes.count, bytes.word(at: index) == 0x3842_494D {
            let id = bytes.short(at: index + 4)
            // The name is padded to an even length including its count.
            let size = index + 6 + (Int(bytes[index + 6]) + 2) / 2 * 2
            let (start, length) = (size + 4, Int(bytes.word(at: size)))
            guard start + length <= bytes.count else { return }
            if id == 0x0404 { try read(bytes, start..<start + length, leaves, at: position) }
            index = start + (length + 1) / 2 * 2
        }
    }

    /// Reads records: a mark, the numbers of record and value, a length.
    static func read(
        _ bytes: CarrierBytes, _ range: Range<Int>, _ leaves: ImageLeaves, at position: Int64?
    ) throws(CarrierFault) {
        var index = range.lowerBound
        while index + 5 <= range.upperBound, bytes[index] == 0x1C {
            let (record, value, length) = (bytes[index + 1], bytes[index + 2], bytes.short(at: index + 3))
            let start = index + 5
            guard length < 0x8000, start + length <= range.upperBound else { return }
            if record == 2, start + length <= bytes.count {
                try leaves.text(
                    Array(bytes.all[start..<start + length]), named: names[value] ?? "value \(value)", in: "IPTC",
                    at: position.map { $0 + Int64(start) })
            }
            index = start + length
        }
    }
}
