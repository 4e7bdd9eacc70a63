/// The steps from older versions of a record's shape to the present one, run on read.
public struct SchemaMigrations<Record: Sendable>: Sendable {
    /// No older shape is known.
    public static var none: Self { Self() }

    /// The oldest version that a step begins at; nil without steps.
    var oldest: Int? { nil }
}
