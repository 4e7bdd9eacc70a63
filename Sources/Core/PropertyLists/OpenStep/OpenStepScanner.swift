/// Splits the text of OpenStep property lists into strings, bytes and comments.
package struct OpenStepScanner {
    /// The current position.
    package private(set) var cursor: TextCursor

    /// - Parameter text: UTF-8 without a byte order mark.
    package init(_ text: UnsafeRawBufferPointer) { cursor = TextCursor(text) }

    /// Returns whether a string without quotes may contain the byte, as in Apple's reader.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Returns whether a property list can begin with the byte.
    static func mayBegin(_ byte: UInt8) -> Bool { isPlain(byte) || "{(<\"'".utf8.contains(byte) }

    /// Skips a mark if it comes next.
    package mutating func take(_ mark: StaticString) -> Bool { cursor.take(mark) }

    /// Skips white space and comments.
    package mutating func skipSpace() throws(StructureFault) {
        while true {
            _ = cursor.take(while: { $0 == 0x20 || 0x09...0x0D ~= $0 })
            guard cursor.byte == UInt8(ascii: "/") else { return }
            if cursor.take("//") {
                _ = cursor.take(while: { $0 != 0x0A && $0 != 0x0D })
            } else if cursor.take("/*") {
                guard cursor.take(through: "*/") != nil else { throw .malformed("an unterminated comment") }
            } else {
                return
            }
        }
    }

    /// Reads a string with or without quotes.
    package mutating func string() throws(StructureFault) -> String {
        if let mark = cursor.byte, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") {
            cursor.step()
            return try quoted(until: mark)
        }
        let start = cursor.position
        while let byte = cursor.byte, Self.isPlain(byte),
            byte != UInt8(ascii: "/") || cursor.second != UInt8(ascii: "*")
        {
            cursor.step()
        }
        guard cursor.position > start else {
            throw .malformed(cursor.isAtEnd ? "its end is missing" : "an unexpected character")
        }
        return String(decoding: cursor.text[start..<cursor.position], as: UTF8.self)
    }

    private mutating func quoted(until mark: UInt8) throws(StructureFault) -> String {
        let run = cursor.take(while: { $0 != mark && $0 != UInt8(ascii: "\\") })
        if cursor.byte == mark {
            cursor.step()
            return String(decoding: run, as: UTF8.self)
        }
        var text = Array(run)
        while true {
            guard let byte = cursor.byte else { throw .malformed("an unterminated string") }
            cursor.step()
            if byte == mark { return String(decoding: text, as: UTF8.self) }
            var escape = OpenStepEscape(cursor: cursor)
            text.append(contentsOf: String(try escape.scalar()).utf8)
            cursor = escape.cursor
            text += cursor.take(while: { $0 != mark && $0 != UInt8(ascii: "\\") })
        }
    }

    /// Reads the bytes between `<` and `>`, after the `<`.
    package mutating func data() throws(StructureFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var half: UInt8?
        while let byte = cursor.byte, byte != UInt8(ascii: ">") {
            cursor.step()
            if byte == 0x20 || 0x09...0x0D ~= byte { continue }
            guard let digit = HexDigits.value(of: byte) else { throw .malformed("data that is not hexadecimal") }
            if let first = half { bytes.append(first << 4 | digit) }
            half = half == nil ? digit : nil
        }
        guard cursor.take(">"), half == nil else { throw .malformed("truncated data") }
        return bytes
    }
}

/// The text after a backslash in a quoted string of an OpenStep property list.
struct OpenStepEscape {
    private(set) var cursor: TextCursor

    init(cursor: TextCursor) { self.cursor = cursor }

    /// - Throws: `StructureFault` `.malformed` for half a surrogate pair and for numbers of no character.
    mutating func scalar() throws(StructureFault) -> Unicode.Scalar {
        guard let byte = cursor.byte else { throw .malformed("an unterminated string") }
        if 0x30...0x37 ~= byte { return try octal() }
        // Any other character, including one of several bytes, represents itself without the backslash.
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

    /// Reads one to three digits: a character of the NeXTSTEP encoding.
    private mutating func octal() throws(StructureFault) -> Unicode.Scalar {
        var value = 0
        for _ in 0..<3 {
            guard let byte = cursor.byte, 0x30...0x37 ~= byte else { break }
            value = value << 3 | Int(byte & 7)
            cursor.step()
        }
        guard let scalar = NeXTSTEPEncoding.scalar(value) else { throw .malformed("an invalid escape") }
        return scalar
    }

    /// Reads one to four digits: a unit of UTF-16, of which two may form a surrogate pair.
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
        while count < 4, let digit = cursor.byte.flatMap(HexDigits.value) {
            value = value << 4 | UInt32(digit)
            count += 1
            cursor.step()
        }
        guard count > 0 else { throw .malformed("an invalid escape") }
        return value
    }

    private mutating func character() -> Unicode.Scalar {
        let first = cursor.byte ?? 0
        // The text is valid UTF-8, so the first byte determines the length.
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let start = cursor.position
        cursor.step(length)
        let text = String(decoding: cursor.text[start..<cursor.position], as: UTF8.self)
        return text.unicodeScalars.first ?? "\u{FFFD}"
    }
}

/// The character encoding of octal escapes (the Unicode Consortium's table NEXTSTEP.TXT).
enum NeXTSTEPEncoding {
    /// Returns the character, or `nil` for the two unassigned codes and for values above a byte.
    static func scalar(_ byte: Int) -> Unicode.Scalar? {
        switch byte {
        case 0..<0x80: Unicode.Scalar(UInt8(byte))
        case 0x80..<0x80 + upper.count: Unicode.Scalar(upper[byte - 0x80])
        default: nil
        }
    }

    private static let upper: [UInt16] = [
        0xA0, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF,
        0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD9, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xB5, 0xD7, 0xF7,
        0xA9, 0xA1, 0xA2, 0xA3, 0x2044, 0xA5, 0x192, 0xA7, 0xA4, 0x2019, 0x201C, 0xAB, 0x2039, 0x203A, 0xFB01, 0xFB02,
        0xAE, 0x2013, 0x2020, 0x2021, 0xB7, 0xA6, 0xB6, 0x2022, 0x201A, 0x201E, 0x201D, 0xBB, 0x2026, 0x2030, 0xAC,
        0xBF,
        0xB9, 0x2CB, 0xB4, 0x2C6, 0x2DC, 0xAF, 0x2D8, 0x2D9, 0xA8, 0xB2, 0x2DA, 0xB8, 0xB3, 0x2DD, 0x2DB, 0x2C7,
        0x2014, 0xB1, 0xBC, 0xBD, 0xBE, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE7, 0xE8, 0xE9, 0xEA, 0xEB,
        0xEC, 0xC6, 0xED, 0xAA, 0xEE, 0xEF, 0xF0, 0xF1, 0x141, 0xD8, 0x152, 0xBA, 0xF2, 0xF3, 0xF4, 0xF5,
        0xF6, 0xE6, 0xF9, 0xFA, 0xFB, 0x131, 0xFC, 0xFD, 0x142, 0xF8, 0x153, 0xDF, 0xFE, 0xFF,
    ]
}
