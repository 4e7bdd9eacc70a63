/// A rule about one field of a record that can be said in a line.
public struct FieldRule<Record>: Sendable {
    /// The field that it is about, for messages.
    public let field: String
    /// What is broken in a value; nil when nothing is.
    let violation: @Sendable (Record) -> String?

    init(_ field: String, _ violation: @escaping @Sendable (Record) -> String?) {
        self.field = field
        self.violation = violation
    }
}
