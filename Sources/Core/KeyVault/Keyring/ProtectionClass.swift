/// When a protected value can be reached.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
    /// From the vault's first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// While the vault is unlocked.
    case whenUnlocked = 2
}
