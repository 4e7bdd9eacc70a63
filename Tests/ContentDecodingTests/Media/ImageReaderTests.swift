import ContentDecoding
import TestSupport
import Testing

/// Images by hand: every format as its own program writes it, without pixels worth the name.
@Suite struct ImageReaderTests {
    let folder: DatabaseFolder

    init() throws { folder = try DatabaseFolder() }

    private static let tools = """
        import struct
        def tiff(order, entries, gps=[]):
            # entries: tag, type, bytes
            def directory(entries, start, more):
                head = struct.pack(order + 'H', len(entries) + len(more))
                data, place = b'', start + 2 + 12 * (len(entries) + len(more)) + 4
                for tag, kind, value in entries:
                    unit = {2: 1, 7: 1, 1: 1, 5: 8}[kind]
                    head += struct.pack(order + 'HHI', tag, kind, len(value) // unit)
                    if len(value) <= 4:
                        head += value.ljust(4, b'\\0')
                    else:
                        head += struct.pack(order + 'I', place + len(data)); data += value
                for tag, to in more:
                    head += struct.pack(order + 'HHII', tag, 4, 1, to if to else place + len(data))
                return head + struct.pack(order + 'I', 0) + data
            first = directory(entries, 8, [(0x8825, 0)] if gps else [])
            mark = b'II*\\0' if order == '<' else b'MM\\0*'
            body = mark + struct.pack(order + 'I', 8) + first
            return body + (directory(gps, len(body), []) if gps else b'')
        def rational(*parts): return b''.join(struct.pack('>II', int(p * 100), 100) for p in parts)
        exif = tiff('>', [(0x010E, 2, b'planted-description\\0'), (0x9286, 7, b'ASCII\\0\\0\\0planted-comment')],
            [(1, 2, b'N\\0'), (2, 5, rational(48, 51, 29.6))])
        xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:li>planted-xmp</rdf:li></x:xmpmeta>'
        def save(name, data): open(name, 'wb').write(data)
        """

    private func read(_ name: String, _ script: String) throws -> FileReading {
        try folder.python(Self.tools + "\n" + script)
        var reading = FileReading()
        let source = try folder.source(name)
        let walk = LeafWalk(budget: CarrierBudget()) { reading.leaves.append(DatabaseLeaf($0)) }
        let head = try source.bytes(at: 0, count: Carriers.headSize)
        #expect(Carriers.form(of: head, name: "picture") == .image)
        try Carriers.read(CarrierInput(source, name: "picture"), walk)
        reading.unread = walk.budget.unread
        try expectRanges(reading, folder.bytes(name))
        return reading
    }

    /// What says where it lies, lies there.
    private func expectRanges(_ reading: FileReading, _ bytes: [UInt8]) throws {
        for leaf in reading.leaves {
            guard let range = leaf.range else { continue }
            let part = bytes[Int(range.lowerBound)..<Int(range.upperBound)]
            #expect(String(decoding: part, as: UTF8.self) == leaf.text)
        }
    }

    private func expectExif(_ reading: FileReading) {
        #expect(reading.exactly("planted-description").map(\.name) == ["ImageDescription"])
        #expect(reading.exactly("planted-comment").map(\.trail) == ["Exif, UserComment"])
        #expect(reading.exactly("48.0 51.0 29.6").map(\.trail) == ["GPS, GPSLatitude"])
    }

    @Test func aPNGTellsItsTexts() throws {
        let reading = try read(
            "a.png",
            """
            def chunk(kind, body): return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
            save('a.png', b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
                + chunk(b'tEXt', b'Comment\\0planted-plain') + chunk(b'zTXt', b'Secret\\0\\0' + zlib.compress(b'planted-packed'))
                + chunk(b'iTXt', b'Title\\0\\0\\0en\\0Titel\\0planted-wide')
                + chunk(b'iTXt', b'XML:com.adobe.xmp\\0\\0\\0\\0\\0' + xmp) + chunk(b'eXIf', exif)
                + chunk(b'IDAT', b'planted-pixels') + chunk(b'IEND', b'') + b'planted-behind=1\\n')
            """)
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-plain").map(\.trail) == ["text, Comment"])
        #expect(reading.exactly("planted-packed").map(\.name) == ["Secret"])
        #expect(reading.exactly("planted-wide").map(\.name) == ["Title"])
        #expect(reading.holding("planted-xmp").map(\.kind) == ["block"])
        #expect(reading.holding("planted-behind").first?.trail.hasPrefix("after the image") == true)
        #expect(reading.holding("planted-pixels").isEmpty)
        expectExif(reading)
    }

    private static let chunks = """
        def chunk(kind, body): return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
        def png(*chunks): return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) \\
            + b''.join(chunks) + chunk(b'IDAT', b'planted-pixels') + chunk(b'IEND', b'')
        """

