internal import PropertyLists

/// The credentials after `Basic` and `Bearer`, RFC 7617 and 6750.
enum HeaderCredential {
    /// Finds a name and a password in base64.
    static func basic(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let end = text.end(of: .base64, from: keyword.upperBound, atMost: 512)
        let range = keyword.upperBound..<text.end(of: .equals, from: end, atMost: 2)
        guard range.count >= 8, range.count % 4 == 0 || end == range.upperBound else { return nil }
        guard let pair = Base64.decoded(text.slice(range)), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        let isText = pair.allSatisfy { (32...126).contains($0) || $0 >= 160 }
        guard isText, colon > 0 || pair.count > 8, pair.count - colon > 3 else { return nil }
        return pair.withUnsafeBytes { pair in
            let password = SearchText(pair).slice(colon + 1..<pair.count)
            let user = SearchText(pair).slice(0..<colon)
            let isPublished = password.holds("open sesame", at: 0) || password.bytes.elementsEqual(user.bytes)
            guard !isPublished, !Placeholder.isIn(field: password), !FieldValue(password, .structured).isPlain else {
                return nil
            }
            return Detector.Draft(range: range)
        }
    }

    static func bearer(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let end = text.end(of: .token68, from: keyword.upperBound, atMost: 4096)
        let padded = text.end(of: .equals, from: end, atMost: 2)
        let value = text.slice(keyword.upperBound..<padded)
        guard value.count >= 16 else { return nil }
        let field = FieldValue(value, .quoted)
        guard !field.isPlain, !Placeholder.isIn(field: value),
            field.certainty(as: .token, named: SearchText(UnsafeRawBufferPointer(start: nil, count: 0))) != nil
        else { return nil }
        return Detector.Draft(range: keyword.upperBound..<padded, certainty: .likely)
    }
}

/// Passwords in commands and in configuration files of commands.
enum CommandCredential {
    /// Finds the password in `curl -u user:password` and `curl --user user:password`.
    static func curl(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let line = keyword.upperBound..<text.end(of: .line, from: keyword.upperBound, atMost: 1024)
        let option: (Int, Int)? =
            text.first(" -u ", in: keyword.upperBound - 1..<line.upperBound).map { ($0, 4) }
            ?? text.first(" --user ", in: keyword.upperBound - 1..<line.upperBound).map { ($0, 8) }
        guard let (place, length) = option else { return nil }
        let start = text.end(of: .quote, from: place + length, atMost: 1)
        let end = text.end(of: .argument, from: start, atMost: 256)
        guard let colon = text.bytes[start..<end].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return draft(colon + 1..<end, in: text)
    }

    /// Finds the password in `machine NAME login NAME password WORD`, on one or several lines.
    static func netrc(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let bound = min(text.count, keyword.upperBound + 512)
        guard let login = text.first("login ", in: keyword.upperBound..<bound) else { return nil }
        guard let place = text.first("password ", in: login..<bound) else { return nil }
        if let next = text.first("machine ", in: keyword.upperBound..<bound), next < place { return nil }
        let start = text.end(of: .blank, from: place + 9)
        return draft(start..<text.end(of: .argument, from: start, atMost: 256), in: text)
    }

    private static func draft(_ range: Range<Int>, in text: SearchText) -> Detector.Draft? {
        let value = text.slice(range)
        guard FieldValue(value, .quoted).certainty(as: .password, named: value.slice(0..<0)) != nil else { return nil }
        return Detector.Draft(range: range, certainty: .likely)
    }
}

extension ByteClass {
    fileprivate static let token68 = ByteClass.alphanumeric + ByteClass("-._~+/")
    fileprivate static let line = ByteClass("\r\n").inverted
    fileprivate static let argument = (ByteClass.control + ByteClass("\"'\\<")).inverted
}
