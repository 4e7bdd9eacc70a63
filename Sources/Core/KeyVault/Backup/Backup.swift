internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// An opened backup file: its contents are still wrapped under its own root.
struct Backup {
    let path: String
    let root: RootKey
    /// The register of the backed-up vault, if keys are taken.
    let register: Register?
    /// Empty if no keys are taken.
    let keyring: [KeyringEntry]
    /// Empty if no items are taken.
    let items: [ItemEntry]
    /// Empty if no keys are taken.
    let tokenKeys: [TokenKeyEntry]
    let rotation: RotationFields
    private let contents: CompartmentContents
    private let values: [[UInt8]: [UInt8]]
    private let names: NameList

    var vaultID: [UInt8] { contents.head.vaultID }

    /// Opens a file by a path that the user gave.
    ///
    /// - Throws: `VaultError` `.notAnExport` for a vault in use, before any credential is tried; `.corrupt`,
    ///   `.unsupported`, `.wrongGroup`; the refusals of the credential; `.file`, `.denied`, `.unsafeFile`.
    static func open(
        _ path: String, with credential: VaultCredential, for place: VaultPlace, taking contents: BackupContents
    ) throws(VaultError) -> Backup {
        do throws(VaultError) {
            let file = try CompartmentFile.open(path: path)
            guard file.head.role == .backup else {
                throw VaultError(.notAnExport, "open the backup", path, "It is a vault in use.")
            }
            var search = SlotSearch(slots: file.head.slots, vaultID: file.head.vaultID, path: path)
            search.isBackup = true
            let opened: OpenedSlot
            switch credential {
            case .passphrase(let passphrase): opened = try search.open(with: [PassphraseOpener(passphrase: passphrase)])
            case .identity(let identity): opened = try search.open(with: identity.keys.map(RecipientOpener.init))
            default: throw search.locked()
            }
            return try Backup(file, opened.root, place, contents)
        } catch {
            throw error.ofBackup(path)
        }
    }

    /// Opens every part of a backup.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`, `.wrongGroup`.
    init(
        _ file: CompartmentFile, _ root: RootKey, _ place: VaultPlace, _ taking: BackupContents
    ) throws(VaultError) {
        let path = file.path
        let contents = try CompartmentContents(file, root: root, place: place)
        let table = try contents.items(root: root, place: place)
        guard !table.entries.contains(where: \.accessibility.isThisDeviceOnly) else {
            throw .corrupt(path, "It contains an item that is bound to one machine.")
        }
        let sealing = try PartSealing(place, .backup, period: contents.head.period, root: root)
        guard (contents.head.entry(.values) == nil) == table.entries.allSatisfy(\.isInline) else {
            throw .corrupt(path, "Its values do not belong to its items.")
        }
        let values = contents.head.entry(.values) == nil ? [] : try contents.opened(.values, sealing)
        names = try NameList(parsing: try contents.opened(.names, sealing), register: nil, path: path)
        self.values = try Self.values(values, of: table.entries, path)
        self.path = path
        self.root = root
        self.contents = contents
        let secrets = contents.secrets
        let isWhole = secrets[.watermarkKey, 0] != nil && secrets.last(.personSeed) != nil
        guard contents.head.register.map({ $0.vaultID == contents.head.vaultID && isWhole }) ?? secrets.entries.isEmpty
        else { throw .corrupt(path, "Its register belongs to another vault, or does not match its secrets.") }
        register = taking == .everything ? contents.head.register : nil
        keyring = taking.includesKeys ? contents.keyring : []
        items = taking.includesItems ? table.entries : []
        tokenKeys = taking.includesKeys ? contents.tokenKeys : []
        rotation = taking.includesKeys ? contents.state.rotation : RotationFields()
    }

    private static func values(
        _ part: [UInt8], of entries: [ItemEntry], _ path: String
    ) throws(VaultError) -> [[UInt8]: [UInt8]] {
        var reader = ByteReader(part[...], path: path)
        var values: [[UInt8]: [UInt8]] = [:]
        for entry in entries where !entry.isInline {
            values[Array(entry.valueID)] = Array(try reader.take(Int(try reader.integer(UInt32.self))))
        }
        guard reader.isAtEnd else { throw .corrupt(path, "It has more values than items.") }
        return values
    }

    /// The ids of all its keys, including destroyed ones: blobs under them are not unknown.
    var keyIDs: Set<KeyID> { Set(keyring.map { KeySummary($0).id }) }

    /// The keys that still open blobs for a vault that imports them.
    var liveKeyIDs: Set<KeyID> { Set(keyring.filter { $0.state != .destroyed }.map { KeySummary($0).id }) }

