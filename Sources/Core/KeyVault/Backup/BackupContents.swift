/// Which part of a vault goes into a backup, or comes out of one.
public enum BackupContents: Sendable, Hashable, CaseIterable {
    /// Sealing keys and items.
    case everything
    /// Sealing keys alone: what opens the group's sealed files.
    case keysOnly
    /// Items alone.
    case itemsOnly

    var includesKeys: Bool { self != .itemsOnly }
    var includesItems: Bool { self != .keysOnly }
}
