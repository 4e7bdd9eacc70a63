/// The position and reason of a JSON fault; it never repeats the text, which may be secret.
package struct JSONFault: Error, Equatable {
    /// Bytes from the start.
    package let offset: Int
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    /// The expected or found item, as the end of a sentence.
    package let reason: String

    package init(_ reason: String, at offset: Int, in text: UnsafeRawBufferPointer) {
        self.reason = reason
        self.offset = offset
        let before = text.prefix(offset)
        line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // Bytes that continue a character begin with the bits 10.
        column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    }
}

/// A non-ASCII character in UTF-8 (RFC 3629, section 4).
package enum UTF8Sequence {
    /// Returns its length in bytes; nil if the bytes do not begin with a valid one: overlong forms, surrogates and
    /// values beyond U+10FFFF are invalid.
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
