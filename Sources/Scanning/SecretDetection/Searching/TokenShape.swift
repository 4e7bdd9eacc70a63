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

/// A small pattern over bytes, matched from left to right without ever going back: what a run takes, it keeps.
///
/// Each run must therefore end where its class ends, or at its greatest length; time is linear in what is matched.
struct BytePattern: Sendable {
    /// One piece of a pattern.
    indirect enum Piece: Sendable {
        case text([UInt8])
        case run(ByteClass, ClosedRange<Int>)
        /// Matched if it can be.
        case optional([Piece])
        /// The first that matches is taken.
        case either([[Piece]])
    }

    let pieces: [Piece]

    init(_ pieces: Piece...) { self.pieces = pieces }
    init(_ pieces: [Piece]) { self.pieces = pieces }

    /// Where the pattern ends that begins at a position; nil if it is not there.
    func end(in text: SearchText, from position: Int) -> Int? {
        Self.end(pieces, in: text, from: position)
    }

    private static func end(_ pieces: [Piece], in text: SearchText, from start: Int) -> Int? {
        var position = start
        for piece in pieces {
            guard let next = end(piece, in: text, from: position) else { return nil }
            position = next
        }
        return position
    }

    private static func end(_ piece: Piece, in text: SearchText, from position: Int) -> Int? {
        switch piece {
        case .text(let bytes):
            return text.holds(bytes, at: position) ? position + bytes.count : nil
        case .run(let members, let lengths):
            let end = text.end(of: members, from: position, atMost: lengths.upperBound)
            return end - position >= lengths.lowerBound ? end : nil
        case .optional(let pieces):
            return end(pieces, in: text, from: position) ?? position
        case .either(let branches):
            for branch in branches {
                if let end = end(branch, in: text, from: position) { return end }
            }
            return nil
        }
    }

    /// What a following byte must not be, so that the pattern's last run is a whole one.
    var lastClass: ByteClass {
        guard case .run(let members, _)? = pieces.last else { return .alphanumeric }
        return members + .alphanumeric
    }
}

extension BytePattern.Piece {
    static func text(_ text: StaticString) -> Self {
        .text(Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }
    static func run(_ members: ByteClass, _ length: Int) -> Self { .run(members, length...length) }
    static func run(_ members: ByteClass, atLeast length: Int) -> Self { .run(members, length...4096) }
    /// A slash as it is written in text and in JSON.
    static let slash = Self.either([[.text("/")], [.text("\\/")]])
}
