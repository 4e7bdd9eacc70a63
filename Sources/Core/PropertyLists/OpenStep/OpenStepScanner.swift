/// Takes the text of OpenStep property lists apart: strings, bytes, comments.
package struct OpenStepScanner {
    /// Where it is.
    package private(set) var cursor: TextCursor

    /// - Parameter text: UTF-8 without a byte order mark.
    package init(_ text: UnsafeRawBufferPointer) { cursor = TextCursor(text) }

    /// What a string may hold that stands without quotes; Apple's reader takes the same.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Whether a property list can begin so.
    static func mayBegin(_ byte: UInt8) -> Bool { isPlain(byte) || "{(<\"'".utf8.contains(byte) }

    /// Steps over a mark if it comes next.
    package mutating func take(_ mark: StaticString) -> Bool { cursor.take(mark) }

    /// Skips white space and comments.
    package mutating func skipSpace() throws(StructureFault) {
        while true {
            _ = cursor.take(while: { $0 == 0x20 || 0x09...0x0D ~= $0 })
            guard cursor.byte == UInt8(ascii: "/") else { return }
            if cursor.take("//") {
                _ = cursor.take(while: { $0 != 0x0A && $0 != 0x0D })
            } else if cursor.take("/*") {
                guard cursor.take(through: "*/") != nil else { throw .malformed("a comment without end") }
            } else {
                return
            }
        }
    }

    /// A string, in quotes or without.
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
            guard let byte = cursor.byte else { throw .malformed("a string without end") }
            cursor.step()
            if byte == mark { return String(decoding: text, as: UTF8.self) }
            var escape = OpenStepEscape(cursor: cursor)
            text.append(contentsOf: String(try escape.scalar()).utf8)
            cursor = escape.cursor
            text += cursor.take(while: { $0 != mark && $0 != UInt8(ascii: "\\") })
        }
    }

    /// The bytes between `<` and `>`; the first has been taken.
    package mutating func data() throws(StructureFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var half: UInt8?
        while let byte = cursor.byte, byte != UInt8(ascii: ">") {
            cursor.step()
            if byte == 0x20 || 0x09...0x0D ~= byte { continue }
            guard let digit = HexDigit.value(of: byte) else { throw .malformed("data that is not hexadecimal") }
            if let first = half { bytes.append(first << 4 | digit) }
            half = half == nil ? digit : nil
        }
        guard cursor.take(">"), half == nil else { throw .malformed("data that is cut off") }
        return bytes
    }
}

/// A digit of a hexadecimal number.
enum HexDigit {
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
