/// IPTC's captions and credits (IIM 4.2), in Photoshop's image resources or on their own.
enum IPTCRecords {
    private static let names: [UInt8: String] = [
        5: "Title", 25: "Keywords", 40: "Instructions", 80: "Author", 90: "City", 92: "Location", 95: "State",
        101: "Country", 103: "Reference", 105: "Headline", 110: "Credit", 115: "Source", 116: "Copyright",
        118: "Contact",
        120: "Caption", 122: "Writer",
    ]

    /// Finds them among Photoshop's resources.
    static func readResources(_ bytes: CarrierBytes, _ leaves: ImageLeaves, at position: Int64?) throws(CarrierFault) {
        var index = Array("Photoshop 3.0\0".utf8).count
        while index + 12 <= bytes.count, bytes.word(at: index) == 0x3842_494D {
            let id = bytes.short(at: index + 4)
            // A name, padded to an even length with its count.
            let size = index + 6 + (Int(bytes[index + 6]) + 2) / 2 * 2
            let (start, length) = (size + 4, Int(bytes.word(at: size)))
            guard start + length <= bytes.count else { return }
            if id == 0x0404 { try read(bytes, start..<start + length, leaves, at: position) }
            index = start + (length + 1) / 2 * 2
        }
    }

    /// Reads records: a mark, the record's and the value's number, a length.
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
