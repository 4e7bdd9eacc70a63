/// The description of one code: the row for explanations, advice, policies, logs and documents.
struct CodeEntry: Sendable {
    struct Traits: OptionSet, Sendable {
        let rawValue: Int
        /// A blob was found and refused.
        static let rejection = Traits(rawValue: 1)
        /// Occurs without a fault: time passes, and programs are updated one after the other.
        static let expected = Traits(rawValue: 2)
        /// The blob itself is at fault, not the vault, the clock or this program: a copy of it is evidence.
        static let evidence = Traits(rawValue: 4)
    }

    let code: StoreError.Code
    /// The check that fails with it; nil for a code that does not concern reads.
    let check: ReadCheck?
    let traits: Traits
    /// The meaning, in one plain sentence.
    let explanation: String
    /// The advice, in one sentence, unless the error gives a better one.
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

extension StoreError {
    /// A read found a blob and refused it: nothing is absent or locked, and nothing around the blob failed.
    ///
    /// Thrown by a write, the same codes are about the value that was to be written.
    public var isRejection: Bool { code.isRejection }
}

extension StoreError.Code {
    /// The rejections that this version knows, in the order of the checks.
    public static let rejections = RejectionTable.entries.map(\.code)

    /// Every code that this version knows: the rejections first.
    package static let all = CodeEntry.all.map(\.code)

    /// The check that fails with this code; nil for a code that does not concern reads.
    public var check: ReadCheck? { entry?.check }

    /// The meaning, in one plain sentence that holds for every record.
    public var explanation: String { entry?.explanation ?? "This version has no explanation for it." }

    /// The code means that a blob was found and refused.
    public var isRejection: Bool { has(.rejection) }

    /// The code occurs without a fault: time passes, and programs are updated one after the other.
    package var isExpected: Bool { has(.expected) }

    /// The blob itself is at fault, so a copy of it is evidence.
    var isEvidence: Bool { has(.evidence) }

    /// The advice, unless an error gives a better one.
    package var defaultAdvice: String { entry?.advice ?? "See the reason." }

    private var entry: CodeEntry? { CodeEntry.byCode[self] }

    private func has(_ trait: CodeEntry.Traits) -> Bool { entry?.traits.contains(trait) ?? false }
}
