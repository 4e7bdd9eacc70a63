internal import PropertyLists

/// Finds the whole runs of letters around keywords of something wrapped. Keywords come in order.
struct WrappedRunFinder {
    private let text: SearchText
    /// The end of the examined text, so that no letter is examined again for each keyword.
    private var seen = 0

    private static let shortest = 16

    init(_ text: SearchText) { self.text = text }

    mutating func run(around keyword: Range<Int>, _ encoding: WrappedRun.Encoding, isStart: Bool) -> WrappedRun? {
        guard keyword.lowerBound >= seen else { return nil }
        let members: ByteClass = encoding == .hex ? .hex : .anyBase64
        let start = isStart ? keyword.lowerBound : max(seen, text.start(of: members, before: keyword.lowerBound))
        // A match inside a longer word is chance, and a part of a JWT is found as a token.
        guard text.beginsWord(at: start, unlike: .anyBase64), text[start - 1] != UInt8(ascii: ".") || start == 0 else {
            return nil
        }
        let end = runEnd(of: members, from: keyword.upperBound, lineStart: start)
        seen = end
        guard end - start >= Self.shortest, text[end] != UInt8(ascii: ".") else { return nil }
        if encoding == .hex { return (end - start) % 2 == 0 ? WrappedRun(range: start..<end, encoding: .hex) : nil }
        let run = text.slice(start..<end)
        let isURL = run.bytes.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let padded = text.end(of: .equals, from: end, atMost: 2)
        return WrappedRun(range: start..<padded, encoding: isURL ? .base64url : .base64)
    }

    /// Returns the end of a run, which continues over line ends after lines of at least 40 letters.
    private func runEnd(of members: ByteClass, from position: Int, lineStart: Int) -> Int {
        var end = text.end(of: members, from: position, atMost: text.count)
        var lineStart = lineStart
        while end - lineStart >= 40, text[end] == 10 || text[end] == 13 {
            let next = text.end(of: .space, from: end, atMost: 80)
            let nextEnd = text.end(of: members, from: next, atMost: text.count)
            guard nextEnd - next >= 4, nextEnd - next <= end - lineStart else { break }
            lineStart = next
            end = nextEnd
        }
        return end
    }
}

extension ByteClass {
    static let anyBase64 = ByteClass.base64 + ByteClass.base64url
}

/// A run of text that looks like a carrier in base64 or hexadecimal digits.
package struct WrappedRun: Sendable, Hashable {
    package enum Encoding: String, Sendable, Hashable { case base64, base64url, hex }
    package let range: Range<Int>
    package let encoding: Encoding

    package init(range: Range<Int>, encoding: Encoding) {
        self.range = range
        self.encoding = encoding
    }
}

/// The beginnings of carriers in base64 or hexadecimal digits, and words of secrets in the same encodings.
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

    /// The encoded words. A word's letters in base64 depend on its offset in a group of three.
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
        Keyword(HexDigits.encode(bytes), isExact: false, .wrapped(.hex, isStart: isStart))
    }

    /// Escapes of printable characters, which are never necessary.
    private static let escapes: [Keyword] = (2...7).map { Keyword("\\u00\($0)", isExact: true, .escape) }
}