    @Test func whatAProgramKeepsInAPNGIsRead() throws {
        let reading = try read(
            "a.png",
            Self.chunks + """

                save('a.png', png(chunk(b'prVt', b'{"token": "planted-private"}'),
                    chunk(b'blOb', b'\\0\\1planted-blob' * 1000000)))
                """)
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-private").map(\.trail) == ["chunk prVt: token"])
        #expect(reading.holding("planted-blob").first?.trail == "chunk blOb")
        #expect(reading.holding("planted-pixels").isEmpty)
    }

    @Test(arguments: ["tEXt", "zTXt", "iTXt"])
    func aTextThatIsTooLongIsANote(type: String) throws {
        let reading = try read(
            "a.png", Self.chunks + "\nsave('a.png', png(chunk(b'\(type)', b'Comment' + bytes(9 << 20))))")
        #expect(reading.unread.map(\.fault) == [.unsupported("a text in it is longer than 8 MiB")])
    }

    /// With bytes among the pixels that look like marks, a second scan, and padding.
    @Test(arguments: [0, 262_100, 262_120, 600_000], [true, false])
    func whatFollowsTheEndOfAJPEGIsRead(pixels: Int, isAppended: Bool) throws {
        let reading = try read(
            "a.jpg",
            """
            def segment(marker, body): return bytes([0xFF, marker]) + struct.pack('>H', len(body) + 2) + body
            pixels = b'\\xff\\0\\xd9\\xff\\xd0planted-pixels\\xff\\xff\\0' + b'\\xff\\0' * (\(pixels) // 2)
            image = b'\\xff\\xd8' + segment(0xE0, b'JFIF\\0' + bytes(9)) + segment(0xDA, b'\\xff\\xd9') + pixels \\
                + segment(0xC4, b'\\xff\\xd9') + segment(0xDA, b'x') + pixels + b'\\xff\\xd9'
            save('a.jpg', image + (b'{"token": "planted-behind", "n": "\\xff\\xd9"}' if \(isAppended ? "True" : "False") else b''))
            """)
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-behind").map(\.trail) == (isAppended ? ["after the image: token"] : []))
        #expect(reading.holding("planted-pixels").isEmpty)
    }

    @Test func aJPEGThatEndsInItsPixelsIsANote() throws {
        let reading = try read(
            "a.jpg", "save('a.jpg', b'\\xff\\xd8\\xff\\xda\\0\\3x' + b'planted-pixels' * 99999 + b'\\xff')")
        #expect(reading.unread.map(\.fault) == [.malformed("the image ends before its end mark")])
    }

    @Test func aJPEGTellsItsSegments() throws {
        let reading = try read(
            "a.jpg",
            """
            def segment(marker, body): return bytes([0xFF, marker]) + struct.pack('>H', len(body) + 2) + body
            iptc = b'\\x1c\\x02\\x78' + struct.pack('>H', 15) + b'planted-caption'
            resource = b'8BIM' + struct.pack('>H', 0x0404) + b'\\0\\0' + struct.pack('>I', len(iptc)) + iptc + b'\\0'
            save('a.jpg', b'\\xff\\xd8' + segment(0xE0, b'JFIF\\0' + bytes(9)) + segment(0xE1, b'Exif\\0\\0' + exif)
                + segment(0xE1, b'http://ns.adobe.com/xap/1.0/\\0' + xmp) + segment(0xED, b'Photoshop 3.0\\0' + resource)
                + segment(0xFE, b'planted-remark') + segment(0xDA, b'x') + b'planted-pixels' + b'\\xff\\xd9')
            """)
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-caption").map(\.trail) == ["IPTC, Caption"])
        #expect(reading.exactly("planted-remark").map(\.name) == ["Comment"])
        #expect(reading.holding("planted-xmp").count == 1)
        #expect(reading.holding("planted-pixels").isEmpty)
        expectExif(reading)
    }

    @Test func aGIFTellsItsComments() throws {
        let reading = try read(
            "a.gif",
            """
            magic = bytes([1]) + bytes(range(255, -1, -1)) + bytes([0])
            save('a.gif', b'GIF89a' + struct.pack('<HHBBB', 1, 1, 0x80, 0, 0) + bytes(6)
                + b'\\x21\\xfe' + bytes([15]) + b'planted-comment' + bytes([4]) + b'-two' + b'\\0'
                + b'\\x21\\xff\\x0bXMP DataXMP' + xmp + magic
                + b'\\x2c' + struct.pack('<HHHHB', 0, 0, 1, 1, 0) + b'\\x02\\x02\\x44\\x01\\0' + b'\\x3b')
            """)
        #expect(reading.unread.isEmpty)
        #expect(reading.exactly("planted-comment-two").map(\.name) == ["Comment"])
        #expect(reading.holding("planted-xmp").map(\.trail) == ["XMP"])
    }

