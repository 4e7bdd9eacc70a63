/// The form of a token: a prefix, which is its keyword, and the rest.
struct TokenShape: Sendable {
    let prefix: String
    let rest: BytePattern
    /// The bytes of a run before the prefix that belongs to the token.
    var before: (members: ByteClass, lengths: ClosedRange<Int>)?
    /// The bytes that must not precede the token.
    var left = ByteClass.base64url
    /// The least entropy after the prefix, in bits per byte.
    var entropy: Float = 2.8
    var certainty = SecretMatch.Certainty.certain
    /// True if the secret includes the prefix.
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
    /// Returns one detector for each form of a token.
    static func tokens(_ rule: SecretRule, _ shapes: TokenShape...) -> [Detector] {
        shapes.map { shape in Detector(rule, shape.prefix) { shape.find(in: $0, $1) } }
    }

    /// Returns the same detectors with a final check of each match.
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

/// A small pattern over bytes, matched from left to right without backtracking.
///
/// Each run must therefore end where its class ends, or at its greatest length. The time is linear in the matched
/// bytes.
struct BytePattern: Sendable {
    /// A piece of a pattern.
    indirect enum Piece: Sendable {
        case text([UInt8])
        case run(ByteClass, ClosedRange<Int>)
        /// Pieces that are matched if possible.
        case optional([Piece])
        /// Alternatives, of which the first match counts.
        case either([[Piece]])
    }

    let pieces: [Piece]

    init(_ pieces: Piece...) { self.pieces = pieces }
    init(_ pieces: [Piece]) { self.pieces = pieces }

    /// Returns the end of the pattern that begins at a position, or `nil` if it does not match.
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

    /// The bytes that must not follow, so that the pattern's last run is whole.
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
    /// A slash, plain or escaped as in JSON.
    static let slash = Self.either([[.text("/")], [.text("\\/")]])
}
