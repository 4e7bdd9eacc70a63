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
        hasRun(of: length, in: text) { $0 == $1 }
    }

    /// Whether so many characters count up: `1234567`, `abcdefg`.
    static func hasSequence(of length: Int, in text: SearchText) -> Bool {
        hasRun(of: length, in: text) { last, byte in
            let (last, byte) = (last.lowered, byte.lowered)
            let counts =
                byte == last &+ 1
                || last == UInt8(ascii: "9") && (byte == UInt8(ascii: "0") || byte == UInt8(ascii: "a"))
            return counts && (byte.isLetter || byte.isDigit)
        }
    }

    /// Whether so many bytes, two at least, each go on from the one before.
    ///
    /// A run of n bytes has n - 1 steps, one of which leads to a place that n - 1 divides: only from there it is followed.
    @inline(__always)
    private static func hasRun(of length: Int, in text: SearchText, _ goesOn: (UInt8, UInt8) -> Bool) -> Bool {
        let steps = length - 1
        var place = steps
        while place < text.count {
            if goesOn(text.bytes[place - 1], text.bytes[place]) {
                var start = place - 1
                while start > 0, place - start < steps, goesOn(text.bytes[start - 1], text.bytes[start]) { start -= 1 }
                var end = place + 1
                while end < text.count, end - start < length, goesOn(text.bytes[end - 1], text.bytes[end]) { end += 1 }
                if end - start >= length { return true }
            }
            place += steps
        }
        return false
    }
}
