/// Rules about one field of a record that can be said in a line.
///
/// ```swift
/// static let rules: [FieldRule<Self>] = [
///     .field("displayName", \.displayName, .notEmpty, .length(...80)),
///     .field("accountID", \.accountID, .required(when: \.isAuthenticated), .matches(/[a-z0-9-]+/, upTo: 64)),
///     .field("plan", \.plan, .oneOf("free", "team")),
///     .that("expiresAt", "must lie behind issuedAt") { $0.expiresAt > $0.issuedAt },
/// ]
/// ```
/// Declare them as a stored property: a computed one builds them anew, patterns included, with every read.
///
/// The field's name is given beside its key path, because a key path does not tell it on every platform. A rule that is
/// broken names the field and its limit, never the value.
public struct FieldRule<Record>: Sendable {
    /// The field that it is about, for messages.
    public let field: String
    /// What the rules ask for that a value does not keep, in their order.
    let violations: @Sendable (Record) -> [String]

    /// Rules about a field. Where it may be missing, nil keeps all of them except `required`.
    ///
    /// - Parameters:
    ///   - name: Its name as messages show it.
    ///   - value: A key path to it.
    ///   - constraints: What has to hold; all that are broken are told.
    public static func field<Value>(
        _ name: String, _ value: @escaping @Sendable (Record) -> Value?,
        _ constraints: FieldConstraint<Record, Value>...
    ) -> FieldRule {
        FieldRule(field: name) { record in
            let found = value(record)
            return constraints.compactMap { $0.violation(record, found) }
        }
    }

    /// A rule about several fields, told under one of them.
    ///
    /// - Parameters:
    ///   - field: The field that it is told under; empty for the whole record.
    ///   - reason: What it asks for; never a value of the record.
    ///   - holds: Whether a record keeps it.
    public static func that(
        _ field: String = "", _ reason: String, holds: @escaping @Sendable (Record) -> Bool
    ) -> FieldRule {
        FieldRule(field: field) { holds($0) ? [] : [reason] }
    }
}
