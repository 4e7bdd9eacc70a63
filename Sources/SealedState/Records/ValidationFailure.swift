/// The record's own rules that a value breaks.
///
/// Reasons are shown to people and kept in logs: they name fields and limits, never the values.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One broken rule.
    public struct Violation: Hashable, Sendable {
        /// The field's name; empty when the rule is about the whole record.
        public let field: String
        /// What the rule asks for.
        public let reason: String
    }

    /// Every broken rule, in the order of the checks.
    public private(set) var violations: [Violation]

    /// One broken rule.
    public init(_ field: String = "", _ reason: String) {
        violations = [Violation(field: field, reason: reason)]
    }

    /// Several broken rules at once.
    public init(_ violations: [(field: String, reason: String)]) {
        self.violations = violations.map { Violation(field: $0.field, reason: $0.reason) }
    }

    /// All of them in one line.
    public var description: String {
        violations.map { $0.field.isEmpty ? $0.reason : "\($0.field): \($0.reason)" }.joined(separator: "; ")
    }
}
