/// Values that stand where a secret would.
enum Placeholder {
    /// Whether the random part of a token was made up by a person: a row of one character, a sequence, a word for "none".
    static func isIn(token text: SearchText) -> Bool {
        if hasRow(of: 5, in: text) && text.count <= 96 { return true }
        return hasSequence(of: 7, in: text) || PlaceholderWords.kinds(in: text).contains(.token)
    }

    /// Whether a value of a field says that there is none, or where it comes from.
    static func isIn(field text: SearchText) -> Bool {
        if isTemplate(text) || hasRow(of: text.count > 20 ? 5 : 4, in: text) && text.count <= 96 { return true }
        if hasSequence(of: text.count > 8 ? 6 : 7, in: text) { return true }
        let kinds = PlaceholderWords.kinds(in: text)
        return !kinds.isDisjoint(with: [.token, .template, .reference]) || kinds.contains(.field) && text.count <= 40
    }

    /// `${NAME}`, `{{ name }}`, `<name>`, `%s`, `$(NAME)`, `#{name}`, `[name]`, `$NAME`, `__NAME__`.
    private static func isTemplate(_ text: SearchText) -> Bool {
        let last = text[text.count - 1]
        switch text[0] {
        case UInt8(ascii: "$"):
            return text[1] == UInt8(ascii: "{") || text[1] == UInt8(ascii: "(")
                || isVariable(text.slice(1..<text.count))
        case UInt8(ascii: "<"): return last == UInt8(ascii: ">")
        case UInt8(ascii: "{"): return last == UInt8(ascii: "}")
        case UInt8(ascii: "["): return last == UInt8(ascii: "]")
        case UInt8(ascii: "("): return last == UInt8(ascii: ")")
        case UInt8(ascii: "%"): return text.count <= 4 || last == UInt8(ascii: "%") || text[1] == UInt8(ascii: "(")
        case UInt8(ascii: "@"): return last == UInt8(ascii: "@")
        case UInt8(ascii: "_"): return text[1] == UInt8(ascii: "_") && last == UInt8(ascii: "_")
        default: break
        }
        return text.holds("%s", at: text.count - 2) || text.holds("%@", at: text.count - 2)
    }

    private static func isVariable(_ name: SearchText) -> Bool {
        name.allSatisfy(.word) && Wordiness(name).isIdentifier
    }

    /// Whether one character stands so often behind itself.
    static func hasRow(of length: Int, in text: SearchText) -> Bool {
        var row = 1
        for position in 1..<max(1, text.count) {
            row = text.bytes[position] == text.bytes[position - 1] ? row + 1 : 1
            if row >= length { return true }
        }
        return false
    }

    /// Whether so many characters count up: `1234567`, `abcdefg`.
    static func hasSequence(of length: Int, in text: SearchText) -> Bool {
        var run = 1
        for position in 1..<max(1, text.count) {
            let (last, byte) = (text.bytes[position - 1].lowered, text.bytes[position].lowered)
            let counts =
                byte == last &+ 1
                || last == UInt8(ascii: "9") && (byte == UInt8(ascii: "0") || byte == UInt8(ascii: "a"))
            run = counts && (byte.isLetter || byte.isDigit) ? run + 1 : 1
            if run >= length { return true }
        }
        return false
    }
}
