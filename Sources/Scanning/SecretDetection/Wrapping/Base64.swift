/// The part of base64 (RFC 4648) that detection needs.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the letters that depend on these bytes alone, after `shift` bytes (0 to 2) in the same group.
    static func letters(of bytes: [UInt8], shiftedBy shift: Int) -> [UInt8] {
        let padded = [UInt8](repeating: 0, count: shift) + bytes + [0, 0]
        let first = (shift * 8 + 5) / 6
        let end = (shift + bytes.count) * 8 / 6
        return (first..<end).map { index in
            let bit = index * 6
            let pair = UInt16(padded[bit / 8]) << 8 | UInt16(padded[bit / 8 + 1])
            return alphabet[Int(pair >> UInt16(10 - bit % 8)) & 63]
        }
    }

    /// Returns the bytes of a text in either alphabet, or `nil` if it contains anything else. White space and escaped
    /// line ends are skipped, and padding ends the text.
    static func decoded(_ text: SearchText, atMost limit: Int = 1 << 16) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, text.count / 4 * 3 + 3))
        var group: UInt32 = 0
        var bits: UInt32 = 0
        var position = 0
        while position < text.count, bytes.count < limit {
            let byte = text.bytes[position]
            position += 1
            if byte == UInt8(ascii: "=") { break }
            if byte <= 32 { continue }
            if byte == UInt8(ascii: "\\") {
                if text[position] != UInt8(ascii: "/") { position += 1 }
                continue
            }
            guard let value = value(of: byte) else { return nil }
            group = group << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        return bytes
    }

    private static func value(of letter: UInt8) -> UInt32? {
        switch letter {
        case 65...90: UInt32(letter - 65)
        case 97...122: UInt32(letter - 71)
        case 48...57: UInt32(letter + 4)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
