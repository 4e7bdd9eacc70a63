public import AppGroups
package import Sealing
internal import SharedFiles
internal import Synchronization

/// An open vault: the file-backed keychain of one access group.
///
/// Whoever holds a `Vault` has presented a credential that opened it. The file stays closed to everybody else. It
/// follows the file: what another program changes is seen at the next use.
public final class Vault: Sendable {
    /// The access group that it belongs to.
    public let accessGroup: AccessGroup
    /// Where its file lies, for messages.
    public let path: String
    /// 32 hexadecimal digits, made with the vault: another vault of the same group has others.
    package let vaultID: String
    /// What this user's programs have accepted of the group, the vault itself included.
    package let watermarks: WatermarkTable

    let place: VaultPlace
    let directory: Directory
    let keys: ClassKeys
    let options: VaultOptions
    let log: AccessLog
    let lookTimer = LookTimer()
    private let presence: ReaderPresence
    private let held: Mutex<VaultContents>

    init(
        place: VaultPlace, directory: Directory, keys: ClassKeys, options: VaultOptions,
        watermarks: WatermarkTable, log: AccessLog, contents: VaultContents
    ) {
        accessGroup = place.accessGroup
        path = place.path
        vaultID = contents.head.header.vaultIDText
        self.place = place
        self.directory = directory
        self.keys = keys
        self.options = options
        self.watermarks = watermarks
        self.log = log
        presence = ReaderPresence(directory: directory)
        held = Mutex(contents)
        keys.expect(contents)
        presence.follow { contents.keyring.active?.epoch }
    }

    /// What was read last, without a look at the file.
    var heldContents: VaultContents { held.withLock { $0 } }

    /// The sealing keys at hand, as they were at the last look at the file.
    package var keyring: Keyring { heldContents.keyring }

    /// Takes over what a newer look at the file gave.
    func publish(_ contents: VaultContents) {
        keys.expect(contents)
        let isNews = held.withLock { held in
            let isNews = options.acceptsRollback || contents.head.header.generation > held.head.header.generation
            if isNews { held = contents }
            return isNews
        }
        if isNews { presence.follow { keyring.active?.epoch } }
    }
}

extension Vault {
    /// Whether this user's programs have accepted any record of the group: then it has, or had, a container.
    package var hasSeenRecords: Bool {
        let own = VaultSealing.context(accessGroup).nameTag
        return watermarks.acceptedNames.contains { $0 != own }
    }

    /// The key slot that opened it, for messages; nil for keys that a person unlocked before, and for a new vault.
    package var openingSlot: UInt32? { keys.slot }

    /// How often the file had been written at the last look.
    package var generation: UInt64 { heldContents.head.header.generation }

    /// The key that new blobs are sealed under, after a look at the file: a writer must not go on with the key of an
    /// epoch that another program has ended.
    ///
    /// - Throws: `VaultError` `.noActiveKey`, and as `current()`.
    package func activeKey() throws(VaultError) -> SealingKey {
        guard let key = try current().keyring.active else {
            throw VaultError(.noActiveKey, "seal with", path, "Its keyring has no active key.")
        }
        return key
    }
}

extension VaultHeader {
    /// The vault's id as 32 hexadecimal digits.
    var vaultIDText: String { vaultID.withUnsafeBytes { $0.hexadecimal } }
}
