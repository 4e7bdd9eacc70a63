/// Base64 (RFC 4648, sections 4 and 5) of bytes that are no secret. A key is decoded by `SecretBase64` of CryptoPrimitives, in
/// constant time.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The six bits of a letter of either alphabet; 255 for all other bytes.
    package static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        return values
    }()

    /// Returns the text of bytes in the standard alphabet, with padding and without line ends.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let left = bytes.count - start
            let group =
                UInt32(bytes[start]) << 16 | (left > 1 ? UInt32(bytes[start + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[start + 2]) : 0)
            for index in 0..<4 {
                text.append(index <= left ? alphabet[Int(group >> (18 - 6 * UInt32(index)) & 0x3F)] : padding)
            }
        }
        return text
    }

    /// Returns the bytes of a text in either alphabet, or `nil` if it holds another character.
    ///
    /// White space and control characters are allowed anywhere. Padding may be missing, and ends the text.
    /// - Parameters:
    ///   - most: Decoding stops after so many bytes, for a look at the beginning.
    ///   - isCut: Whether the text may end within a byte, which is then left out.
    package static func decode(
        _ text: UnsafeRawBufferPointer, most: Int = .max, isCut: Bool = false
    ) -> [UInt8]? {
        let values = values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(text.count / 4 * 3 + 3, most))
        var (bits, count, pads) = (UInt32(0), 0, 0)
        for letter in text {
            let value = values[Int(letter)]
            guard value < 64 else {
                if letter <= 0x20 { continue }
                guard letter == padding else { return nil }
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
        if (count == 1 && !isCut) || pads > 2 { return nil }
        if count >= 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> (count == 2 ? 4 : 10))) }
        if count == 3 { bytes.append(UInt8(truncatingIfNeeded: bits >> 2)) }
        return bytes
    }

    /// Returns the bytes of `<data>` in an XML property list: the standard alphabet with its padding, and white space anywhere.
    ///
    /// - Throws: `StructureFault` `.malformed`, also if padding is missing.
    static func decodeData(_ text: UnsafeRawBufferPointer) throws(StructureFault) -> [UInt8] {
        let values = values
        var (letters, pads) = (0, 0)
        for character in text where !XMLScanner.isSpace(character) {
            let isOfURLs = character == UInt8(ascii: "-") || character == UInt8(ascii: "_")
            let isLetter = values[Int(character)] < 64 && !isOfURLs
            guard character == padding ? letters % 4 >= 2 : isLetter && pads == 0 else {
                throw .malformed("data that is not Base64")
            }
            if isLetter { letters += 1 } else { pads += 1 }
        }
        guard letters % 4 + pads == (pads > 0 ? 4 : 0), let bytes = decode(text) else {
            throw .malformed("truncated data")
        }
        return bytes
    }
}

/// Hexadecimal digits of bytes that are no secret. Digits of a key are decoded by `Hexadecimal` of CryptoPrimitives, in
/// constant time.
package enum HexDigits {
    /// Returns the value of a digit in either case, or `nil` for another character.
    package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Returns two lower-case digits for each byte.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Returns the bytes of pairs of digits in either case, or `nil` for another character and an odd number of digits.
    ///
    /// White space and control characters are allowed anywhere.
    /// - Parameter most: Decoding stops after so many bytes, for a look at the beginning.
    package static func decode(_ text: UnsafeRawBufferPointer, most: Int = .max) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(text.count / 2, most))
        var half: UInt8?
        for digit in text where digit > 0x20 {
            guard let value = value(of: digit) else { return nil }
            guard let high = half else {
                half = value
                continue
            }
            bytes.append(high << 4 | value)
            half = nil
            if bytes.count >= most { return bytes }
        }
        return half == nil ? bytes : nil
    }
}
