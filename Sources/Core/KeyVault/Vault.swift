public import AppGroups
internal import CryptoPrimitives
package import Sealing
internal import SharedFiles
internal import Synchronization

/// An open vault: the file-backed keychain of one access group.
///
/// A program that has a `Vault` has presented a credential that opened it. The vault follows its files: the next use
/// sees a change by another program, including a rekey.
public final class Vault: Sendable {
    /// The access group that it belongs to.
    public let accessGroup: AccessGroup
    /// The path of its file, for messages.
    public let path: String
    /// 32 hexadecimal digits, created with the vault and different for each vault of the group.
    package let vaultID: String
    /// The states that this user's programs have accepted of the group, including the vault itself.
    package let watermarks: WatermarkTable

    let place: VaultPlace
    let directory: Directory
    let keys: VaultKeys
    let options: VaultOptions
    let log: AccessLog
    let lookTimer = LookTimer()
    /// Space for deletions on a full disk.
    let reserve: DeletionReserve
    private let presence: ReaderPresence
    private let held: Mutex<VaultContents>
    private let unsettledRekey = Mutex<VaultError?>(nil)
    let unlogged = Atomic<Int>(0)

    init(
        place: VaultPlace, directory: Directory, keys: VaultKeys, options: VaultOptions,
        watermarks: WatermarkTable, log: AccessLog, contents: VaultContents
    ) {
        accessGroup = place.accessGroup
        path = place.path
        vaultID = contents.vaultIDText
        self.place = place
        self.directory = directory
        self.keys = keys
        self.options = options
        self.watermarks = watermarks
        self.log = log
        reserve = DeletionReserve(in: directory, prefix: VaultPlace.reservePrefix)
        presence = ReaderPresence(directory: directory)
        held = Mutex(contents)
        keys.expect(personRoot: contents.register?.personRoot)
        presence.follow { contents.keyring.held }
    }

    /// The contents at the last look at the files.
    var heldContents: VaultContents { held.withLock { $0 } }

    /// The available sealing keys at the last look at the files.
    package var keyring: Keyring { heldContents.keyring }

    /// The reason why a pending rekey of another program was not completed when this vault was opened; `nil` if no
    /// rekey was pending, or if it was completed.
    public internal(set) var rekeyFailure: VaultError? {
        get { unsettledRekey.withLock { $0 } }
        set { unsettledRekey.withLock { $0 = newValue } }
    }

    /// The reason why the service compartment does not open; `nil` if it does. Persons can still use *when unlocked*.
    package var serviceFailure: VaultError? {
        do throws(VaultError) { _ = try heldContents.service } catch { return error }
        return nil
    }

    /// The number of changes by this object without an entry in the access log: a deletion, a rekey or the end of a
    /// rotation does not require one.
    public var unloggedChangeCount: Int { unlogged.load(ordering: .relaxed) }

    /// Replaces the contents by those of a newer look at the files.
    ///
    /// - Parameter isForced: Whether the held contents were refused.
    func publish(_ contents: VaultContents, isForced: Bool = false) {
        let isNews = held.withLock { held in
            let isNews = isForced || options.acceptsRollback || contents.isNewer(than: held)
            if isNews { held = contents }
            return isNews
        }
        guard isNews else { return }
        keys.expect(personRoot: contents.register?.personRoot)
        if let keys = contents.logKeys { log.follow(keys) }
        presence.follow { keyring.held }
    }
}

extension VaultContents {
    /// Returns whether it is newer, by the period, then by the generations of both files.
    fileprivate func isNewer(than other: VaultContents) -> Bool {
        let (new, old) = (register?.period ?? 0, other.register?.period ?? 0)
        let (written, oldWritten) = (register?.generation ?? 0, other.register?.generation ?? 0)
        guard let head = serviceHead, let oldHead = other.serviceHead else {
            // If a file is damaged, the register decides. Damage alone removes nothing that was read before.
            return (new, written) == (old, oldWritten) ? serviceHead != nil : (new, written) > (old, oldWritten)
        }
        if (new, head.period) != (old, oldHead.period) { return (new, head.period) > (old, oldHead.period) }
        return head.generation > oldHead.generation || written > oldWritten
    }
}

extension Keyring {
    /// The epochs in which a program with this keyring may seal.
    fileprivate var held: [(ProtectionClass, UInt32)] {
        ProtectionClass.allCases.compactMap { protection in activeEpoch(of: protection).map { (protection, $0) } }
    }
}

extension Vault {
    /// The records with an accepted state. The vault's own writes were accepted too, each with its period as the epoch
    /// (`docs/vault.md`, section 12). Only the names of the epochs that occur have to be left out, however many periods
    /// the vault has had.
    package var acceptedRecords: [NameTag] {
        var own: [UInt32: Set<NameTag>] = [:]
        return watermarks.acceptedMarks.compactMap { name, mark in
            let names = own[mark.epoch] ?? ownNames(inPeriod: mark.epoch)
            own[mark.epoch] = names
            return names.contains(name) ? nil : name
        }
    }

    private func ownNames(inPeriod period: UInt32) -> Set<NameTag> {
        Set(
            [CompartmentRole.service, .person].map {
                PartSealing.context(accessGroup.identifier, $0, period: period, .state).nameTag
            })
    }

    /// `true` if this user's programs have accepted any record of the group: then it has, or had, a container.
    package var hasSeenRecords: Bool { !acceptedRecords.isEmpty }

    /// The key slot that opened it, for messages; `nil` for keys unlocked before.
    package var openingSlot: UInt32? { keys.slotID }

    /// The number of writes of `vault` in its period at the last look.
    package var generation: UInt64 { heldContents.serviceHead?.generation ?? 0 }

    /// The period at the last look; each rekey adds 1.
    public var period: UInt32 { heldContents.register?.period ?? heldContents.serviceHead?.period ?? 0 }

    /// The state at the last look, for comparison with a roster's lowest one.
    package var state: VaultFloor { heldContents.register?.state ?? VaultFloor(period: period, keyPeriod: .max) }

    /// The text by which users recognise the vault: 32 hexadecimal digits.
    public var fingerprint: String? { heldContents.register?.fingerprint }

    /// Returns the key for new blobs after a look at the files: a writer must not continue with the key of an epoch
    /// that another program has ended.
    ///
    /// - Throws: `VaultError` `.noActiveKey`, and as `current()`.
    package func activeKey() throws(VaultError) -> SealingKey {
        let contents = try current()
        if let failure = contents.personFailure { throw failure }
        guard let key = contents.keyring.active else {
            _ = try contents.service
            throw VaultError(.noActiveKey, "seal with", path, "Its keyring has no active key.")
        }
        return key
    }
}
