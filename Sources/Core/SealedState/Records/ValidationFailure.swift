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

    /// Every broken rule: the type's `rules` in their order, then what `validate()` found.
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

    /// All rules of a value, of both kinds; nil where none is broken.
    init?<Record: SealedRecord>(of value: Record) {
        var found = Record.rules.flatMap { rule in
            rule.violations(value).map { Violation(field: rule.field, reason: $0) }
        }
        do throws(ValidationFailure) { try value.validate() } catch { found += error.violations }
        guard !found.isEmpty else { return nil }
        violations = found
    }
}
