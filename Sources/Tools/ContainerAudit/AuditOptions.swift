/// What an audit looks for, and what it leaves out.
public struct AuditOptions: Sendable {
    /// What it may cost.
    public var limits = AuditLimits()
    /// Whether it reads files value by value for secrets.
    public var searchesSecrets = true
    /// How many files are read at once; as many as there are processors unless stated.
    public var workers: Int?
    /// Makes fingerprints; without one findings have none, and no ignore list or baseline applies to values.
    public var fingerprintKey: FingerprintKey?
    /// What somebody has looked at and found harmless.
    public var ignoring = AuditIgnoreList()
    /// An earlier state: only what is new since then is reported.
    public var baseline: AuditBaseline?
    /// Files that the audit uses or writes itself, should they lie in what is audited.
    public var ownFiles: [AuditOwnFile] = []
    /// Files of secret keys besides those at the usual place, to be looked at for a passphrase.
    public var keyFiles: [String] = []
    /// Whether the vault of a group is opened; its places are compared in any case.
    public var usesVault = true
    /// Whether a vault that does not open ends the audit before it begins, as `AuditError.withoutKeys`.
    public var requiresVault = false
    /// Told now and then how far the audit is, on a thread of the audit's.
    public var progress: (@Sendable (AuditProgress) -> Void)?

    /// The defaults.
    public init() {}
}

/// How far an audit is.
public struct AuditProgress: Sendable, Hashable {
    /// Files looked at so far.
    public let files: Int
    /// All files; nil while they are still being listed.
    public let totalFiles: Int?
    /// Bytes of files looked at so far.
    public let bytes: Int64
    /// Findings so far.
    public let findings: Int
}