    @Test func aWebPTellsItsExif() throws {
        let reading = try read(
            "a.webp",
            """
            def chunk(kind, body): return kind + struct.pack('<I', len(body)) + body + bytes(len(body) % 2)
            body = b'WEBP' + chunk(b'VP8X', bytes(10)) + chunk(b'VP8 ', b'planted-pixels') + chunk(b'EXIF', exif) + chunk(b'XMP ', xmp)
            save('a.webp', b'RIFF' + struct.pack('<I', len(body)) + body)
            """)
        #expect(reading.unread.isEmpty)
        #expect(reading.holding("planted-xmp").count == 1)
        #expect(reading.holding("planted-pixels").isEmpty)
        expectExif(reading)
    }

    @Test func aHEICTellsItsExif() throws {
        let reading = try read(
            "a.heic",
            """
            def box(kind, body): return struct.pack('>I', len(body) + 8) + kind + body
            item = struct.pack('>I', 0) + exif
            def file(place):
                infe = box(b'infe', b'\\2\\0\\0\\0' + struct.pack('>HH', 1, 0) + b'Exif\\0')
                second = box(b'infe', b'\\2\\0\\0\\0' + struct.pack('>HH', 2, 0) + b'mime\\0application/rdf+xml\\0')
                iinf = box(b'iinf', b'\\0\\0\\0\\0' + struct.pack('>H', 2) + infe + second)
                iloc = box(b'iloc', b'\\1\\0\\0\\0\\x44\\x00' + struct.pack('>H', 2)
                    + struct.pack('>HHHHII', 1, 0, 0, 1, place, len(item))
                    + struct.pack('>HHHHII', 2, 0, 0, 1, place + len(item), len(xmp)))
                head = box(b'ftyp', b'heic' + bytes(4) + b'mif1heic') + box(b'meta', bytes(4) + iinf + iloc)
                return head + box(b'mdat', item + xmp), len(head) + 8
            save('a.heic', file(file(0)[1])[0])
            """)
        #expect(reading.holding("planted-xmp").map(\.trail) == ["XMP"])
        expectExif(reading)
    }

    @Test(arguments: ["<", ">"])
    func aTIFFTellsItsTagsInEitherByteOrder(order: String) throws {
        let reading = try read(
            "a.tiff",
            """
            save('a.tiff', tiff('\(order)', [(0x010E, 2, b'planted-description\\0'), (0x0131, 2, b'abc\\0'),
                (0x9C9C, 1, 'planted-wide'.encode('utf-16-le')), (700, 1, xmp), (0x927C, 7, b'planted-by-maker')]))
            """)
        #expect(reading.exactly("planted-description").map(\.name) == ["ImageDescription"])
        #expect(reading.exactly("abc").map(\.trail) == ["Exif, Software"])
        #expect(reading.exactly("planted-wide").map(\.name) == ["XPComment"])
        #expect(reading.exactly("planted-by-maker").map(\.kind) == ["strings"])
        #expect(reading.holding("planted-xmp").count == 1)
    }

    @Test func damagedImagesCostANoteAndNoMore() throws {
        try folder.python(
            Self.tools + """

                def chunk(kind, body): return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', 0)
                save('png', b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'eXIf', exif) + chunk(b'tEXt', b'A\\0b') + chunk(b'IEND', b''))
                save('jpg', b'\\xff\\xd8\\xff\\xe1' + struct.pack('>H', len(exif) + 8) + b'Exif\\0\\0' + exif + b'\\xff\\xd9')
                save('gif', b'GIF89a' + bytes(7) + b'\\x21\\xfe\\x03abc\\0\\x3b')
                save('webp', b'RIFF' + struct.pack('<I', 12 + len(exif)) + b'WEBPEXIF' + struct.pack('<I', len(exif)) + exif)
                save('tiff', exif)
                save('heic', b'\\0\\0\\0\\x10ftypheic\\0\\0\\0\\0\\0\\0\\0\\x60meta' + bytes(range(88)))
                """)
        var random = SeededGenerator(seed: 61)
        for name in ["png", "jpg", "gif", "webp", "tiff", "heic"] {
            let whole = try folder.bytes(name)
            for _ in 0..<400 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    bytes[Int.random(in: 6..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count - 6, using: &random)) }
                var visited = 0
                let walk = LeafWalk(budget: CarrierBudget()) { _ in visited += 1 }
                try? Carriers.read(CarrierInput(MemorySource(bytes), name: name), as: .image, walk)
                #expect(visited < 20_000)
            }
        }
    }
}
