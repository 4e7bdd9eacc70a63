public import SharedFiles

/// How a backup is brought in.
public struct ImportOptions: Sendable, Hashable {
    /// What is taken from it.
    public var contents: BackupContents
    /// Whether the backup's items replace those of the same service and account.
    public var replacesItems: Bool
    /// Whether a vault that is there, in whatever state, is set aside first instead of being added to. Its file stays
    /// beside the new one under the name `vault.abandoned-` and the time.
    public var setsVaultAside: Bool
    /// Who shares a vault that is made. One that takes another's place is shared as that one was.
    public var sharing: Sharing

    /// The defaults: everything, added to what is there, replacing nothing.
    public init(
        contents: BackupContents = .everything, replacesItems: Bool = false, setsVaultAside: Bool = false,
        sharing: Sharing = .ownerOnly
    ) {
        self.contents = contents
        self.replacesItems = replacesItems
        self.setsVaultAside = setsVaultAside
        self.sharing = sharing
    }
}
