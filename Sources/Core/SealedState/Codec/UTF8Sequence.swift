/// One character beyond ASCII in UTF-8 (RFC 3629, section 4).
package enum UTF8Sequence {
    /// Its length in bytes; nil when the bytes do not begin with a valid one: overlong forms, surrogates and what lies
    /// beyond U+10FFFF are not.
    package static func length(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let lead = bytes.first, let second = bytes.dropFirst().first else { return nil }
        let (count, allowed): (Int, ClosedRange<UInt8>)
        switch lead {
        case 0xC2...0xDF: (count, allowed) = (2, 0x80...0xBF)
        case 0xE0: (count, allowed) = (3, 0xA0...0xBF)
        case 0xED: (count, allowed) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (count, allowed) = (3, 0x80...0xBF)
        case 0xF0: (count, allowed) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (count, allowed) = (4, 0x80...0xBF)
        case 0xF4: (count, allowed) = (4, 0x80...0x8F)
        default: return nil
        }
        guard bytes.count >= count, allowed.contains(second) else { return nil }
        return bytes.dropFirst(2).prefix(count - 2).allSatisfy { $0 & 0xC0 == 0x80 } ? count : nil
    }
}
