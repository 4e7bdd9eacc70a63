/// What happens where the access log cannot be written. Openings and reads never fail for it.
public enum AccessLogPolicy: Sendable, Hashable, CaseIterable {
    /// A change of the vault that cannot be logged is not made.
    case requiredForChanges
    /// A change is made, logged or not.
    case whenPossible
    /// Nothing is logged.
    case off
}