    /// `true` if its contents need a person.
    var holdsWhenUnlocked: Bool {
        items.contains { $0.accessibility.protection == .whenUnlocked }
            || keyring.contains { $0.state != .destroyed && $0.protection == .whenUnlocked }
    }

    /// `true` if a vault created from it continues the vault of the backup.
    var continuesVault: Bool {
        register != nil && contents.secrets.last(.watermarkKey) != nil && contents.secrets.last(.personSeed) != nil
    }

    /// Returns a draft that continues the vault of the backup: the same id, the next period, and a person key that the
    /// backup's person key signs, so that no user has to accept it. Without that key it is a new vault, in the first
    /// period with room for the epochs of the backup's keys and one more.
    ///
    /// - Parameters:
    ///   - knownPeriod: The period that this user remembers of the place.
    ///   - lowestPeriod: The lowest period that readers of the group's roster accept.
    /// - Throws: `VaultError` `.tooLarge` if no period is left.
    func restoredDraft(
        _ place: VaultPlace, knownPeriod: UInt32, lowestPeriod: UInt32
    ) throws(VaultError) -> VaultDraft {
        guard continuesVault, let register, let watermark = contents.secrets.last(.watermarkKey) else {
            let period = max(lowestPeriod, KeyringEntry.period(ofEpoch: keyring.map(\.epoch).max() ?? 0))
            return try VaultDraft(making: SecureRandom.bytes(count: 16), period: period, place: place)
        }
        let key = SecretBytesBox(try watermark.secret(vaultID: vaultID, root: root, path: path))
        let known = max(register.period, knownPeriod)
        let last = place.lastAcceptedPeriod(after: known, vaultID: vaultID, key: key) ?? known
        guard last < CompartmentHead.maximumPeriod else {
            throw VaultError(
                .tooLarge, "restore the vault", place.path,
                "Period \(last) is the last one, so the vault cannot begin another.",
                advice:
                    "Create a vault from the backup's keys, then import its items: sealctl vault import --keys-only, "
                    + "sealctl vault import --items-only.")
        }
        var draft = try VaultDraft(making: vaultID, period: max(last + 1, lowestPeriod), place: place)
        try draft.continueChain(
            of: register, from: CompartmentDraft(contents, root: root, register: register), watermark, path: path)
        return draft
    }

    /// Adds all contents to the draft of a new vault, with their epochs and states.
    ///
    /// - Returns: The value files of its items.
    func fill(_ draft: inout VaultDraft) throws(VaultError) -> [(role: CompartmentRole, name: String, bytes: [UInt8])] {
        draft.service.state.rotation = rotation
        if let rotation = register?.person?.rotation { draft.register.person?.rotation = rotation }
        for entry in keyring {
            var target = try draft.compartment(entry.protection)
            guard entry.epoch < KeyringEntry.maximumEpoch(period: target.period) else {
                throw VaultError(
                    .tooLarge, "restore the vault", path,
                    "It has a key of epoch \(entry.epoch), the last possible one.",
                    advice: "Import only its items: sealctl vault import --items-only.")
            }
            target.keyring.append(try carried(entry, to: target, draft))
            draft.set(target)
        }
        draft.service.tokenKeys += try carriedTokenKeys(to: draft, knowing: draft.service.tokenKeys)
        var files: [(role: CompartmentRole, name: String, bytes: [UInt8])] = []
        for entry in items {
            var target = try draft.compartment(entry.accessibility.protection)
            let sealed = try carried(entry, to: target, draft)
            var table = try target.loadItems(draft.place)
            try table.insert(sealed.entry, path: draft.place.path)
            target.items = table
            draft.set(target)
            if let file = sealed.file { files.append((target.role, sealed.entry.valueFileName, file)) }
        }
        listNames(in: &draft)
        return files
    }

    /// Lists the names of *when unlocked*: those of items, and of records if the vault has the same watermark key.
    func listNames(in draft: inout VaultDraft) {
        guard draft.hasPersons else { return }
        for entry in items where entry.accessibility.protection == .whenUnlocked {
            guard let name = try? ItemName(entry, path: path) else { continue }
            _ = draft.names.insert(draft.tagger.tag(name))
        }
        guard let register, register.watermarkCommitment == draft.register.watermarkCommitment else { return }
        for tag in names.tags { _ = draft.names.insert(tag) }
    }

