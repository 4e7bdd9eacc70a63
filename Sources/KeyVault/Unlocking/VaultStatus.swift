public import AppGroups
internal import CryptoPrimitives
internal import SystemPackage

/// Whether a class of keys is unlocked for all programs of the user.
public enum UnlockState: Sendable, Hashable {
    /// It is not.
    case locked
    /// It is: for so much longer, or, with nil, until it is locked or the machine restarts.
    case unlocked(for: Duration?)

    /// Whether it is.
    public var isUnlocked: Bool { self != .locked }
}

/// A vault seen from outside, without opening it.
public struct VaultStatus: Sendable, Hashable {
    /// Whether it could be opened now without asking anybody.
    public let availability: VaultAvailability
    /// Whether the user's unlocking makes what is protected *after first unlock* available. A vault with a key file may be
    /// `ready` all the same.
    public let afterFirstUnlock: UnlockState
    /// Whether the user's unlocking makes what is protected *when unlocked* available.
    public let whenUnlocked: UnlockState
    /// Its key slots, as the header says; authentic where the vault is `ready`. None where the header cannot be read.
    package let slots: [SlotSummary]
    /// How often it was written, as the header says; nil where that cannot be read.
    public let generation: UInt64?
    /// Where unlocked keys are kept on this system; nil where there is no place for them.
    public let unlockPlace: UnlockPlace?
}

extension Vault {
    /// What can be told of a vault without opening it; it has no side effects, as `availability(_:in:)` has none.
    ///
    /// - Throws: `VaultError` as `availability(_:in:)`.
    public static func status(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) -> VaultStatus {
        let caches = UnlockCaches.current
        let place = VaultPlace(accessGroup, in: home)
        return try look(at: place) { (availability, header, root) throws(VaultError) in
            var states = [ProtectionClass: UnlockState]()
            if let header, let root {
                for protection in [ProtectionClass.afterFirstUnlock, .whenUnlocked] {
                    let name = UnlockName(vaultID: header.vaultID, protection)
                    states[protection] = try caches.state(of: name, root: root, in: place.directoryPath)
                }
            }
            return VaultStatus(
                availability: availability, afterFirstUnlock: states[.afterFirstUnlock] ?? .locked,
                whenUnlocked: states[.whenUnlocked] ?? .locked, slots: header?.slots.map(SlotSummary.init) ?? [],
                generation: header?.generation, unlockPlace: caches.place)
        }
    }
}

extension UnlockCaches {
    /// Whether there is a ticket that holds, and for how much longer. Changes nothing.
    ///
    /// - Parameter directory: The vault's, where a lock shows.
    func state(
        of name: UnlockName, root: UnsafeRawBufferPointer, in directory: FilePath
    ) throws(VaultError) -> UnlockState {
        let stamp = { () throws(VaultError) in try LockStamp.read(in: directory) }
        return try withSecret(
            name, root: root, lockedAt: name.protection == .whenUnlocked ? stamp : nil
        ) { (_, left) throws(VaultError) in UnlockState.unlocked(for: left) } ?? .locked
    }

    /// The same with the root in guarded memory.
    func state(
        of name: UnlockName, root: borrowing SecretBytes, in directory: FilePath
    ) throws(VaultError) -> UnlockState {
        try root.withUnsafeBytes { root throws(VaultError) in try state(of: name, root: root, in: directory) }
    }
}
