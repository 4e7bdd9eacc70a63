extension Assignment {
    /// The start of a value after its name.
    struct Start {
        var position: Int
        /// True if markup ends the value.
        var isElement = false
        /// True if the existence or the end of the value is uncertain.
        var isLoose = false
        /// The start of the name, if it may have a line of its own.
        var name: Int?
    }
}

extension Assignment.Start {
    init?(after name: Range<Int>, in text: SearchText) {
        // `Space::Name` is a type.
        guard !text.holds("::", at: name.lowerBound - 2) else { return nil }
        let position = text.end(of: .closing, from: name.upperBound, atMost: 6)
        let isClosed = position > name.upperBound
        if text[position] == UInt8(ascii: "<") {
            self.init(behindTagAt: position, in: text)
        } else if text[position] == UInt8(ascii: ">") {
            let before = text[name.lowerBound - 1]
            guard before == UInt8(ascii: "<") || ByteClass.quote.contains(before) else { return nil }
            self.init(position: position + 1, isElement: true)
        } else {
            self.init(behindClosingAt: position, isClosed: isClosed, name, in: text)
        }
    }

    private init?(behindClosingAt position: Int, isClosed: Bool, _ name: Range<Int>, in text: SearchText) {
        let blank = text.end(of: .blank, from: position, atMost: 64)
        if isClosed, text.holds("value=", at: blank) {
            self.init(position: blank + 6)
            return
        }
        guard let after = Self.operatorEnd(in: text, at: blank) else {
            guard blank > position, Self.isOption(name, in: text) else { return nil }
            self.init(position: blank, isLoose: true)
            return
        }
        let isTight = after - blank == 1 && blank == name.upperBound && text[blank] == UInt8(ascii: "=")
        var start = text.end(of: .blank, from: after, atMost: 64)
        if isClosed, text[start] == 10 || text[start] == 13 { start = text.end(of: .space, from: start, atMost: 64) }
        if let typed = Self.typeEnd(in: text, at: start, after: text[after - 1]) { start = typed }
        self.init(position: start, isLoose: !isTight, name: name.lowerBound)
    }

    private static func isOption(_ name: Range<Int>, in text: SearchText) -> Bool {
        text.holds("--", at: name.lowerBound) || text.holds("--", at: name.lowerBound - 2)
    }

    /// Finds a value after `</key>` and the tag that follows it.
    private init?(behindTagAt position: Int, in text: SearchText) {
        guard text.holds("</", at: position) else { return nil }
        let tag = text.end(of: .word, from: position + 2, atMost: 32)
        guard text[tag] == UInt8(ascii: ">") else { return nil }
        let next = text.end(of: .space, from: tag + 1, atMost: 128)
        guard text[next] == UInt8(ascii: "<"), ByteClass.letter.contains(text[next + 1]) else { return nil }
        let end = text.end(of: .word, from: next + 1, atMost: 32)
        guard text[end] == UInt8(ascii: ">") else { return nil }
        self.init(position: end + 1, isElement: true)
    }

    /// Returns the end of an operator: `=`, `:`, `:=`, `=>`, `==`. Rejects `!=`.
    private static func operatorEnd(in text: SearchText, at position: Int) -> Int? {
        let end = text.end(of: .assigning, from: position, atMost: 3)
        guard end > position, text[position] != UInt8(ascii: ">"), text[end - 1] != UInt8(ascii: "!") else {
            return nil
        }
        // `::` separates names, and `://` is part of an address.
        return text.holds("::", at: position) || text.holds("//", at: end) ? nil : end
    }

    /// Returns the position after `String = ` in `let name: String = "value"`.
    private static func typeEnd(in text: SearchText, at position: Int, after sign: UInt8) -> Int? {
        guard sign == UInt8(ascii: ":"), ByteClass.letter.contains(text[position]) else { return nil }
        let type = text.end(of: .type, from: position, atMost: 40)
        let blank = text.end(of: .blank, from: type, atMost: 8)
        guard blank > type, text[blank] == UInt8(ascii: "="), text[blank + 1] != UInt8(ascii: "=") else { return nil }
        let next = text.end(of: .blank, from: blank + 1, atMost: 8)
        return ByteClass.quote.contains(text[next]) ? next : nil
    }
}

extension ByteClass {
    fileprivate static let closing = ByteClass("\\\"'`])")
    fileprivate static let assigning = ByteClass(":=>!")
    fileprivate static let type = ByteClass.alphanumeric + ByteClass("?<>[]._")
}
