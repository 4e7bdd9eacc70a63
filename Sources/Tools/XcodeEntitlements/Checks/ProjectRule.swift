/// One kind of mistake that the check looks for.
public struct ProjectRule: Sendable, Hashable {
    /// Stable, never given to another mistake: `ENT001`.
    public let id: String
    /// The id in words: `group-not-on-extension`.
    public let name: String
    /// How much it matters as a rule; a single finding may differ.
    public let severity: FindingSeverity
    /// What is wrong, in a few words.
    public let title: String
    /// What it means for the programs, as sentences.
    public let meaning: String
    /// What to do, as a sentence.
    public let remedy: String

    init(
        _ id: String, _ name: String, _ severity: FindingSeverity, _ title: String, meaning: String, remedy: String
    ) {
        self.id = id
        self.name = name
        self.severity = severity
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
    }

    /// Every rule, by id.
    public static let all: [ProjectRule] = sharing + identifiers + files + profiles

    /// The rule with an id or a name, in any case.
    public static func named(_ text: String) -> ProjectRule? {
        let wanted = text.lowercased()
        return all.first { $0.id.lowercased() == wanted || $0.name == wanted }
    }
}
