internal import ArgumentParser
internal import KeyVault

/// The item that a command works on. Service and account together identify it.
struct ItemOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The service of the item, such as a host's name.", valueName: "SERVICE")
    )
    var service: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The account of the item.", valueName: "ACCOUNT"))
    var account: String

    /// The item's name in prompts and messages.
    var subject: String { "\(account) at \(service)" }
}

/// The accessibility of a value, as a word on the command line.
enum AccessibilityWord: String, ExpressibleByArgument, CaseIterable {
    case afterFirstUnlock = "after-first-unlock"
    case whenUnlocked = "when-unlocked"
    case afterFirstUnlockThisDeviceOnly = "after-first-unlock-this-device-only"
    case whenUnlockedThisDeviceOnly = "when-unlocked-this-device-only"

    init(_ accessibility: Accessibility) {
        switch accessibility {
        case .afterFirstUnlock: self = .afterFirstUnlock
        case .whenUnlocked: self = .whenUnlocked
        case .afterFirstUnlockThisDeviceOnly: self = .afterFirstUnlockThisDeviceOnly
        case .whenUnlockedThisDeviceOnly: self = .whenUnlockedThisDeviceOnly
        }
    }

    var accessibility: Accessibility {
        switch self {
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        }
    }
}

/// The accessibility of a record, as a word on the command line. A record's key belongs to the vault, so nothing binds
/// it to a device.
enum ProtectionWord: String, ExpressibleByArgument, CaseIterable {
    case afterFirstUnlock = "after-first-unlock"
    case whenUnlocked = "when-unlocked"

    var protection: ProtectionClass {
        switch self {
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenUnlocked: .whenUnlocked
        }
    }
}
