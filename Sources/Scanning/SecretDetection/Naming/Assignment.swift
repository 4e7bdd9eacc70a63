/// A name and its value in running text: `name = value`, `"name": "value"`, `<key>name</key><string>value`,
/// `<name>value`, `--name value`, `name=value&`.
struct Assignment {
    let name: Range<Int>
    let value: Range<Int>
    let style: FieldValue.Style
    /// The position from which the search for names continues.
    var end: Int { value.upperBound }

    private static let longestName = 96
    private static let longestValue = 8192

    /// Returns the range of the whole name around a part of it.
    static func name(around part: Range<Int>, in text: SearchText) -> Range<Int> {
        let start = text.start(of: .name, before: part.lowerBound, atMost: longestName)
        return start..<text.end(of: .name, from: part.upperBound, atMost: longestName)
    }

    init?(name: Range<Int>, in text: SearchText) {
        guard let start = Start(after: name, in: text) else { return nil }
        self.init(name: name, start, in: text)
    }

    init?(name: Range<Int>, _ start: Start, in text: SearchText) {
        guard let found = Self.value(at: start, in: text) else { return nil }
        self.name = name
        (value, style) = found
    }

    private static func value(at start: Start, in text: SearchText) -> (Range<Int>, FieldValue.Style)? {
        if start.isElement {
            let end = text.end(of: .content, from: start.position, atMost: longestValue)
            guard text[end] == UInt8(ascii: "<") else { return nil }
            return (trimmed(start.position..<end, in: text), .structured)
        }
        var open = start.position
        // Prefixes of literals: b"", r'', @"".
        if ByteClass.literalPrefix.contains(text[open]), ByteClass.quote.contains(text[open + 1]) { open += 1 }
        let slashes = text.end(of: .backslash, from: open, atMost: 7) - open
        let quote = text[open + slashes]
        if ByteClass.quote.contains(quote) { return quoted(from: open + slashes + 1, by: quote, slashes, in: text) }
        let end = text.end(of: start.isLoose ? .bareLoose : .bare, from: start.position, atMost: longestValue)
        guard end > start.position else { return nil }
        var last = end
        while last > start.position, ByteClass.trailing.contains(text[last - 1]) { last -= 1 }
        guard last > start.position else { return nil }
        return (start.position..<last, start.isLoose && !isLine(start, until: end, in: text) ? .loose : .assigned)
    }

    /// Returns whether a line contains only the name and the value, as in YAML.
    private static func isLine(_ start: Start, until end: Int, in text: SearchText) -> Bool {
        guard end == text.count || text[end] == 10 || text[end] == 13, let name = start.name else { return false }
        let before = text.start(of: .indentation, before: name, atMost: 64)
        return (before == 0 || text[before - 1] == 10) && text[end - 1] != UInt8(ascii: ",")
    }

    /// Returns the value up to the same quote, with the same number of backslashes before it, on the same line.
    private static func quoted(
        from start: Int, by quote: UInt8, _ slashes: Int, in text: SearchText
    ) -> (Range<Int>, FieldValue.Style)? {
        var position = start
        let bound = min(text.count, start + longestValue)
        while position < bound {
            let byte = text.bytes[position]
            if byte == 10 { return nil }
            if byte == quote {
                let before = position - text.start(of: .backslash, before: position, atMost: 8)
                if before == slashes { return position - slashes > start ? (start..<position - slashes, .quoted) : nil }
                if before < slashes { return nil }
            }
            position += 1
        }
        return nil
    }

    private static func trimmed(_ range: Range<Int>, in text: SearchText) -> Range<Int> {
        let start = text.end(of: .space, from: range.lowerBound, atMost: range.count)
        return start..<max(start, text.start(of: .space, before: range.upperBound, atMost: range.count))
    }
}

extension ByteClass {
    fileprivate static let name = ByteClass.word + ByteClass("-.$")
    fileprivate static let literalPrefix = ByteClass("bruf@LN")
    fileprivate static let indentation = ByteClass(" \t-\"'")
    fileprivate static let backslash = ByteClass("\\")
    fileprivate static let trailing = ByteClass(".,;:")
    /// The bytes of markup content between two tags.
    fileprivate static let content = ByteClass("<>").inverted
    /// The bytes of a value without quotes.
    fileprivate static let bare = (ByteClass.control + ByteClass("\"'`&,;\\<>")).inverted
    fileprivate static let bareLoose = (ByteClass.control + ByteClass("\"'`&,;\\<>|")).inverted
}
