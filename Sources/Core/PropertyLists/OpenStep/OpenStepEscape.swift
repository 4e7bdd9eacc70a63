/// What follows a backslash in a quoted string of an OpenStep property list.
struct OpenStepEscape {
    private(set) var cursor: TextCursor

    init(cursor: TextCursor) { self.cursor = cursor }

    /// - Throws: `StructureFault` `.malformed` for half a character and for numbers of none.
    mutating func scalar() throws(StructureFault) -> Unicode.Scalar {
        guard let byte = cursor.byte else { throw .malformed("a string without end") }
        if 0x30...0x37 ~= byte { return try octal() }
        // Any other character stands for itself, also one of several bytes: only the backslash goes.
        guard byte < 0x80 else { return character() }
        cursor.step()
        switch Unicode.Scalar(byte) {
        case "a": return "\u{7}"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "U": return try unicode()
        default: return Unicode.Scalar(byte)
        }
    }

    /// One to three digits: a character of the NeXTSTEP encoding.
    private mutating func octal() throws(StructureFault) -> Unicode.Scalar {
        var value = 0
        for _ in 0..<3 {
            guard let byte = cursor.byte, 0x30...0x37 ~= byte else { break }
            value = value << 3 | Int(byte & 7)
            cursor.step()
        }
        guard let scalar = NeXTSTEPEncoding.scalar(value) else { throw .malformed("an escape of no character") }
        return scalar
    }

    /// One to four digits: a unit of UTF-16, of which two may make a character.
    private mutating func unicode() throws(StructureFault) -> Unicode.Scalar {
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, cursor.take("\\U") else { throw .malformed("half a character") }
        let low = try hexadecimal()
        guard 0xDC00..<0xE000 ~= low, let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw .malformed("half a character") }
        return scalar
    }

    private mutating func hexadecimal() throws(StructureFault) -> UInt32 {
        var (value, count) = (UInt32(0), 0)
        while count < 4, let digit = cursor.byte.flatMap(HexDigit.value) {
            value = value << 4 | UInt32(digit)
            count += 1
            cursor.step()
        }
        guard count > 0 else { throw .malformed("an escape of no character") }
        return value
    }

    private mutating func character() -> Unicode.Scalar {
        let first = cursor.byte ?? 0
        // The text is valid UTF-8: the first byte tells the length.
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let start = cursor.position
        cursor.step(length)
        let text = String(decoding: cursor.text[start..<cursor.position], as: UTF8.self)
        return text.unicodeScalars.first ?? "\u{FFFD}"
    }
}
