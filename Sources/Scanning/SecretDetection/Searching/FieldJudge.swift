/// Judges values by the names of what holds them.
enum FieldJudge {
    static func match(
        _ text: SearchText, _ value: Range<Int>, named name: SearchText, _ style: FieldValue.Style
    ) -> SecretMatch? {
        guard let kind = SecretName.kind(of: name) else { return nil }
        let value = kind == .seedPhrase && style != .quoted ? phrase(from: value, in: text) : value
        let slice = text.slice(value)
        // Whether it is one is for its own detector to say.
        guard !WebToken.isToken(slice) else { return nil }
        if let rule = ContextRules.rule(for: slice, named: name) {
            return SecretMatch(rule: rule, range: value, certainty: .likely)
        }
        guard let certainty = FieldValue(slice, style).certainty(as: kind, named: name) else { return nil }
        return SecretMatch(rule: FieldRules.rule(for: kind), range: value, certainty: certainty)
    }

    /// The small words from a value on.
    private static func phrase(from value: Range<Int>, in text: SearchText) -> Range<Int> {
        let end = text.end(of: .phrase, from: value.lowerBound, atMost: 256)
        return value.lowerBound..<max(value.upperBound, text.start(of: .blank, before: end, atMost: 256))
    }
}

extension ByteClass {
    fileprivate static let phrase = ByteClass.lower + ByteClass(" ")
}
