/// The tables of a search: made once, used by every thread.
struct SearchEngine: Sendable {
    let automaton: KeywordAutomaton
    let detectors: [Detector]

    init(_ detectors: [Detector]) {
        self.detectors = detectors
        var keywords = detectors.enumerated().map { Keyword($1.keyword, isExact: $1.isExact, .detector(Int32($0))) }
        keywords += NameKeywords.all
        keywords += WrappedKeywords.all
        automaton = KeywordAutomaton(keywords)
    }

    enum HitAnswer {
        case goOn
        /// Keywords that end before a position are of no interest.
        case goOnFrom(Int)
        case stop
    }

    /// Calls back for every keyword, in the order of their ends.
    @inline(__always)
    func scan(_ text: SearchText, _ hit: (Keyword.Role, _ range: Range<Int>) -> HitAnswer) {
        guard let base = text.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        let (classes, table) = (automaton.classes, automaton.table)
        let count = text.count
        var row = 0
        var position = 0
        while position < count {
            let next = table[row &+ Int(classes[Int(base[position])])]
            position &+= 1
            row = Int(next & ~KeywordAutomaton.accepting) &* KeywordAutomaton.columns
            guard next & KeywordAutomaton.accepting != 0 else { continue }
            var later = position
            for ending in automaton.endings(in: next) where automaton.isThere(ending, in: text, endingAt: position) {
                switch hit(ending.role, position - ending.length..<position) {
                case .goOn: break
                case .goOnFrom(let end): later = max(later, end)
                case .stop: return
                }
            }
            if later > position {
                position = later
                row = 0
            }
        }
    }
}
