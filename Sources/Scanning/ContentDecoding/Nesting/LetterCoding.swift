internal import PropertyLists

/// The encoding of bytes in letters.
package enum LetterCoding: String, Hashable, Sendable {
    case base64, base64url, hex
    /// Percent encoding, such as `%41`, as in addresses.
    case percent

    /// Returns the coding of a whole value, or `nil` if it has none.
    ///
    /// Line ends and tabs may occur between the letters. A space is not allowed.
    static func of(_ text: UnsafeRawBufferPointer) -> LetterCoding? {
        var kinds: UInt8 = 0
        for byte in text {
            let kind = LetterTable.shared.kinds[Int(byte)]
            if kind == LetterTable.foreign { return nil }
            kinds |= kind
        }
        if kinds & LetterTable.percent != 0 { return kinds & LetterTable.space == 0 ? .percent : nil }
        if kinds & LetterTable.other != 0 { return nil }
        if kinds & ~(LetterTable.hexDigit | LetterTable.space) == 0 { return .hex }
        if kinds & LetterTable.standard != 0 { return kinds & LetterTable.url == 0 ? .base64 : nil }
        return kinds & LetterTable.url != 0 ? .base64url : .base64
    }

    /// Returns the decoded bytes, or `nil` if the letters are not of this coding.
    ///
    /// - Parameter most: The number of bytes after which decoding stops, for a look at the beginning.
    func decode(_ text: UnsafeRawBufferPointer, most: Int = .max) -> [UInt8]? {
        switch self {
        case .hex: HexDigits.decode(text, most: most)
        case .percent: Self.decodePercent(text, most)
        case .base64, .base64url: Base64.decode(text, most: most)
        }
    }

    private static func decodePercent(_ text: UnsafeRawBufferPointer, _ most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var position = 0
        while position < text.count, bytes.count < most {
            var byte = text[position]
            position += 1
            if byte == UInt8(ascii: "%"), position + 1 < text.count, let high = HexDigits.value(of: text[position]),
                let low = HexDigits.value(of: text[position + 1])
            {
                byte = high << 4 | low
                position += 2
            } else if byte == UInt8(ascii: "%") {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}

/// The letters of each coding.
struct LetterTable: Sendable {
    static let shared = LetterTable()

    /// A hexadecimal digit, which is also a letter of base64.
    static let hexDigit: UInt8 = 1
    /// A letter of both base64 alphabets (RFC 4648).
    static let letter: UInt8 = 2
    /// `+` and `/`.
    static let standard: UInt8 = 4
    /// `-` and `_`.
    static let url: UInt8 = 8
    static let space: UInt8 = 16
    static let percent: UInt8 = 32
    /// A character of percent-encoded text and of no other coding.
    static let other: UInt8 = 64
    static let foreign: UInt8 = 128

    let kinds: [UInt8]

    private init() {
        var kinds = [UInt8](repeating: Self.foreign, count: 256)
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        for byte in letters.utf8 { kinds[Int(byte)] = HexDigits.value(of: byte) == nil ? Self.letter : Self.hexDigit }
        for (text, kind) in [
            ("+/", Self.standard), ("-_", Self.url), ("\t\r\n", Self.space), ("%", Self.percent), ("=", Self.letter),
            (".~!*'(),;:@&$?#[]", Self.other),
        ] {
            for byte in text.utf8 { kinds[Int(byte)] = kind }
        }
        self.kinds = kinds
    }

    /// Returns whether the first eight letters of base64 can begin a carrier or text. The letters of a token rarely
    /// can.
    func mayHold(_ text: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt64 = 0
        for letter in text.prefix(8) {
            let value = Base64.values[Int(letter)]
            // A space, or the end: more text is needed to decide.
            if value > 63 { return true }
            bits = bits << 6 | UInt64(value)
        }
        let isText = (0..<6).allSatisfy { shift in
            let byte = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(shift)))
            return 0x20..<0x7F ~= byte || 0x09...0x0D ~= byte || byte >= 0x80 && text.count >= 32
        }
        return isText || Self.beginnings.contains { bits >> 24 & $0.mask == $0.bytes }
    }

    /// The first three bytes of carriers: binary property lists, SQLite and its logs, gzip, zlib, cookies, images, and
    /// text with a byte order mark or in UTF-16.
    private static let beginnings: [(bytes: UInt64, mask: UInt64)] = [
        (0x62706C, 0xFFFFFF), (0x53514C, 0xFFFFFF), (0x377F06, 0xFFFFFF), (0xD9D505, 0xFFFFFF), (0x1F8B08, 0xFFFFFF),
        (0x780000, 0xFF0000), (0x636F6F, 0xFFFFFF), (0x89504E, 0xFFFFFF), (0xFFD8FF, 0xFFFFFF), (0x474946, 0xFFFFFF),
        (0x524946, 0xFFFFFF), (0x49492A, 0xFFFFFF), (0x4D4D00, 0xFFFFFF), (0x000000, 0xFF0000), (0x000000, 0x00FF00),
        (0xFFFE00, 0xFFFF00), (0xFEFF00, 0xFFFF00), (0xEFBBBF, 0xFFFFFF),
    ]
}
