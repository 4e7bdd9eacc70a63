/// Tokens with a checksum of the preceding letters in their last six, such as GitHub's and npm's.
///
/// The checksum is CRC-32 of the random part in base 62. A mismatch only lowers the certainty, because older tokens
/// have no checksum.
enum ChecksummedToken {
    static func judge(_ text: SearchText, _ draft: Detector.Draft) -> Detector.Draft? {
        let token = text.slice(draft.range)
        guard let sign = token.bytes.firstIndex(of: UInt8(ascii: "_")), token.count - sign > 8 else { return draft }
        var draft = draft
        draft.certainty = fits(token.slice(sign + 1..<token.count)) ? .certain : .likely
        return draft
    }

    private static func fits(_ body: SearchText) -> Bool {
        let random = body.slice(0..<body.count - 6)
        var number: UInt64 = 0
        for byte in body.bytes.suffix(6) {
            guard let digit = value(of: byte) else { return false }
            number = number * 62 + digit
        }
        return number == UInt64(crc32(random))
    }

    private static func value(of letter: UInt8) -> UInt64? {
        switch letter {
        case 48...57: UInt64(letter - 48)
        case 65...90: UInt64(letter - 55)
        case 97...122: UInt64(letter - 61)
        default: nil
        }
    }

    /// Returns the CRC-32 of ISO 3309, as in zlib, computed four bits at a time.
    static func crc32(_ text: SearchText) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in text.bytes {
            crc ^= UInt32(byte)
            crc = crc >> 4 ^ remainders[Int(crc & 15)]
            crc = crc >> 4 ^ remainders[Int(crc & 15)]
        }
        return ~crc
    }

    private static let remainders: [UInt32] = (0..<16).map { (bits: UInt32) in
        (0..<4).reduce(bits) { crc, _ in crc >> 1 ^ (crc & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
}