    /// Returns a key for a vault's compartment: same id, epoch, class and date.
    func carried(
        _ entry: KeyringEntry, to target: CompartmentDraft, _ draft: VaultDraft, as state: KeyState? = nil
    ) throws(VaultError) -> KeyringEntry {
        do throws(VaultError) {
            return try entry.rewrapped(from: (vaultID, root, path), to: (draft.vaultID, target.root), as: state)
        } catch {
            throw error.ofBackup(path)
        }
    }

    /// Returns token keys that a vault does not know, for checking digests only.
    func carriedTokenKeys(to draft: VaultDraft, knowing known: [TokenKeyEntry]) throws(VaultError) -> [TokenKeyEntry] {
        var carried: [TokenKeyEntry] = []
        for entry in tokenKeys where !known.contains(where: { $0.keyID == entry.keyID }) {
            var copy = try entry.rewrapped(from: (vaultID, root, path), to: (draft.vaultID, draft.service.root))
            copy.state = .checksOnly
            carried.append(copy)
        }
        guard known.count + carried.count <= TokenKeyEntry.maximumCount else {
            throw VaultError(
                .tooLarge, "import a backup into", draft.place.path,
                "It would have more token keys than a vault can hold.")
        }
        return carried
    }

    /// Returns an item sealed again for a vault's compartment. Its value passes through secret memory.
    func carried(
        _ entry: ItemEntry, to target: CompartmentDraft, _ draft: VaultDraft
    ) throws(VaultError) -> ItemValues.Sealed {
        let from = ItemValues(vaultID: vaultID, path: path)
        let to = ItemValues(vaultID: draft.vaultID, path: draft.place.path(of: target.role))
        let name = try ItemName(entry, path: path)
        return try SecretPool.shared.withBytes(count: entry.valueSize) { output throws(VaultError) in
            do throws(VaultError) {
                try from.open(entry, file: values[Array(entry.valueID)], root: root, into: output)
            } catch {
                throw error.ofBackup(path)
            }
        } _: { value throws(VaultError) in
            try to.seal(
                value, name, label: Array(entry.label), accessibility: entry.accessibility, createdAt: entry.createdAt,
                modifiedAt: entry.modifiedAt, root: target.root)
        }
    }
}

extension VaultDraft {
    /// Takes over the chain of person keys and the watermark key of a backup.
    fileprivate mutating func continueChain(
        of old: Register, from backup: CompartmentDraft, _ watermark: SecretEntry, path: String
    ) throws(VaultError) {
        let key = try watermark.secret(vaultID: vaultID, root: backup.root, path: path)
        key.withUnsafeBytes {
            service.secrets.set(SecretEntry(.watermarkKey, $0, vaultID: vaultID, root: service.root))
        }
        register.watermarkCommitment = WatermarkCommitment.of(key)
        tagger = NameTagger(watermarkKey: key)
        register.chain = old.chain
        register.teamKey = old.teamKey
        register.nextSlotID = old.nextSlotID
        var copy = service
        try addPersonKey(to: &copy, signedBy: backup, knownToServices: true)
        service = copy
    }
}

extension ItemName {
    /// Creates the name of an item in a table, whose bytes are checked text.
    init(_ entry: ItemEntry, path: String) throws(VaultError) {
        try self.init(
            service: String(decoding: entry.service, as: UTF8.self),
            account: String(decoding: entry.account, as: UTF8.self), operation: "copy an item from", path: path)
    }
}

/// The part of a vault that goes into a backup or is taken from one.
public enum BackupContents: Sendable, Hashable, CaseIterable {
    /// Sealing keys and items.
    case everything
    /// Only sealing keys, which open the group's sealed files.
    case keysOnly
    /// Only items.
    case itemsOnly

    var includesKeys: Bool { self != .itemsOnly }
    var includesItems: Bool { self != .keysOnly }
}

extension VaultPlace {
    /// Returns the last period, after a given one, in which this user's programs have accepted a file of a vault; `nil`
    /// if there is no such period. Unlike the memory of the place, it remains known after damage to that memory.
    ///
    /// A mark from before a restart does not state its period, so the names of the next periods are compared.
    fileprivate func lastAcceptedPeriod(after period: UInt32, vaultID: [UInt8], key: SecretBytesBox) -> UInt32? {
        guard period < CompartmentHead.maximumPeriod else { return nil }
        let text = vaultID.withUnsafeBytes { $0.hexadecimal }
        let watermarks = watermarks(vaultID: text, key: key)
        return (period + 1...period + 1024).last { period in
            [.service, .person].contains {
                watermarks.mark(of: PartSealing.context(accessGroup.identifier, $0, period: period, .state).nameTag)
                    != nil
            }
        }
    }
}
