import ContentDecoding
import Testing

/// Tests of images, which are read as files of no known form: their metadata in letters is found.
@Suite struct ImageTests {
    static let heads: [(String, [UInt8])] = [
        ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("JPEG", [0xFF, 0xD8, 0xFF, 0xE1]),
        ("GIF", Array("GIF89a".utf8)), ("GIF of 1987", Array("GIF87a".utf8)), ("TIFF", [0x49, 0x49, 42, 0]),
        ("TIFF of a Macintosh", [0x4D, 0x4D, 0, 42]), ("WebP", Array("RIFF".utf8) + [9, 0, 0, 0] + Array("WEBP".utf8)),
        ("HEIC", [0, 0, 0, 24] + Array("ftypheic".utf8)), ("AVIF", [0, 0, 0, 24] + Array("ftypavif".utf8)),
    ]

    private static func image(_ head: [UInt8]) -> [UInt8] {
        let tags = Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8] + Array("planted-comment\0".utf8)
        let xmp = Array("<x:xmpmeta><rdf:li>planted-xmp</rdf:li></x:xmpmeta>".utf8)
        let wide = "planted-wide-text".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return head + tags + xmp + [0] + wide + [0, 0, 0xFF, 0xD9] + Array("{\"token\": \"planted-behind\"}".utf8)
    }

    @Test(arguments: heads) func theTextOfAnImageIsRead(_ name: String, _ head: [UInt8]) {
        let bytes = Self.image(head)
        #expect(Carriers.form(of: bytes, name: "picture") == .image)
        let seen = SeenCarrier(bytes, named: "picture")
        #expect(seen.fault == nil && seen.unread.isEmpty)
        for text in ["planted-comment", "planted-xmp", "planted-wide-text", "planted-behind"] {
            #expect(seen.leaves.contains { $0.text.contains(text) }, "\(text)")
        }
    }

    @Test(arguments: ["RIFF\u{9}\0\0\0WAVE", "\0\0\0\u{18}ftypmp42", "GIF"])
    func otherFilesAreNoImages(_ head: String) {
        #expect(Carriers.form(of: Array(head.utf8) + [0, 1, 2], name: "") != .image)
    }
}
