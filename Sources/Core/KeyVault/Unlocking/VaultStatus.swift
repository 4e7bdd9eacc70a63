public import AppGroups
internal import CryptoPrimitives
internal import SystemPackage

/// The state of a class of keys for all programs of the user.
public enum UnlockState: Sendable, Hashable {
    /// The class is locked.
    case locked
    /// The class is unlocked for the given time or, with `nil`, until it is locked or the machine restarts.
    case unlocked(for: Duration?)

    /// `true` unless the class is locked.
    public var isUnlocked: Bool { self != .locked }
}

/// The status of a vault, read without opening it.
public struct VaultStatus: Sendable, Hashable {
    /// The result of opening it now without user interaction.
    public let availability: VaultAvailability
    /// The state of *after first unlock* by the user's unlocking. A vault with a key file may be `ready` even if this
    /// class is locked.
    public let afterFirstUnlock: UnlockState
    /// The state of *when unlocked* by the user's unlocking.
    public let whenUnlocked: UnlockState
    /// Its key slots according to the header; authentic if the vault is `ready`. Empty if the header cannot be read.
    package let slots: [SlotSummary]
    /// The number of its writes according to the header; `nil` if it cannot be read.
    public let generation: UInt64?
    /// The place for unlocked keys on this system; `nil` if there is no such place.
    public let unlockPlace: UnlockPlace?
    /// `true` if a person's slot opens it: without one its contents never include *when unlocked*.
    public let hasPersons: Bool
    /// `true` if key files, credentials or unattended recipients open *after first unlock* even after a person locks
    /// it.
    public let hasUnattendedSlots: Bool
    /// The number of rekeys, from 1; `nil` if the files cannot be read.
    public let period: UInt32?
    /// The text by which users recognise the vault; `nil` if the files cannot be read.
    public let fingerprint: String?
    /// `true` if a rekey was begun and not completed. The next opening by a person completes it.
    public let isRekeyPending: Bool
}

extension Vault {
    /// Returns the status of a vault without opening it; like `availability(_:in:)`, it has no side effects.
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

/// The contents of a vault, without secrets.
package struct VaultInventory: Sendable {
    /// Its sealing keys, by epoch.
    package let keys: [KeySummary]
    /// The number of its items, including *when unlocked* only if a person's credential opened it.
    package let itemCount: Int
    /// The condition of the file with the states that this user's programs have accepted of it.
    package let watermarks: WatermarkCondition
}

extension Vault {
    /// Reads the contents of a vault without user interaction and without side effects: creates, logs and remembers
    /// nothing.
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
            else { throw VaultError(.absent, "open the vault", place.path, "\(accessGroup) has no vault.") }
            let contents = opened.contents
            let log = place.watermarkLog(vaultID: contents.vaultIDText, key: contents.watermarkKey.secret)
            let accepted = log.load(compacts: false)
            let verdicts = contents.judge(accessGroup: accessGroup) { name in
                let states = [accepted.floors[name], log.stored(name, repairs: false)]
                return states.compactMap { $0 }.reduce(nil) { $0?.merged(with: $1) ?? $1 }
            }
            let condition = accepted.condition.combined(with: log.tableFault)
            if verdicts.isGood { return try inventory(of: opened, condition, at: place) }
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
    /// Returns whether there is a valid ticket, and its remaining time. Changes nothing.
    ///
    /// - Parameters:
    ///   - directory: The vault's directory, which contains the lock stamp.
    ///   - register: The vault's register: a root without its commitment belongs to another vault or another period.
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
