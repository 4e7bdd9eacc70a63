/// What there is to say about one code: the row that explanations, advice, policies, logs and documents come from.
struct CodeEntry: Sendable {
    struct Traits: OptionSet, Sendable {
        let rawValue: Int
        /// A blob was there and was refused.
        static let rejection = Traits(rawValue: 1)
        /// Comes about without anybody's fault: time passes, and programs are updated one after the other.
        static let expected = Traits(rawValue: 2)
        /// The blob itself is at fault, not the vault, the clock or this program: a copy of it is evidence.
        static let evidence = Traits(rawValue: 4)
    }

    let code: StoreError.Code
    /// The check that fails with it; nil for what is no matter of a read.
    let check: ReadCheck?
    let traits: Traits
    /// One plain sentence.
    let explanation: String
    /// One sentence on what to do, unless the error knows better.
    let advice: String

    init(
        _ code: StoreError.Code, _ check: ReadCheck? = nil, _ traits: Traits = [], says explanation: String,
        advice: String
    ) {
        self.code = code
        self.check = check
        self.traits = traits
        self.explanation = explanation
        self.advice = advice
    }

    /// Every code that this version knows: the rejections in the order of the checks, then the others.
    static let all = RejectionTable.entries + FailureTable.entries

    static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}
