/// The tables of a search, created once and shared by all threads.
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
        /// Skip keywords that end before a position.
        case goOnFrom(Int)
        case stop
    }

    /// Calls `hit` for every keyword, in the order of their ends.
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

/// Checks the surroundings of a keyword.
final class Detector: Sendable {
    /// A preliminary match, before overlaps are resolved.
    struct Draft {
        var range: Range<Int>
        var certainty: SecretMatch.Certainty = .certain
        var expires: Int64? = nil
        /// The rule, if it differs from the detector's own.
        var rule: SecretRule? = nil
    }

    let rule: SecretRule
    let keyword: String
    let isExact: Bool
    /// Checks the text around the range of the keyword.
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

/// Parts of names, matched in any case.
enum NameKeywords {
    static let all: [Keyword] = parts.map { Keyword($0, isExact: false, .name) }

    private static let parts = [
        "pass", "pwd", "secret", "token", "key", "auth", "session", "sessid", "credential", "creds", "cookie", "pin",
        "otp", "cvv",
        "cvc", "ssn", "social", "mnemonic", "seed", "jwt", "card", "ccnum", "kennwort", "contrase", "senha",
        "wachtwoord", "psk",
        "_pw", ".sid", "recovery", "backupcode", "backup_code", "backup-code", "securitycode", "security_code",
        "verificationcode",
        "mfacode", "bearer", "refresh", "\"pw", "\"sid", "\"pan",
    ]
}
