/// The text of a textual property list: UTF-8, or UTF-16 with a byte order mark.
package enum PropertyListText {
    /// The encoding of the text.
    package enum Encoding: Sendable { case utf8, utf16 }

    private static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Calls `body` with the text as valid UTF-8 without its byte order mark.
    ///
    /// - Throws: `StructureFault` `.malformed` if the text is not valid in its encoding, or contains control characters
    ///   other than white space, U+FFFE or U+FFFF.
    static func decode<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, Encoding) throws(StructureFault) -> Result
    ) throws(StructureFault) -> Result {
        guard let isBigEndian = utf16Mark(of: bytes) else {
            let text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(bytes.starts(with: utf8Mark) ? 3 : 0))
            try check(text)
            return try body(text, .utf8)
        }
        let text = Array(try utf16(bytes, isBigEndian: isBigEndian).utf8)
        let result = text.withUnsafeBytes { text in
            Swift.Result { () throws(StructureFault) in
                try check(text)
                return try body(text, .utf16)
            }
        }
        return try result.get()
    }

    /// Returns the beginning of the text after byte order mark and white space, as ASCII up to the first other
    /// character.
    static func beginning(of bytes: UnsafeRawBufferPointer, longest: Int) -> [UInt8] {
        let isBigEndian = utf16Mark(of: bytes)
        let step = isBigEndian == nil ? 1 : 2
        var position = isBigEndian != nil ? 2 : bytes.starts(with: utf8Mark) ? 3 : 0
        var found: [UInt8] = []
        while found.count < longest, position <= bytes.count - step {
            let unit =
                isBigEndian.map { Self.unit(in: bytes, at: position, isBigEndian: $0) } ?? UInt16(bytes[position])
            position += step
            if found.isEmpty, unit == 0x20 || 0x09...0x0D ~= unit { continue }
            guard 0x20..<0x7F ~= unit else { break }
            found.append(UInt8(unit))
        }
        return found
    }

    private static func utf16Mark(of bytes: UnsafeRawBufferPointer) -> Bool? {
        if bytes.starts(with: [0xFE, 0xFF]) { return true }
        return bytes.starts(with: [0xFF, 0xFE]) ? false : nil
    }

    private static func unit(in bytes: UnsafeRawBufferPointer, at position: Int, isBigEndian: Bool) -> UInt16 {
        let (first, second) = (UInt16(bytes[position]), UInt16(bytes[position + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }

    private static func utf16(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) throws(StructureFault) -> String {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
            unit(in: bytes, at: $0, isBigEndian: isBigEndian)
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw .malformed("it is not valid UTF-16")
        }
        return text
    }

    private static func check(_ text: UnsafeRawBufferPointer) throws(StructureFault) {
        do {
            _ = try UTF8Span(validating: text.bindMemory(to: UInt8.self).span)
        } catch {
            throw .malformed("it is not valid UTF-8")
        }
        for position in text.indices {
            let byte = text[position]
            if byte < 0x20 {
                guard 0x09...0x0D ~= byte else { throw .malformed("a control character") }
            } else if byte == 0xEF {
                // In valid UTF-8 two more bytes follow.
                guard text[position + 1] != 0xBF || text[position + 2] < 0xBE else {
                    throw .malformed("an invalid character")
                }
            }
        }
    }
}
