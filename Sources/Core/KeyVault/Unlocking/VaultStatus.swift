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
    /// Whether a person's slot opens it: without one nothing in it is *when unlocked*.
    public let hasPersons: Bool
    /// Whether key files, credentials or unattended recipients open *after first unlock* whatever a person locks.
    public let hasUnattendedSlots: Bool
    /// The number of rekeys, from 1; nil where the files cannot be read.
    public let period: UInt32?
    /// The text by which people recognise the vault; nil where the files cannot be read.
    public let fingerprint: String?
    /// Whether a rekey was begun and is not completed. The next person who opens the vault completes it.
    public let isRekeyPending: Bool
}

extension Vault {
    /// What can be told of a vault without opening it; it has no side effects, as `availability(_:in:)` has none.
    ///
    /// - Throws: `VaultError` as `availability(_:in:)`.
    public static func status(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) -> VaultStatus {
        let caches = UnlockCaches.current
        let place = VaultPlace(accessGroup, in: home)
        let look = try look(at: place)
        var states = [ProtectionClass: UnlockState]()
        if let id = look.vaultID {
            for protection in ProtectionClass.allCases {
                states[protection] = try caches.state(
                    of: UnlockName(vaultID: id, protection), in: place.directoryPath, look.register)
            }
        }
        // The root of a file that does not open makes nothing available.
        if !look.isServiceGood { states[.afterFirstUnlock] = .locked }
        return VaultStatus(
            availability: look.availability, afterFirstUnlock: states[.afterFirstUnlock] ?? .locked,
            whenUnlocked: states[.whenUnlocked] ?? .locked, slots: look.slots, generation: look.generation,
            unlockPlace: caches.place, hasPersons: look.register?.person != nil,
            hasUnattendedSlots: look.slots.contains { $0.reach == .afterFirstUnlock },
            period: look.register?.period, fingerprint: look.register?.fingerprint,
            isRekeyPending: look.register?.nextRoot != nil)
    }
}

/// The contents of a vault, without anything secret.
package struct VaultInventory: Sendable {
    /// Its sealing keys, by epoch.
    package let keys: [KeySummary]
    /// How many items it has; of *when unlocked* only where a person's credential opened it.
    package let itemCount: Int
    /// The condition of the file that remembers what this user's programs have accepted of it.
    package let watermarks: WatermarkCondition
}

extension Vault {
    /// Looks into a vault that is at hand without a person, and has no side effects: nothing is made, logged or remembered.
    ///
    /// - Parameter credential: The credential that opens it; a passphrase costs its key derivation.
    /// - Throws: `VaultError` as `open`. An older file is refused to a person as well: it closes *after first unlock*.
    package static func inventory(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic
    ) throws(VaultError) -> VaultInventory {
        let place = VaultPlace(accessGroup, in: home)
        let options = VaultOptions(accessLog: .off)
        var previous: [[UInt8]]?
        var attempts = 0
        while true {
            guard let directory = try place.openDirectory(),
                let opened = try VaultOpening(
                    place: place, directory: directory, memory: try place.memory.load(), options: options
                ).open(with: credential)
            else { throw VaultError(.absent, "open the vault", place.path, "There is none for \(accessGroup).") }
            let contents = opened.contents
            let accepted = place.watermarkContents(vaultID: contents.vaultIDText, key: contents.watermarkKey.secret)
            let verdicts = contents.judge(by: accepted.floors, accessGroup: accessGroup)
            if verdicts.isGood { return try inventory(of: opened, accepted.condition, at: place) }
            // Another program may have written on between the two readings.
            guard contents.marks != previous, attempts < maximumRereads else {
                throw contents.refusal(of: verdicts, at: place)
            }
            previous = contents.marks
            attempts += 1
        }
    }

    private static func inventory(
        of opened: OpenedVault, _ condition: WatermarkCondition, at place: VaultPlace
    ) throws(VaultError) -> VaultInventory {
        let contents = opened.contents
        var count = try contents.service.items(root: opened.keys.service, place: place).entries.count
        if contents.personFile != nil, try opened.keys.reachesPerson() {
            count += try opened.keys.withPerson { root throws(VaultError) in
                try contents.person(root, place: place).items(root: root, place: place).entries.count
            }
        }
        return VaultInventory(keys: contents.keySummaries, itemCount: count, watermarks: condition)
    }
}

extension UnlockCaches {
    /// Whether there is a ticket that holds, and for how much longer. Changes nothing.
    ///
    /// - Parameters:
    ///   - directory: The vault's, where a lock shows.
    ///   - register: The vault's: a root that it does not commit to is another vault's or of another period.
    func state(of name: UnlockName, in directory: FilePath, _ register: Register?) throws(VaultError) -> UnlockState {
        let stamp = { () throws(VaultError) in try LockStamp.read(in: directory) }
        let isPersons = name.protection == .whenUnlocked
        return try withRoot(name, lockedAt: isPersons ? stamp : nil) { (root, left) throws(VaultError) in
            let commitment = RootKey.commitment(of: root)
            let known = isPersons ? [register?.personRoot] : [register?.root, register?.nextRoot]
            return register == nil || known.contains(commitment) ? UnlockState.unlocked(for: left) : .locked
        } ?? .locked
    }
}
