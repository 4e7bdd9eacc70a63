/// Checks that bytes are one JSON text, exactly as RFC 8259 has it: no comments, no trailing commas, no byte order mark,
/// valid UTF-8, whole surrogate pairs. It builds nothing and looks at each byte once.
package struct JSONChecker {
    private let text: UnsafeRawBufferPointer
    private let maximumDepth: Int
    private var position = 0

    private init(_ text: UnsafeRawBufferPointer, maximumDepth: Int) {
        self.text = text
        self.maximumDepth = maximumDepth
    }

    /// - Throws: The first fault.
    package static func check(_ text: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONFault) {
        var checker = JSONChecker(text, maximumDepth: maximumDepth)
        checker.skipSpace()
        if checker.next == nil { throw checker.fault("it is empty") }
        try checker.value(depth: 0)
        checker.skipSpace()
        if checker.next != nil { throw checker.fault("something follows the value") }
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private func fault(_ reason: String) -> JSONFault { JSONFault(reason, at: position, in: text) }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = next, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONFault) {
        guard let byte = next else { throw fault("a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): try object(depth: depth + 1)
        case UInt8(ascii: "["): try array(depth: depth + 1)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case 0xEF: throw fault("a value is expected, not a byte order mark or other character")
        default: throw fault("a value is expected")
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) {
        try enter(depth)
        if take("}") { return }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a name in double quotes is expected") }
            try string()
            skipSpace()
            guard take(":") else { throw fault("a colon is expected") }
            skipSpace()
            try value(depth: depth)
            skipSpace()
            if take("}") { return }
            guard take(",") else { throw fault("a comma or the object's end is expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONFault) {
        try enter(depth)
        if take("]") { return }
        while true {
            skipSpace()
            try value(depth: depth)
            skipSpace()
            if take("]") { return }
            guard take(",") else { throw fault("a comma or the array's end is expected") }
        }
    }

    private mutating func enter(_ depth: Int) throws(JSONFault) {
        guard depth <= maximumDepth else { throw fault("it is nested deeper than \(maximumDepth) levels") }
        position += 1
        skipSpace()
    }

    private mutating func literal(_ word: StaticString) throws(JSONFault) {
        let bytes = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard text[position...].starts(with: bytes) else { throw fault("a value is expected") }
        position += bytes.count
    }

    private mutating func number() throws(JSONFault) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == start { throw fault("a digit is expected") }
    }

    private mutating func string() throws(JSONFault) {
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw fault("a control character must be escaped")
            case 0x20..<0x80: position += 1
            default:
                guard let length = UTF8Sequence.length(in: text[position...]) else { throw fault("it is not UTF-8") }
                position += length
            }
        }
        throw fault("a string has no end")
    }

    private mutating func escape() throws(JSONFault) {
        position += 1
        guard take("u") else {
            guard let byte = next, #""\/bfnrt"#.utf8.contains(byte) else { throw fault("no such escape") }
            position += 1
            return
        }
        let unit = try codeUnit()
        if (0xDC00...0xDFFF).contains(unit) { throw fault("half of a surrogate pair") }
        guard (0xD800...0xDBFF).contains(unit) else { return }
        guard take("\\"), take("u"), (0xDC00...0xDFFF).contains(try codeUnit()) else {
            throw fault("half of a surrogate pair")
        }
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("four hexadecimal digits are expected")
            }
            unit = unit * 16 + UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// Where and why text is not JSON; it never repeats the text, which may be secret.
package struct JSONFault: Error, Equatable {
    /// Bytes from the start.
    package let offset: Int
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    /// What was expected or found, as the end of a sentence.
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
