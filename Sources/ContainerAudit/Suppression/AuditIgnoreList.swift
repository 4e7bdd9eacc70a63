/// The fingerprints of `.sealauditignore`.
public struct AuditIgnoreList: Sendable, Hashable {
    /// Ignores nothing.
    public init() {}
}
