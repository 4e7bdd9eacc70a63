/// Looks for the first thing in a text that can be a secret, without telling which.
struct SuspicionPass {
    private let engine: SearchEngine
    private let text: SearchText
    private var finder: WrappedRunFinder
    private var nameEnd = 0

    init(_ engine: SearchEngine, _ text: SearchText) {
        self.engine = engine
        self.text = text
        finder = WrappedRunFinder(text)
    }

    mutating func run() -> Bool {
        var isSuspicious = BinaryKey.match(in: text) != nil
        if isSuspicious { return true }
        engine.scan(text) { role, range in
            guard suspects(role, range) else { return .goOn }
            isSuspicious = true
            return .stop
        }
        return isSuspicious
    }

    private mutating func suspects(_ role: Keyword.Role, _ range: Range<Int>) -> Bool {
        switch role {
        case .detector(let index): engine.detectors[Int(index)].match(in: text, keyword: range) != nil
        case .name: suspectsName(range)
        case .wrapped(let encoding, let isStart): finder.run(around: range, encoding, isStart: isStart) != nil
        case .escape: !Self.usualEscapes.contains { text.holdsFolded($0, at: range.lowerBound) }
        }
    }

    /// Looser than a search: a parser of the text may see more of a value than running text shows.
    private mutating func suspectsName(_ part: Range<Int>) -> Bool {
        guard part.lowerBound >= nameEnd else { return false }
        let name = Assignment.name(around: part, in: text)
        guard let start = Assignment.Start(after: name, in: text) else {
            return NamedSibling.isNamed(by: name, in: text)
        }
        nameEnd = name.upperBound
        guard SecretName.kind(of: text.slice(name)) != nil else { return false }
        let first = text[start.position]
        if start.isElement || first == UInt8(ascii: "[") || first == UInt8(ascii: "{") { return true }
        guard let assignment = Assignment(name: name, start, in: text) else { return false }
        return FieldJudge.match(text, assignment.value, named: text.slice(name), .structured) != nil
    }

    /// What writers of JSON escape though they need not: & ' < >.
    private static let usualEscapes: [StaticString] = ["\\u0026", "\\u0027", "\\u003c", "\\u003e"]
}
