/// Which letters belong to which codings.
struct LetterTable: Sendable {
    static let shared = LetterTable()

    /// Of hexadecimal digits, and so of base64 too.
    static let hexDigit: UInt8 = 1
    /// Of both alphabets of base64 (RFC 4648).
    static let letter: UInt8 = 2
    /// `+` and `/`.
    static let standard: UInt8 = 4
    /// `-` and `_`.
    static let url: UInt8 = 8
    static let space: UInt8 = 16
    static let percent: UInt8 = 32
    /// What stands in a percent-encoded text and in no other coding.
    static let other: UInt8 = 64
    static let foreign: UInt8 = 128

    let kinds: [UInt8]
    /// The six bits of a letter of base64, either alphabet; 255 for others.
    let base64: [UInt8]

    private init() {
        var kinds = [UInt8](repeating: Self.foreign, count: 256)
        var values = [UInt8](repeating: 0xFF, count: 256)
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        for (value, byte) in letters.utf8.enumerated() {
            kinds[Int(byte)] = HexDigits.value(of: byte) == nil ? Self.letter : Self.hexDigit
            values[Int(byte)] = UInt8(value)
        }
        for (text, kind) in [
            ("+/", Self.standard), ("-_", Self.url), ("\t\r\n", Self.space), ("%", Self.percent), ("=", Self.letter),
            (".~!*'(),;:@&$?#[]", Self.other),
        ] {
            for byte in text.utf8 { kinds[Int(byte)] = kind }
        }
        for (byte, value) in zip("+/-_".utf8, [62, 63, 62, 63] as [UInt8]) { values[Int(byte)] = value }
        self.kinds = kinds
        base64 = values
    }

    /// Whether the first eight letters of base64 can begin a carrier or text: those of a token hardly do.
    func mayHold(_ text: UnsafeRawBufferPointer) -> Bool {
        var bits: UInt64 = 0
        for letter in text.prefix(8) {
            let value = base64[Int(letter)]
            // A space, or the end: a longer look tells.
            if value > 63 { return true }
            bits = bits << 6 | UInt64(value)
        }
        let isText = (0..<6).allSatisfy { shift in
            let byte = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(shift)))
            return 0x20..<0x7F ~= byte || 0x09...0x0D ~= byte || byte >= 0x80 && text.count >= 32
        }
        return isText || Self.beginnings.contains { bits >> 24 & $0.mask == $0.bytes }
    }

    /// The first three bytes of carriers: binary property lists, SQLite and its logs, gzip, zlib, cookies, images, text with a
    /// byte order mark or in UTF-16.
    private static let beginnings: [(bytes: UInt64, mask: UInt64)] = [
        (0x62706C, 0xFFFFFF), (0x53514C, 0xFFFFFF), (0x377F06, 0xFFFFFF), (0xD9D505, 0xFFFFFF), (0x1F8B08, 0xFFFFFF),
        (0x780000, 0xFF0000), (0x636F6F, 0xFFFFFF), (0x89504E, 0xFFFFFF), (0xFFD8FF, 0xFFFFFF), (0x474946, 0xFFFFFF),
        (0x524946, 0xFFFFFF), (0x49492A, 0xFFFFFF), (0x4D4D00, 0xFFFFFF), (0x000000, 0xFF0000), (0x000000, 0x00FF00),
        (0xFFFE00, 0xFFFF00), (0xFEFF00, 0xFFFF00), (0xEFBBBF, 0xFFFFFF),
    ]
}
