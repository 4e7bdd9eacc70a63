internal import SharedFiles

/// Paths as parts of a URI.
enum SARIFPath {
    /// Everything but the unreserved characters of RFC 3986 and `/` is escaped.
    static func encoded(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if isPlain(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }

    /// The text that was made printable: a `\u{1b}` in it was the character of that number.
    static func original(_ printed: String) -> String {
        var text = ""
        var rest = printed[...]
        while let mark = rest.firstRange(of: "\\u{") {
            text += rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            if let end = rest.firstIndex(of: "}"), let value = UInt32(rest[..<end], radix: 16),
                let scalar = Unicode.Scalar(value), String(scalar).printable != String(scalar)
            {
                text.unicodeScalars.append(scalar)
                rest = rest[rest.index(after: end)...]
            } else {
                text += "\\u{"
            }
        }
        return text + rest
    }

    /// FNV-1a with 64 bits, the same on every machine: it tells results apart, and hides nothing.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }
}
