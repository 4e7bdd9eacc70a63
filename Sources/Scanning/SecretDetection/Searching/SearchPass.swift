/// A single search of running text, which resolves overlaps and hands out the matches in order.
struct SearchPass {
    let engine: SearchEngine
    let text: SearchText
    /// The matches that are not yet handed out, in order and without overlaps.
    private var pending: [SecretMatch] = []
    /// The end of the last match that was handed out.
    private var handedOut = 0
    /// The end of the last name that was examined.
    private var nameEnd = 0
    /// Collects wrapped runs, if the caller requested them.
    private var finder: WrappedRunFinder?
    private(set) var runs: [WrappedRun] = []
    /// The range from the end of a certain match's keyword to the match's end, in which only wrapped runs matter.
    private var settled = 0..<0

    init(_ engine: SearchEngine, _ text: SearchText, withRuns: Bool = false) {
        self.engine = engine
        self.text = text
        finder = withRuns ? WrappedRunFinder(text) : nil
    }

    mutating func run(_ found: (SecretMatch) -> Bool) {
        var goesOn = true
        if let key = BinaryKey.match(in: text) { add(key) }
        engine.scan(text) { role, range in
            if case .wrapped(let encoding, let isStart) = role,
                let run = finder?.run(around: range, encoding, isStart: isStart)
            {
                runs.append(run)
            }
            if range.lowerBound < settled.upperBound, range.upperBound > settled.lowerBound { return .goOn }
            goesOn = flush(before: range.lowerBound, found)
            guard goesOn else { return .stop }
            guard let match = match(role, range) else { return .goOn }
            add(match)
            return match.certainty == .certain ? settle(range.upperBound, match.range.upperBound) : .goOn
        }
        if goesOn { _ = flush(before: Int.max, found) }
    }

    private mutating func settle(_ keywordEnd: Int, _ matchEnd: Int) -> SearchEngine.HitAnswer {
        if finder == nil { return .goOnFrom(matchEnd) }
        if matchEnd > keywordEnd { settled = keywordEnd..<max(settled.upperBound, matchEnd) }
        return .goOn
    }

    private mutating func match(_ role: Keyword.Role, _ range: Range<Int>) -> SecretMatch? {
        switch role {
        case .detector(let index): engine.detectors[Int(index)].match(in: text, keyword: range)
        case .name: assigned(range)
        case .wrapped, .escape: nil
        }
    }

    private mutating func assigned(_ part: Range<Int>) -> SecretMatch? {
        guard part.lowerBound >= nameEnd else { return nil }
        let name = Assignment.name(around: part, in: text)
        guard let assignment = Assignment(name: name, in: text) else { return nil }
        nameEnd = name.upperBound
        return FieldJudge.match(text, assignment.value, named: text.slice(name), assignment.style)
    }

    /// Adds a match. Of two overlapping matches the more certain one remains, or the first.
    private mutating func add(_ match: SecretMatch) {
        guard match.range.lowerBound >= handedOut, !match.range.isEmpty else { return }
        while let last = pending.last, last.range.upperBound > match.range.lowerBound {
            guard match.certainty > last.certainty || match.isOfForm && !last.isOfForm else { return }
            pending.removeLast()
        }
        pending.append(match)
    }

    /// Hands out the matches that end before a position. Later matches do not overlap them.
    private mutating func flush(before position: Int, _ found: (SecretMatch) -> Bool) -> Bool {
        guard let last = pending.last, last.range.upperBound <= position else { return true }
        handedOut = last.range.upperBound
        for match in pending where !found(match) {
            pending.removeAll()
            return false
        }
        pending.removeAll(keepingCapacity: true)
        return true
    }
}

extension SecretMatch {
    /// True if the match was found by its form rather than by its name alone.
    fileprivate var isOfForm: Bool { !rule.id.hasPrefix("field.") }
}

/// Searches a text for the first potential secret without identifying it.
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

    /// Returns whether a name may have a secret value. The check is looser than a search, because a parser of the text
    /// may find longer values.
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

    /// The unnecessary escapes that JSON writers use: & ' < >.
    private static let usualEscapes: [StaticString] = ["\\u0026", "\\u0027", "\\u003c", "\\u003e"]
}
