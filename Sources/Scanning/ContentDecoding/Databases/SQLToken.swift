/// A token of SQL, as far as table definitions require.
enum SQLToken: Equatable {
    /// A name or a keyword, as written.
    case word(String)
    /// A name in any kind of quotes, which is never a keyword.
    case quoted(String)
    /// A punctuation character.
    case mark(UInt8)

    /// Returns whether the token is this keyword, in any case.
    func isKeyword(_ keyword: String) -> Bool {
        if case .word(let word) = self { return word.uppercased() == keyword }
        return false
    }

    /// The name that the token contains, or `nil` for punctuation.
    var name: String? {
        switch self {
        case .word(let name), .quoted(let name): name
        case .mark: nil
        }
    }
}

/// Splits SQL into tokens without comments. Terminates for every input.
struct SQLTokens {
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) { self.text = text }

    /// Returns all tokens of a text.
    static func all(_ text: [UInt8]) -> [SQLToken] {
        var (tokens, all) = (SQLTokens(text), [SQLToken]())
        while let token = tokens.next() { all.append(token) }
        return all
    }

    private mutating func next() -> SQLToken? {
        skipSpace()
        guard index < text.count else { return nil }
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): return .quoted(quoted(by: byte))
        case UInt8(ascii: "["): return .quoted(quoted(by: UInt8(ascii: "]")))
        case _ where Self.isWord(byte):
            let start = index
            while index < text.count, Self.isWord(text[index]) { index += 1 }
            return .word(String(decoding: text[start..<index], as: UTF8.self))
        default:
            index += 1
            return .mark(byte)
        }
    }

    /// Reads a quoted name. A quote inside a name is doubled, a bracket is not.
    private mutating func quoted(by end: UInt8) -> String {
        index += 1
        var name: [UInt8] = []
        while index < text.count {
            let byte = text[index]
            index += 1
            if byte != end {
                name.append(byte)
            } else if end != UInt8(ascii: "]"), index < text.count, text[index] == end {
                name.append(byte)
                index += 1
            } else {
                break
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while index < text.count {
            if text[index] <= 0x20 {
                index += 1
            } else if text[index...].starts(with: "--".utf8) {
                while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
            } else if text[index...].starts(with: "/*".utf8) {
                index += 2
                while index < text.count, !text[index...].starts(with: "*/".utf8) { index += 1 }
                index = min(index + 2, text.count)
            } else {
                return
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }
}
