public import SharedFiles

/// Why the store refused a record, or could not do what it was asked.
///
/// It names the record, what was found and what to do; it never holds contents or key material.
public struct StoreError: StructuredError, Sendable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code

    /// What failed, on what, why, and what to do. The subject is the record's name, the group or a path.
    public let details: ErrorDetails

    /// The error of a lower module behind this one.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String? = nil,
        errno: Int32? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        details = ErrorDetails(operation, subject, reason, advice: advice ?? code.defaultAdvice, errno: errno)
        self.cause = cause
    }
}
