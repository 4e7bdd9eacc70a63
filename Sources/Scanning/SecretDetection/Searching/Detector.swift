/// Looks at what stands around a keyword.
final class Detector: Sendable {
    /// What it found, before it is known what else is there.
    struct Draft {
        var range: Range<Int>
        var certainty: SecretMatch.Certainty = .certain
        var expires: Int64? = nil
        /// Another rule than the detector's own.
        var rule: SecretRule? = nil
    }

    let rule: SecretRule
    let keyword: String
    let isExact: Bool
    /// Given the text and where the keyword stands.
    let find: @Sendable (SearchText, Range<Int>) -> Draft?

    init(
        _ rule: SecretRule, _ keyword: String, isExact: Bool = true,
        find: @escaping @Sendable (SearchText, Range<Int>) -> Draft?
    ) {
        self.rule = rule
        self.keyword = keyword
        self.isExact = isExact
        self.find = find
    }

    func match(in text: SearchText, keyword: Range<Int>) -> SecretMatch? {
        guard let draft = find(text, keyword), draft.range.lowerBound >= 0, draft.range.upperBound <= text.count else {
            return nil
        }
        return SecretMatch(
            rule: draft.rule ?? rule, range: draft.range, certainty: draft.certainty, expires: draft.expires)
    }
}
