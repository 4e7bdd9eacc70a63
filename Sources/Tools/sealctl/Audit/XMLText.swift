/// Text inside XML 1.0 and HTML, between tags or in a quoted attribute.
enum XMLText {
    /// What has a meaning in markup becomes a reference; what XML cannot hold becomes U+FFFD.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { !isPlain($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // As references, since an attribute's value would lose them.
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
        default: (0x20..<0x7F).contains(byte)
        }
    }

    /// The characters of XML 1.0, section 2.2, without the controls that it advises against.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0xFFFE...0xFFFF: false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}
