public import SealedBackends

/// The scope and the exclusions of an audit.
public struct AuditOptions: Sendable {
    /// The limits on its cost.
    public var limits = AuditLimits()
    /// True if files are searched for secrets value by value.
    public var searchesSecrets = true
    /// The number of files that are read concurrently; by default the number of processors.
    public var workers: Int?
    /// The key for fingerprints. Without it, findings have none, and no ignore list or baseline applies to values.
    public var fingerprintKey: FingerprintKey?
    /// The findings that a person has reviewed as harmless.
    public var ignoring = AuditIgnoreList()
    /// An earlier state. Only findings that are new since then are reported.
    public var baseline: AuditBaseline?
    /// The files that the audit itself uses or writes, in case they are inside the audited directory.
    public var ownFiles: [AuditOwnFile] = []
    /// The secret key files outside the usual place, to be checked for a passphrase.
    public var keyFiles: [String] = []
    /// True if a group's vault is opened. The places of blobs are compared in any case.
    public var usesVault = true
    /// True if an audit fails with `AuditError.withoutKeys` when the vault does not open.
    public var requiresVault = false
    /// The backend that this program has besides files, as in `StoreOptions`. Without it, the records of a container in
    /// such a backend are reported as not examined.
    public var backend: (any BackendProvider)?
    /// Receives the progress from time to time, on a thread of the audit.
    public var progress: (@Sendable (AuditProgress) -> Void)?

    /// Creates the default options.
    public init() {}
}

/// The progress of an audit.
public struct AuditProgress: Sendable, Hashable {
    /// The number of examined files.
    public let files: Int
    /// The number of all files, or `nil` while they are still being listed.
    public let totalFiles: Int?
    /// The number of bytes in the examined files.
    public let bytes: Int64
    /// The number of findings.
    public let findings: Int
}

/// The limits on an audit's cost. A file beyond a limit is reported as not examined, never skipped silently.
public struct AuditLimits: Sendable, Hashable {
    /// The depth to which directories are entered; by default 64.
    public var maximumDepth = 64
    /// The number of examined entries; by default 250,000.
    public var maximumEntries = 250_000
    /// The largest plaintext in bytes of a record that the group's programs read; by default the container's limit, as
    /// in a store: 1 MiB, or what `sealctl container record-limit` has set.
    public var maximumRecordSize: Int {
        get { statedRecordSize ?? containerRecordSize ?? 1 << 20 }
        set { statedRecordSize = newValue }
    }
    private var statedRecordSize: Int?
    /// The container's limit, which the auditor sets; nil for the usual limit.
    var containerRecordSize: Int?
    /// The largest sealed blob in bytes that is opened; by default 64 GiB. Blobs are read in constant memory.
    public var maximumSealedBytes: Int64 = 64 << 30
    /// The time in which an unnamed new value may belong to a running writer; by default 60 seconds.
    public var temporaryGrace: Duration = .seconds(60)

    /// The time after which the use of one key for sealing is a finding; by default 365 days.
    public var maximumKeyAge: Duration = .seconds(365 * 86400)

    /// The number of bytes from the start of an unsealed file that are searched value by value; by default all.
    public var maximumReadBytes: Int64 = .max
    /// The time for reading one unsealed file; by default 60 seconds. If it runs out, two audits may differ.
    public var maximumFileTime: Duration = .seconds(60)
    /// The number of values examined in one unsealed file; by default 50,000,000.
    public var maximumValues = 50_000_000
    /// The depth to which structures and embedded files may be nested; by default 32.
    public var maximumNesting = 32
    /// The number of bytes from decompression and decoding in one file; by default 64 MiB.
    public var maximumInflatedBytes = 64 << 20

    /// The number of findings of one check listed for one file, most severe first; by default 100.
    public var maximumFindingsPerCheck = 100
    /// The number of listed findings, most severe first; by default 10,000. Further findings are counted.
    public var maximumFindings = 10_000

    /// Creates the default limits.
    public init() {}

    /// The limits within calculable ranges, because `.max` means no limit.
    var bounded: AuditLimits {
        var limits = self
        limits.maximumDepth = min(max(maximumDepth, 1), 1 << 20)
        limits.maximumEntries = min(max(maximumEntries, 0), Int(Int32.max))
        limits.statedRecordSize = statedRecordSize.map { min(max($0, 0), 1 << 40) }
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
