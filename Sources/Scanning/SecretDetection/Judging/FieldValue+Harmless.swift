/// Values that are not secrets.
extension FieldValue {
    /// True for a truth value, a number, a version, a path, an address, a colour.
    var isPlain: Bool {
        guard text.count >= 3 else { return true }
        if text.count <= 9,
            Self.nothings.contains(where: { $0.utf8CodeUnitCount == text.count && text.holdsFolded($0, at: 0) })
        {
            return true
        }
        return isVersion || isPath || isAddress || isDecimal
    }

    /// Returns whether the value repeats the name.
    func repeats(_ name: SearchText) -> Bool {
        guard text.count >= 3, name.count >= text.count else { return false }
        var at = name.count
        var from = text.count
        while from > 0 {
            guard at > 0 else { return false }
            if !ByteClass.alphanumeric.contains(name[at - 1]) { at -= 1; continue }
            if !ByteClass.alphanumeric.contains(text[from - 1]) { from -= 1; continue }
            guard name[at - 1].lowered == text[from - 1].lowered else { return false }
            at -= 1
            from -= 1
        }
        return true
    }

    /// True for hexadecimal digits of a digest's length.
    var isHash: Bool { [32, 40, 56, 64, 96, 128].contains(text.count) && text.allSatisfy(.hex) }

    func isDigits(_ lengths: ClosedRange<Int>) -> Bool { lengths.contains(text.count) && text.allSatisfy(.digit) }

    /// True for seconds or milliseconds since 1970, from the years 2001 to 2033.
    var isTime: Bool {
        (text.count == 10 || text.count == 13) && text[0] == UInt8(ascii: "1") && text.allSatisfy(.digit)
    }

    private var isDecimal: Bool {
        text.count <= 24 && made.digits > 0 && made.letters == 0 && made.symbols <= 2 && text.allSatisfy(.decimal)
            && made.digits < text.count
    }

    private var isVersion: Bool {
        let start = text.end(of: .versionMark, from: 0)
        guard start > 0 || made.symbols >= 2, ByteClass.digit.contains(text[start]) else { return false }
        return text.slice(start..<text.count).end(of: .version, from: 0) + start == text.count && made.letters <= 8
            && text.count <= 24
    }

    private var isPath: Bool {
        if text.first("://", in: 0..<min(text.count, 24)) != nil { return true }
        let isRooted =
            text[0] == UInt8(ascii: "/") || text.holds("./", at: 0) || text.holds("../", at: 0)
            || text.holds("~/", at: 0)
        if isRooted { return made.isWords || made.digits <= 4 && made.letters > text.count / 2 && text.count < 40 }
        return text.count < 200 && made.isWords
            && Self.suffixes.contains { text.holdsFolded($0, at: text.count - $0.utf8CodeUnitCount) }
    }

    /// True for a mail address.
    private var isAddress: Bool {
        let at = text.end(of: .mailbox, from: 0)
        guard at > 0, text[at] == UInt8(ascii: "@") else { return false }
        let end = text.end(of: .mailbox, from: at + 1)
        guard end == text.count, let dot = text.bytes.lastIndex(of: UInt8(ascii: ".")), dot > at else { return false }
        let top = text.slice(dot + 1..<text.count)
        return (2...6).contains(top.count) && top.allSatisfy(.lower) && dot - at > 3
    }

    /// True for words joined by dots or slashes, such as `com.example.token`, `auth.token.value`, `settings/password`.
    var isIdentifierPath: Bool {
        guard made.symbols > 0, text.allSatisfy(.path) else { return false }
        if made.digits == 0 { return made.isWords || made.letters <= 8 }
        return made.digits <= 2 && made.capitals == 0 && made.isWords
    }

    /// True for an expression: a call, an index, a member.
    var looksLikeCode: Bool {
        if text.bytes.contains(where: ByteClass.code.contains) {
            return style != .assigned || text.bytes.contains(UInt8(ascii: "("))
                || text.bytes.contains(UInt8(ascii: "["))
        }
        guard ByteClass.letter.contains(text[0]) || text[0] == UInt8(ascii: "_") else { return false }
        let end = text.end(of: .word, from: 0)
        let isMember = text[end] == UInt8(ascii: ".") && ByteClass.letter.contains(text[end + 1])
        return isMember && end < 16 && text.count - end < 40
    }

    private static let nothings: [StaticString] = [
        "true", "false", "null", "nil", "none", "yes", "no", "off", "n/a", "undefined", "empty", "unknown", "default",
        "string",
        "password", "secret", "token", "admin", "test", "user", "root",
    ]

    private static let suffixes: [StaticString] = [
        ".pem", ".key", ".json", ".txt", ".swift", ".png", ".yml", ".yaml", ".xml", ".js", ".ts", ".html", ".plist",
        ".p12", ".p8",
        ".crt", ".cer", ".sh", ".py", ".rb", ".go", ".com", ".org", ".net", ".io",
    ]
}

extension SearchText {
    /// True for 8-4-4-4-12 hexadecimal digits.
    var isUUID: Bool {
        guard count == 36 else { return false }
        for position in 0..<36 {
            let isDash = [8, 13, 18, 23].contains(position)
            guard isDash ? self[position] == UInt8(ascii: "-") : ByteClass.hex.contains(self[position]) else {
                return false
            }
        }
        return true
    }
}

extension ByteClass {
    fileprivate static let decimal = ByteClass.digit + ByteClass("+-.,:/ eExX%")
    fileprivate static let versionMark = ByteClass("^~<>=v ")
    fileprivate static let version = ByteClass.alphanumeric + ByteClass(".-+*")
    fileprivate static let mailbox = ByteClass.alphanumeric + ByteClass("._%+-")
    fileprivate static let path = ByteClass.alphanumeric + ByteClass("._-/:")
    fileprivate static let code = ByteClass("()[]{}<>;\\")
}
