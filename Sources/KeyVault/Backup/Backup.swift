internal import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// A backup file, opened: what is taken from it, still wrapped.
struct Backup {
    let path: String
    let side: WrappingSide
    /// Empty where no keys are taken.
    let keyring: [KeyringEntry]
    /// Empty where no items are taken.
    let items: [ItemEntry]
    /// Empty where no keys are taken.
    let tokenKeys: [TokenKeyEntry]
    let state: VaultState

    /// Opens a file that a person named.
    ///
    /// - Throws: `VaultError` `.notAnExport` for a vault in use, before any credential is tried; `.corrupt`,
    ///   `.unsupported`, `.wrongGroup`; what the credential is refused for; `.file`, `.denied`, `.unsafeFile`.
    static func open(
        _ path: String, with credential: VaultCredential, for place: VaultPlace, taking contents: BackupContents
    ) throws(VaultError) -> Backup {
        do throws(VaultError) {
            let file = try VaultFile.open(path: path)
            guard file.head.header.purpose == .export else {
                throw VaultError(.notAnExport, "open the backup", path, "It is a vault in use.")
            }
            let directory = try VaultError.onFiles("open the backup") { () throws(FileError) in
                try Directory.open(FilePath(path).removingLastComponent().pushing("."))
            }
            let stamp = LockStamp.ifReadable(in: directory.path)
            let secrets = try Vault.unlock(file.head, place, with: credential)
            let keys = ClassKeys(
                secrets, vaultID: file.head.header.vaultID, directory: directory, openedAt: stamp)
            let (read, _) = try VaultReader(place: place).contents(of: file, root: keys.root, keys: keys)
            keys.expect(read)
            let side = WrappingSide(
                vaultID: file.head.header.vaultID, keys: keys, directory: directory, place: place, backupPath: path)
            return try Backup(path, side, read.body, taking: contents)
        } catch {
            throw error.ofBackup(path)
        }
    }

    private init(
        _ path: String, _ side: WrappingSide, _ body: VaultBody, taking contents: BackupContents
    ) throws(VaultError) {
        guard !body.items.entries.contains(where: \.accessibility.isThisDeviceOnly) else {
            throw .corrupt(path, "It holds an item that is bound to one machine.")
        }
        try body.keyring.requireBelievable(path)
        self.path = path
        self.side = side
        keyring = contents.includesKeys ? body.keyring : []
        items = contents.includesItems ? body.items.entries : []
        tokenKeys = contents.includesKeys ? body.tokenKeys : []
        state = contents.includesKeys ? body.state.withoutHistory : VaultState()
    }

    /// The keys that whoever takes it over knows, destroyed ones too: theirs are no unknown blobs.
    var keyIDs: Set<KeyID> { Set(keyring.map { KeySummary($0).id }) }

    /// The keys that open something for whoever takes it over.
    var liveKeyIDs: Set<KeyID> { Set(keyring.filter { $0.state != .destroyed }.map { KeySummary($0).id }) }

    /// Whether something in it needs a person.
    var holdsWhenUnlocked: Bool {
        items.contains { $0.accessibility.protection == .whenUnlocked }
            || keyring.contains { $0.state != .destroyed && $0.protection == .whenUnlocked }
    }

    /// Puts everything into a vault that is being made, with epochs and states as they were.
    func fill(_ body: inout VaultBody, of target: WrappingSide) throws(VaultError) {
        let rewrapping = Rewrapping(source: side, target: target)
        var state = state
        state.nextSlotID = body.state.nextSlotID
        body.state = state
        for entry in keyring { body.keyring.append(try rewrapping.key(entry)) }
        for entry in items { try body.items.insert(try rewrapping.item(entry), path: target.place.path) }
        for entry in tokenKeys { body.tokenKeys.append(try entry.carried(from: side, to: target)) }
    }
}

extension [KeyringEntry] {
    /// No group gets there. First keys come after claims of up to `KeyBirthGuard.highestBelievedEpoch`, and from there
    /// rotations go on: a planted header must not make the backups of honest vaults unbelievable.
    private static var highestEpoch: UInt32 { 2 * KeyBirthGuard.highestBelievedEpoch }

    /// Refuses a keyring that no program writes. Whoever has what opens a backup can make one: it must neither use a
    /// vault's epochs up nor leave it with two keys for one blob.
    ///
    /// - Throws: `VaultError` `.corrupt`.
    fileprivate func requireBelievable(_ path: String) throws(VaultError) {
        var ids: Set<KeyID> = []
        var places: Set<UInt64> = []
        for entry in self {
            guard entry.epoch <= Self.highestEpoch else {
                throw .corrupt(path, "It holds a key of an epoch that no group reaches.")
            }
            guard ids.insert(KeySummary(entry).id).inserted,
                places.insert(UInt64(entry.epoch) << 8 | UInt64(entry.protection.rawValue)).inserted
            else { throw .corrupt(path, "It holds one key twice, or two of one epoch.") }
        }
    }
}
