/// What came out of a backup, and what stayed as it was.
public struct ImportReport: Sendable, Hashable {
    /// Whether a vault was made for it.
    public internal(set) var isNewVault = false
    /// Where a vault that was there was set aside to, with its access log.
    public internal(set) var setAside: [SetAsideFile] = []
    /// Items that the vault did not have.
    public internal(set) var itemsAdded: [VaultItem] = []
    /// Items whose former value is gone; only where replacing was asked for.
    public internal(set) var itemsReplaced: [VaultItem] = []
    /// The backup's items that were left out, because the vault has one of the same service and account.
    public internal(set) var itemsLeft: [VaultItem] = []
    /// The epoch that sealing goes on with, where a rotation to it has begun; nil where none has.
    ///
    /// It begins where a key of a later epoch than the active one came in, because readers refuse a write of an earlier
    /// epoch as a replay; and where a vault was restored from a backup of everything, because former members may know the
    /// key that was active in the backup.
    public internal(set) var rotationEpoch: UInt32?
    /// Sealing keys that came in.
    package internal(set) var keysAdded: [KeySummary] = []
    /// Sealing keys that the vault had already, left as they are.
    package internal(set) var keysKnown: [KeySummary] = []
    /// Sealing keys that were destroyed here, and stay so, though the backup has them.
    package internal(set) var keysStillDestroyed: [KeySummary] = []
    /// Sealing keys that were destroyed where the backup was made, and are still here: as they are in the vault.
    package internal(set) var keysDestroyedThere: [KeySummary] = []

    /// How many sealing keys came in.
    public var keyCount: Int { keysAdded.count }
}
