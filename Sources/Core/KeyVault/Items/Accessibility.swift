/// When an item's value can be read, and whether it may leave this machine.
///
/// The names follow `kSecAttrAccessible…`; what each means on Linux is in `docs/keychain.md`.
public enum Accessibility: String, Sendable, Hashable, CaseIterable {
    /// From the first unlock after a restart on, also by unattended programs.
    case afterFirstUnlock
    /// Only while a person has the vault unlocked.
    case whenUnlocked
    /// As `afterFirstUnlock`; left out of exports, and of no use in a copy of the vault on another machine.
    case afterFirstUnlockThisDeviceOnly
    /// As `whenUnlocked`; left out of exports, and of no use in a copy of the vault on another machine.
    case whenUnlockedThisDeviceOnly

    /// Whether the value stays on the machine that it was added on.
    public var isThisDeviceOnly: Bool {
        self == .afterFirstUnlockThisDeviceOnly || self == .whenUnlockedThisDeviceOnly
    }

    /// The class key that the value hangs on.
    package var protection: ProtectionClass {
        switch self {
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
        }
    }

    /// The number in the vault file.
    var code: UInt8 {
        switch self {
        case .afterFirstUnlock: 1
        case .whenUnlocked: 2
        case .afterFirstUnlockThisDeviceOnly: 3
        case .whenUnlockedThisDeviceOnly: 4
        }
    }

    init?(code: UInt8) {
        guard let known = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = known
    }
}
