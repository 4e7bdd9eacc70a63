/// What a finished write has survived.
public enum Durability: Sendable, Hashable {
    /// On the disk: content, name and directory were synced. Survives a power loss, if the drive tells the truth.
    case durable
    /// In the system's cache: survives the process, not the machine. For values that can be made again.
    case unsynced
}
