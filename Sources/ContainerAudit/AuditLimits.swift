/// What an audit may cost; a file beyond a limit is reported as not examined, never passed over.
public struct AuditLimits: Sendable, Hashable {
    /// How deep directories are entered; 64 unless stated.
    public var maximumDepth = 64
    /// How many entries are looked at; 250,000 unless stated.
    public var maximumEntries = 250_000
    /// How many bytes of an unsealed file are searched for hints of secrets; 1 MiB unless stated.
    public var maximumSearchedBytes = 1 << 20
    /// The largest plaintext of a record in bytes that the group's programs read; 1 MiB unless stated, as in a store.
    public var maximumRecordSize = 1 << 20
    /// The largest sealed blob in bytes that is opened; 64 GiB unless stated. It is read in constant memory.
    public var maximumSealedBytes: Int64 = 64 << 30
    /// For how long an unnamed new value may be a writer's that is still at work; 60 seconds unless stated.
    public var temporaryGrace: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
