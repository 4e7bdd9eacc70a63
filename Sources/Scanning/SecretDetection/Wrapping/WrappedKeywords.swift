/// How carriers begin when they are written in base64 or hexadecimal digits, and how words of secrets look in them.
enum WrappedKeywords {
    static let all: [Keyword] = starts + words + escapes

    private static let magics: [[UInt8]] = [
        Array("bplist0".utf8), [0x1F, 0x8B, 0x08], Array("{\"".utf8), Array("[{\"".utf8), Array("<?xml".utf8),
        Array("<plist".utf8),
        Array("SQLite format".utf8), Array("-----BEGIN".utf8), Array("YnBsaXN0".utf8), Array("eyJ".utf8), [0x78, 0x9C],
        [0x78, 0xDA],
        Array("{\n".utf8),
    ]

    private static let starts: [Keyword] = magics.flatMap { magic -> [Keyword] in
        var keywords = [Keyword(Base64.letters(of: magic, shiftedBy: 0), .wrapped(.base64, isStart: true))]
        if magic.count > 2 { keywords.append(hex(of: magic, isStart: true)) }
        return keywords
    }

    /// A word's letters in base64 depend on where in a group of three it begins.
    private static let words: [Keyword] = [
        "password", "Password", "passwd", "secret", "Secret", "SECRET", "token", "Token", "TOKEN", "apiKey", "api_key",
        "API_KEY",
        "PRIVATE KEY", "sk_live_", "Bearer ", "PASSWORD",
    ].flatMap { (word: String) -> [Keyword] in
        let bytes = Array(word.utf8)
        let letters = (0..<3).map {
            Keyword(Base64.letters(of: bytes, shiftedBy: $0), .wrapped(.base64, isStart: false))
        }
        return letters + [hex(of: bytes, isStart: false)]
    }

    private static func hex(of bytes: [UInt8], isStart: Bool) -> Keyword {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return Keyword(text, isExact: false, .wrapped(.hex, isStart: isStart))
    }

    /// Escapes of printable characters, which nobody has to escape.
    private static let escapes: [Keyword] = (2...7).map { Keyword("\\u00\($0)", isExact: true, .escape) }
}
