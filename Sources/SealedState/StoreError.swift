internal import SharedFiles

/// Why the store refused a record, or could not do what it was asked.
///
/// It names the record, what was found and what to do; it never holds contents or key material.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for programs: compare this, not the wording.
    public let code: Code
    /// What was being done, as a verb phrase.
    public let operation: String
    /// The record's name, the group or a path.
    public let subject: String
    /// What was found, as a sentence.
    public let reason: String
    /// One sentence on what to do.
    public let advice: String
    /// The system's error number, where a system call gave one.
    public let errno: Int32?
    /// The error of a lower floor behind this one.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String? = nil,
        errno: Int32? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        let advice = advice ?? code.defaultAdvice
        // An error of a lower floor, taken over as the reason, ends with the same advice.
        self.reason = reason.hasSuffix(" " + advice) ? String(reason.dropLast(advice.count + 1)) : reason
        self.advice = advice
        self.errno = errno
        self.cause = cause
    }

    /// One line: what failed, on what, why, and what to do.
    public var description: String { "cannot \(operation) \(subject): \(code.rawValue): \(reason) \(advice)" }
}
