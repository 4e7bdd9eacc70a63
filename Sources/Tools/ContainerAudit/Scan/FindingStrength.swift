internal import SecretDetection

/// How well one of several findings about the same value says what the value is: the surer one, then the one of the more
/// particular rule, then the graver one, then the one whose place has a name.
struct FindingStrength: Comparable, Sendable {
    let certainty: SecretMatch.Certainty
    /// 2 for a secret with a form of its own, 1 for one that is told by what stands around it, 0 for one by its name alone.
    let particularity: Int
    let severity: Severity
    let isNamed: Bool

    init(_ certainty: SecretMatch.Certainty, check: String, severity: Severity, isNamed: Bool) {
        self.certainty = certainty
        self.severity = severity
        self.isNamed = isNamed
        particularity = check.hasPrefix("field.") ? 0 : check.hasPrefix("header.") || check.hasPrefix("url.") ? 1 : 2
    }

    static func < (a: FindingStrength, b: FindingStrength) -> Bool {
        if a.certainty != b.certainty { return a.certainty < b.certainty }
        if a.particularity != b.particularity { return a.particularity < b.particularity }
        if a.severity != b.severity { return a.severity < b.severity }
        return !a.isNamed && b.isNamed
    }
}
