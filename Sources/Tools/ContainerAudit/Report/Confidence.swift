/// How sure the audit is of a finding.
public enum Confidence: String, Codable, Sendable, CaseIterable, CustomStringConvertible {
    /// It was measured or authenticated.
    case certain
    /// Nothing that was seen speaks against it, and it could not be authenticated.
    case likely
    /// A hint by likeness.
    case possible

    /// The word, as in JSON.
    public var description: String { rawValue }
}
