/// Values that are text in UTF-16 without a word about it, as web views and some frameworks keep it in blobs.
enum WideValue {
    /// How many units decide whether it is worth looking at all.
    private static let looked = 32
    /// With fewer letters the two zeros in a row of any record of numbers would do.
    private static let fewestUnits = 8
    private static let largest = 8 << 20

    /// The text as UTF-8; nil for what is none.
    ///
    /// At least a quarter of it is ASCII, or it has the mark of UTF-16 before it; control characters, half characters and an
    /// odd byte are in no such text.
    static func text(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard bytes.count >= 2 * fewestUnits, bytes.count % 2 == 0, bytes.count <= largest else { return nil }
        let last = bytes.count - 2
        // What is kept as a string of C ends with a zero.
        let isEnded = bytes[last] == 0 && bytes[last + 1] == 0
        let text = UnsafeRawBufferPointer(rebasing: bytes[..<(isEnded ? last : bytes.count)])
        if text.starts(with: [0xFF, 0xFE]) { return utf8(text, high: 1, from: 1) }
        if text.starts(with: [0xFE, 0xFF]) { return utf8(text, high: 0, from: 1) }
        for high in [1, 0] where mayBe(text, high: high) { return utf8(text, high: high, from: 0) }
        return nil
    }

    /// Whether it is such a text.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool { text(bytes) != nil }

    private static func mayBe(_ bytes: UnsafeRawBufferPointer, high: Int) -> Bool {
        let units = min(looked, bytes.count / 2)
        var ascii = 0
        for index in 0..<units where bytes[2 * index + high] == 0 {
            guard isText(UInt16(bytes[2 * index + 1 - high])) else { return false }
            ascii += 1
        }
        return ascii * 4 >= units
    }

    private static func utf8(_ bytes: UnsafeRawBufferPointer, high: Int, from first: Int) -> [UInt8]? {
        let units = (first..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + 1 - high])
        }
        guard units.allSatisfy(isText) else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        let isDamaged = transcode(
            units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true
        ) { text.append($0) }
        return isDamaged ? nil : text
    }

    private static func isText(_ unit: UInt16) -> Bool {
        switch unit {
        case 0x09...0x0D: true
        case 0..<0x20, 0x7F..<0xA0, 0xFFFE...0xFFFF: false
        default: true
        }
    }
}
