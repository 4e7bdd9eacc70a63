/// The form of a token: a prefix that is its keyword, and what follows.
struct TokenShape: Sendable {
    let prefix: String
    let rest: BytePattern
    /// A run of such bytes before the prefix belongs to the token.
    var before: (members: ByteClass, lengths: ClosedRange<Int>)?
    /// What a byte before the token must not be.
    var left = ByteClass.base64url
    /// The least entropy of what follows the prefix, in bits for each byte.
    var entropy: Float = 2.8
    var certainty = SecretMatch.Certainty.certain
    /// Where the secret begins, if only a part behind the prefix is secret.
    var isPrefixSecret = true

    init(_ prefix: String, _ rest: BytePattern.Piece...) {
        self.prefix = prefix
        self.rest = BytePattern(rest)
    }

    func with(_ change: (inout TokenShape) -> Void) -> TokenShape {
        var other = self
        change(&other)
        return other
    }

    func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        var start = keyword.lowerBound
        if let before {
            start = text.start(of: before.members, before: start, atMost: before.lengths.upperBound)
            guard keyword.lowerBound - start >= before.lengths.lowerBound else { return nil }
        }
        guard text.beginsWord(at: start, unlike: left) else { return nil }
        guard let end = rest.end(in: text, from: keyword.upperBound),
            !rest.lastClass.contains(text[end]) || end == text.count
        else { return nil }
        let random = text.slice((before == nil ? keyword.upperBound : start)..<end)
        guard Entropy.bitsPerByte(random) >= entropy, !Placeholder.isIn(token: random) else { return nil }
        return Detector.Draft(range: (isPrefixSecret ? start : keyword.upperBound)..<end, certainty: certainty)
    }
}

extension Detector {
    /// One detector for each form of a token.
    static func tokens(_ rule: SecretRule, _ shapes: TokenShape...) -> [Detector] {
        shapes.map { shape in Detector(rule, shape.prefix) { shape.find(in: $0, $1) } }
    }

    /// As `tokens`, with a last look at what was found.
    static func tokens(
        _ rule: SecretRule, _ shapes: TokenShape..., check: @escaping @Sendable (SearchText, Draft) -> Draft?
    ) -> [Detector] {
        shapes.map { shape in
            Detector(rule, shape.prefix) { text, keyword in
                shape.find(in: text, keyword).flatMap { check(text, $0) }
            }
        }
    }
}
