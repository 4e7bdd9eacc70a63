internal import CryptoPrimitives

/// Base64 of a 32-byte key (RFC 4648, sections 4 and 5), without a table whose look-ups would leak it through the cache.
enum Base64Key {
    /// - Parameters:
    ///   - text: 43 characters, and the one for padding or not.
    ///   - key: 32 bytes.
    /// - Throws: `CryptoError` `.malformedEncoding`.
    static func decode(_ text: UnsafeRawBufferPointer, into key: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard text.count == 43 || (text.count == 44 && text[43] == UInt8(ascii: "=")), key.count == 32 else {
            throw CryptoError(.malformedEncoding, "base64 decoding")
        }
        var bits: UInt32 = 0
        var count = 0
        var target = 0
        var isValid = true
        for character in text[..<43] {
            let value = value(of: character)
            isValid = isValid && value < 64
            bits = bits << 6 | value & 63
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            key[target] = UInt8(truncatingIfNeeded: bits >> UInt32(count))
            target += 1
        }
        // 43 characters have two bits more than 32 bytes; in what an encoder wrote they are zero.
        guard isValid, bits & 3 == 0 else { throw CryptoError(.malformedEncoding, "base64 decoding") }
    }

    /// 64 for what is no character of either alphabet. Every comparison is made, whatever the character.
    private static func value(of character: UInt8) -> UInt32 {
        let c = UInt32(character)
        var value: UInt32 = 64
        value = select(c, 0x41...0x5A, c &- 0x41, value)
        value = select(c, 0x61...0x7A, c &- 0x61 &+ 26, value)
        value = select(c, 0x30...0x39, c &- 0x30 &+ 52, value)
        value = select(c, 0x2B...0x2B, 62, value)
        value = select(c, 0x2D...0x2D, 62, value)
        value = select(c, 0x2F...0x2F, 63, value)
        return select(c, 0x5F...0x5F, 63, value)
    }

    private static func select(_ c: UInt32, _ range: ClosedRange<UInt32>, _ inside: UInt32, _ outside: UInt32) -> UInt32
    {
        // All bits set where it lies inside.
        let mask = (range.lowerBound &- 1 &- c) & (c &- range.upperBound &- 1)
        let all = 0 &- (mask >> 31)
        return inside & all | outside & ~all
    }
}
