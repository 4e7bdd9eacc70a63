/// Reads what an image says of itself; never its pixels.
enum ImageReader: CarrierReader {
    /// Whether the first bytes are those of a PNG, JPEG, GIF, WebP, HEIC, AVIF or TIFF file.
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
