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

/// What an audit may cost; a file beyond a limit is reported as not examined, never passed over.
public struct AuditLimits: Sendable, Hashable {
    /// How deep directories are entered; 64 unless stated.
    public var maximumDepth = 64
    /// How many entries are looked at; 250,000 unless stated.
    public var maximumEntries = 250_000
    /// The largest plaintext of a record in bytes that the group's programs read; 1 MiB unless stated, as in a store.
    public var maximumRecordSize = 1 << 20
    /// The largest sealed blob in bytes that is opened; 64 GiB unless stated. It is read in constant memory.
    public var maximumSealedBytes: Int64 = 64 << 30
    /// For how long an unnamed new value may be a writer's that is still at work; 60 seconds unless stated.
    public var temporaryGrace: Duration = .seconds(60)

    /// For how long blobs may be sealed under one key before that is a finding; 365 days unless stated.
    public var maximumKeyAge: Duration = .seconds(365 * 86400)

    /// How many bytes of an unsealed file are read value by value, from its start; all of them unless stated.
    public var maximumReadBytes: Int64 = .max
    /// For how long one unsealed file is read; 60 seconds unless stated. Where time decides, two audits may differ.
    public var maximumFileTime: Duration = .seconds(60)
    /// How many values of one unsealed file are looked at; 50,000,000 unless stated.
    public var maximumValues = 50_000_000
    /// How deep structures and the files within a file may be nested; 32 unless stated.
    public var maximumNesting = 32
    /// How many bytes may come out of what is compressed or encoded in one file; 64 MiB unless stated.
    public var maximumInflatedBytes = 64 << 20

    /// How many findings of one check are listed for one file, the gravest first; 100 unless stated.
    public var maximumFindingsPerCheck = 100
    /// How many findings are listed, the gravest first; 10,000 unless stated. Those beyond are counted.
    public var maximumFindings = 10_000

    /// The defaults.
    public init() {}

    /// The same within what can be counted with: whoever says `.max` means no limit.
    var bounded: AuditLimits {
        var limits = self
        limits.maximumDepth = min(max(maximumDepth, 1), 1 << 20)
        limits.maximumEntries = min(max(maximumEntries, 0), Int(Int32.max))
        limits.maximumRecordSize = min(max(maximumRecordSize, 0), 1 << 40)
        limits.temporaryGrace = min(max(temporaryGrace, .zero), Self.longest)
        limits.maximumReadBytes = max(maximumReadBytes, 0)
        limits.maximumValues = max(maximumValues, 0)
        limits.maximumNesting = min(max(maximumNesting, 0), 256)
        limits.maximumInflatedBytes = max(maximumInflatedBytes, 0)
        limits.maximumFileTime = min(max(maximumFileTime, .zero), Self.longest)
        limits.maximumFindingsPerCheck = min(max(maximumFindingsPerCheck, 1), Self.mostFindings)
        limits.maximumFindings = min(max(maximumFindings, 0), Self.mostFindings)
        return limits
    }

    private static let longest = Duration.seconds(100 * 365 * 86_400)
    private static let mostFindings = 1 << 40
}
