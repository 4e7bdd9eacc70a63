/// Judges values by the names of their fields.
enum FieldJudge {
    static func match(
        _ text: SearchText, _ value: Range<Int>, named name: SearchText, _ style: FieldValue.Style
    ) -> SecretMatch? {
        guard let kind = SecretName.kind(of: name) else { return nil }
        let value = kind == .seedPhrase && style != .quoted ? phrase(from: value, in: text) : value
        let slice = text.slice(value)
        // Tokens are left to their own detector.
        guard !WebToken.isToken(slice) else { return nil }
        if let rule = ContextRules.rule(for: slice, named: name) {
            return SecretMatch(rule: rule, range: value, certainty: .likely)
        }
        guard let certainty = FieldValue(slice, style).certainty(as: kind, named: name),
            let rule = FieldRules.rule(for: kind)
        else { return nil }
        return SecretMatch(rule: rule, range: value, certainty: certainty)
    }

    /// Returns the range of lowercase words from a value on.
    private static func phrase(from value: Range<Int>, in text: SearchText) -> Range<Int> {
        let end = text.end(of: .phrase, from: value.lowerBound, atMost: 256)
        return value.lowerBound..<max(value.upperBound, text.start(of: .blank, before: end, atMost: 256))
    }
}

extension ByteClass {
    fileprivate static let phrase = ByteClass.lower + ByteClass(" ")
}

/// A name that is itself a value: `{"name": "refresh_token", "value": "…"}`. Only a reader of the structure can
/// determine the value that it names. The check here decides whether such a reader is needed.
enum NamedSibling {
    /// The greatest distance in the text of the value's key.
    private static let reach = 2048

    /// Returns whether the name is a string after a key for names, with a key for values near it.
    static func isNamed(by name: Range<Int>, in text: SearchText) -> Bool {
        let quote = text.start(of: .mark, before: name.lowerBound, atMost: 8)
        guard quote < name.lowerBound, ByteClass.mark.contains(text[name.upperBound]) else { return false }
        let joint = text.start(of: .joint, before: quote, atMost: 32)
        guard joint < quote, isKey(text, endingAt: joint), SecretName.kind(of: text.slice(name)) != nil else {
            return false
        }
        let near = max(0, name.lowerBound - reach)..<min(text.count, name.upperBound + reach)
        return values.contains { text.firstFolded($0, in: near) != nil }
    }

    private static func isKey(_ text: SearchText, endingAt end: Int) -> Bool {
        let start = text.start(of: .word, before: end, atMost: 12)
        return keys.contains { (key: StaticString) in
            key.utf8CodeUnitCount == end - start && text.holdsFolded(key, at: start)
        }
    }

    private static let values: [StaticString] = ["\"val", "\"v\"", "\"v\\", "\"v_data", "\"data\"", "\"data\\"]
    private static let keys: [StaticString] = [
        "name", "key", "k", "acct", "account", "attribute", "setting", "svce",
    ]
}

extension ByteClass {
    /// Quotes, optionally escaped.
    fileprivate static let mark = ByteClass("\"\\")
    /// The bytes between a key's letters and its value's quote.
    fileprivate static let joint = ByteClass("\\\": \t\r\n")
}
