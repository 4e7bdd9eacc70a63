/// Reads TIFF 6.0, and Exif 2.32 which has the same structure: tags with text, positions and times.
enum TIFFImage {
    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        let head = try source.bytes(at: 0, count: 8)
        guard head.count == 8, let isBig = head.starts(with: [0x4D, 0x4D, 0, 42]) ? true : isLittle(head) else {
            throw .malformed("tags without a byte order")
        }
        var reading = TIFFReading(source: source, isBig: isBig, leaves: leaves)
        try reading.readAll(from: Int64(reading.word(head, 4)))
    }

    private static func isLittle(_ head: [UInt8]) -> Bool? { head.starts(with: [0x49, 0x49, 42, 0]) ? false : nil }
}

/// The state of one pass over the tag directories.
struct TIFFReading {
    let source: any ByteSource
    let isBig: Bool
    let leaves: ImageLeaves
    /// The positions of directories already read. A directory may refer to any other or to itself.
    private var visited: Set<Int64> = []

    private static let mostDirectories = 64
    private static let longestValue = 1 << 20

    init(source: any ByteSource, isBig: Bool, leaves: ImageLeaves) {
        (self.source, self.isBig, self.leaves) = (source, isBig, leaves)
    }

    /// Reads the directories from `start` on, and those that tags refer to.
    mutating func readAll(from start: Int64) throws(CarrierFault) {
        var waiting = [(position: start, group: "Exif")]
        while let (position, group) = waiting.popLast() {
            guard visited.count < Self.mostDirectories else { return }
            guard position >= 8, visited.insert(position).inserted else { continue }
            try leaves.walk.budget.checkTime()
            let count = short(try source.bytes(at: position, count: 2), 0)
            let entries = try source.bytes(at: position + 2, count: 12 * count + 4)
            for index in 0..<min(count, entries.count / 12) {
                let entry = Array(entries[12 * index..<12 * index + 12])
                let tag = short(entry, 0)
                if let group = TIFFTags.directories[tag] {
                    waiting.append((Int64(word(entry, 8)), group))
                } else {
                    try value(entry, tag, group, at: position + 2 + Int64(12 * index))
                }
            }
            if entries.count == 12 * count + 4 { waiting.append((Int64(word(entries, 12 * count)), group)) }
        }
    }

    /// Reads one tag: its number, its type, its value count, and the values or their offset.
    private func value(_ entry: [UInt8], _ tag: Int, _ group: String, at place: Int64) throws(CarrierFault) {
        let (type, count) = (short(entry, 2), Int(word(entry, 4)))
        guard let unit = TIFFTags.sizes[type], count <= Self.longestValue / unit else { return }
        let position = unit * count <= 4 ? place + 8 : Int64(word(entry, 8))
        let name = TIFFTags.name(tag, in: group)
        if type == 5 || type == 10 {
            guard group == "GPS" else { return }
            return try leaves.text(try rationals(position, count), named: name, in: group, at: nil)
        }
        guard unit == 1 else { return }
        let bytes = try source.bytes(at: position, count: count)
        switch tag {
        case 700: try leaves.block(bytes, in: "XMP", at: position)
        case 33723: try IPTCRecords.read(CarrierBytes(bytes), 0..<bytes.count, leaves, at: position)
        case 0x9C9B...0x9C9F:
            let text = bytes.withUnsafeBytes { WideText.utf8($0, .utf16Little) }
            try leaves.text(text, named: name, in: group, at: nil)
        // The character set comes first, in eight bytes.
        case 0x9286, 0x001B, 0x001C:
            try leaves.text(Array(bytes.dropFirst(8)), named: name, in: group, at: position + 8)
        case 0x927C: try leaves.strings(bytes, in: "MakerNote", at: position)
        default:
            guard type == 2 || type == 7 && bytes.count >= 4 && !TIFFTags.isTable(tag) else { return }
            if type == 2 { return try leaves.text(bytes, named: name, in: group, at: position) }
            try leaves.strings(bytes, in: "\(group), \(name)", at: position)
        }
    }

    /// Returns the available degrees, minutes and seconds as one text.
    private func rationals(_ position: Int64, _ count: Int) throws(CarrierFault) -> [UInt8] {
        let bytes = try source.bytes(at: position, count: 8 * min(count, 3))
        let parts = stride(from: 0, to: bytes.count - 7, by: 8).map { index in
            let (over, under) = (Double(word(bytes, index)), Double(word(bytes, index + 4)))
            return under == 0 ? "0" : "\((over / under * 10_000).rounded() / 10_000)"
        }
        return Array(parts.joined(separator: " ").utf8)
    }

    private func short(_ bytes: [UInt8], _ index: Int) -> Int {
        let value = CarrierBytes(bytes).short(at: index)
        return isBig ? value : value >> 8 | (value & 0xFF) << 8
    }

    func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        let value = CarrierBytes(bytes).word(at: index)
        return isBig ? value : value.byteSwapped
    }
}

/// The tags of Exif 2.32 and TIFF 6.0.
enum TIFFTags {
    /// Tags that refer to further directories.
    static let directories: [Int: String] = [0x8769: "Exif", 0x8825: "GPS", 0xA005: "Interoperability", 0x014A: "Exif"]

    /// The number of bytes of one value of each type.
    static let sizes: [Int: Int] = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]

    /// Returns whether a tag's bytes are a table of technical data rather than personal data.
    static func isTable(_ tag: Int) -> Bool {
        [0x9000, 0x9101, 0xA000, 0xA300, 0xA301, 0xA302, 0x8773, 0x0001].contains(tag)
    }

    /// Returns the name of a tag.
    static func name(_ tag: Int, in group: String) -> String {
        (group == "GPS" ? places[tag] : names[tag]) ?? "tag \(tag)"
    }

    private static let names: [Int: String] = [
        0x010D: "DocumentName", 0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x011D: "PageName",
        0x0131: "Software", 0x0132: "DateTime", 0x013B: "Artist", 0x013C: "HostComputer", 0x8298: "Copyright",
        0x9003: "DateTimeOriginal", 0x9004: "DateTimeDigitized", 0x9286: "UserComment", 0xA420: "ImageUniqueID",
        0xA430: "CameraOwnerName", 0xA431: "BodySerialNumber", 0xA433: "LensMake", 0xA434: "LensModel",
        0xA435: "LensSerialNumber", 0x9C9B: "XPTitle", 0x9C9C: "XPComment", 0x9C9D: "XPAuthor", 0x9C9E: "XPKeywords",
        0x9C9F: "XPSubject",
    ]

    private static let places: [Int: String] = [
        1: "GPSLatitudeRef", 2: "GPSLatitude", 3: "GPSLongitudeRef", 4: "GPSLongitude", 6: "GPSAltitude",
        7: "GPSTimeStamp", 8: "GPSSatellites", 18: "GPSMapDatum", 20: "GPSDestLatitude", 22: "GPSDestLongitude",
        27: "GPSProcessingMethod", 28: "GPSAreaInformation", 29: "GPSDateStamp",
    ]
}
