/// How bytes are written in letters.
package enum LetterCoding: String, Hashable, Sendable {
    case base64, base64url, hex
    /// `%41`, as in addresses.
    case percent

    /// What a whole value looks like; nil for what is none of them.
    ///
    /// Line ends and tabs may stand between the letters; a space is none of them.
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

    /// The bytes that letters stand for; nil where they are not of this coding.
    ///
    /// - Parameter most: Stops after so many bytes: for a look at the beginning.
    func decode(_ text: UnsafeRawBufferPointer, most: Int = .max) -> [UInt8]? {
        switch self {
        case .hex: Self.decodeHex(text, most)
        case .percent: Self.decodePercent(text, most)
        case .base64, .base64url: Self.decodeBase64(text, most)
        }
    }

    /// Both alphabets; padding may be missing, and ends it. Half a byte at the end is refused.
    private static func decodeBase64(_ text: UnsafeRawBufferPointer, _ most: Int) -> [UInt8]? {
        let values = LetterTable.shared.base64
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(text.count / 4 * 3 + 3, most))
        var (bits, count, pads) = (UInt32(0), 0, 0)
        for letter in text {
            let value = values[Int(letter)]
            guard value < 64 else {
                if letter <= 0x20 { continue }
                guard letter == UInt8(ascii: "=") else { return nil }
                pads += 1
                continue
            }
            guard pads == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            guard count == 4 else { continue }
            for shift in [16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
            count = 0
            if bytes.count >= most { return bytes }
        }
        if count == 1 || pads > 2 { return nil }
        if count >= 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> (count == 2 ? 4 : 10))) }
        if count == 3 { bytes.append(UInt8(truncatingIfNeeded: bits >> 2)) }
        return bytes
    }

    private static func decodeHex(_ text: UnsafeRawBufferPointer, _ most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(text.count / 2, most))
        var half: UInt8?
        for letter in text where letter > 0x20 {
            guard let digit = HexDigits.value(of: letter) else { return nil }
            if let first = half { bytes.append(first << 4 | digit) }
            half = half == nil ? digit : nil
            if bytes.count >= most { return bytes }
        }
        return half == nil ? bytes : nil
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

/// A digit of a hexadecimal number.
enum HexDigits {
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
