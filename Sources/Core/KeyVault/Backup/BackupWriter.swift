internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Creates a backup's bytes: a compartment file with its own random root and both compartments' contents.
///
/// A credential that opens a backup gives its contents at that time, and the key with which it can be restored as the
/// same vault; nothing in it opens the vault itself.
struct BackupWriter {
    let draft: VaultDraft
    let contents: BackupContents
    private let directory: Directory
    private let makers: [any SlotMaker]

    /// - Throws: `VaultError` `.invalidArgument` for slots that a backup cannot have; `.locked` if requested contents
    ///   are locked: no backup is silently partial.
    init(
        of draft: VaultDraft, in directory: Directory, _ contents: BackupContents, for slots: [NewSlot]
    ) throws(VaultError) {
        self.draft = draft
        self.contents = contents
        self.directory = directory
        makers = try Self.makers(slots, draft.place)
        // No backup is silently partial.
        if let failure = draft.serviceFailure { throw failure }
        guard draft.hasPersons, draft.person == nil else { return }
        throw VaultError(
            .locked, "back up", draft.place.path,
            "It contains keys or items that need a person; without them the backup would be incomplete.",
            advice: "Unlock it (sealctl vault unlock), or open it with a passphrase or identity.")
    }

    /// Returns the requested items that may leave the machine, with their compartments.
    func items() throws(VaultError) -> [(entry: ItemEntry, source: CompartmentDraft)] {
        try candidates().filter { !$0.entry.accessibility.isThisDeviceOnly }
    }

    /// Returns the requested items that must stay on this machine.
    func leftOut() throws(VaultError) -> [ItemEntry] {
        try candidates().map(\.entry).filter(\.accessibility.isThisDeviceOnly)
    }

    var keyring: [KeyringEntry] {
        contents.includesKeys ? draft.service.keyring + (draft.person?.keyring ?? []) : []
    }

    private func candidates() throws(VaultError) -> [(entry: ItemEntry, source: CompartmentDraft)] {
        guard contents.includesItems else { return [] }
        var found: [(entry: ItemEntry, source: CompartmentDraft)] = []
        let personNames: Set<Bytes16> = draft.names.tags
        for compartment in [draft.service, draft.person].compactMap(\.self) {
            var compartment = compartment
            for entry in try compartment.loadItems(draft.place).entries {
                // An item planted under the name of a person's item.
                let tag = draft.tagger.tag(try ItemName(entry, path: draft.place.path))
                if compartment.role == .service, personNames.contains(tag) { continue }
                found.append((entry, compartment))
            }
        }
        return found
    }

    /// Returns the bytes of the whole file.
    ///
    /// - Throws: `VaultError` `.corrupt`, also if an item was changed after the draft was read; `.outOfMemory`,
    ///   `.tooCostly`, `.tooLarge`, `.file`.
    func file() throws(VaultError) -> [UInt8] {
        let root = RootKey.random()
        var backup = CompartmentDraft(new: .backup, root: root, period: draft.register.period)
        backup.generation = 1
        // Before the slots: a backup that another program overtakes then costs no key derivation.
        let values = try addItems(to: &backup)
        backup.slots = try slots(for: root)
        if contents == .everything { try addSecrets(to: &backup) }
        if contents.includesKeys {
            backup.state.rotation = draft.service.state.rotation
            for entry in keyring {
                let source = try draft.compartment(entry.protection)
                backup.keyring.append(
                    try entry.rewrapped(
                        from: (draft.vaultID, source.root, draft.place.path(of: source.role)), to: (draft.vaultID, root)
                    ))
            }
            for entry in draft.service.tokenKeys {
                backup.tokenKeys.append(
                    try entry.rewrapped(
                        from: (draft.vaultID, draft.service.root, draft.place.path), to: (draft.vaultID, root)))
            }
        }
        var parts = [(PartNumber.names, draft.names.encoded, root)]
        if !values.isEmpty { parts.insert((.values, values, root), at: 0) }
        let bytes = try backup.file(
            draft.place, vaultID: draft.vaultID, register: contents == .everything ? draft.register.signedBytes : [],
            names: parts, at: draft.now)
        // Open the backup once now, so that a defect shows before it is needed.
        _ = try Backup(CompartmentFile(bytes, path: draft.place.path), root, draft.place, .everything)
        return bytes
    }

    private func addSecrets(to backup: inout CompartmentDraft) throws(VaultError) {
        let holder = draft.person ?? draft.service
        for kind in [SecretEntry.Kind.watermarkKey, .personSeed] {
            guard let entry = holder.secrets.last(kind) else { continue }
            backup.secrets.set(
                try entry.rewrapped(
                    vaultID: draft.vaultID, from: holder.root, to: backup.root, path: draft.place.path(of: holder.role))
            )
        }
    }

    /// - Returns: The contents of the part of values.
    private func addItems(to backup: inout CompartmentDraft) throws(VaultError) -> [UInt8] {
        var table = ItemTable.empty
        var files: [[UInt8]: [UInt8]] = [:]
        for (entry, source) in try items() {
            let values = ItemValues(vaultID: draft.vaultID, path: draft.place.path(of: source.role))
            let carried = try values.rewrapped(entry, from: source.root, to: backup.root, in: draft.vaultID)
            let file = entry.isInline ? nil : try ValueFiles(directory: directory, role: source.role).read(entry)
            // Find a damaged value while its owner can still fix it.
            try values.check(entry, file: file, root: source.root)
            files[Array(entry.valueID)] = file
            try table.insert(carried, path: draft.place.path)
        }
        backup.items = table
        var writer = ByteWriter()
        for entry in table.entries where !entry.isInline {
            let file = files[Array(entry.valueID)] ?? []
            writer.append(UInt32(file.count))
            writer.append(file)
        }
        return writer.bytes
    }
}

extension BackupWriter {
    /// Creates the makers of slots with credentials that a person stores elsewhere: this machine's key files and
    /// credentials would be lost with it.
    private static func makers(_ slots: [NewSlot], _ place: VaultPlace) throws(VaultError) -> [any SlotMaker] {
        guard (1...CompartmentHead.maximumSlots).contains(slots.count) else {
            throw VaultError(
                .invalidArgument, "back up", place.path, "A backup has 1 to 32 passphrases and recipients.")
        }
        var makers: [any SlotMaker] = []
        for slot in slots {
            switch slot {
            case .passphrase, .recipient(_, unattended: false): makers.append(try slot.maker(for: place))
            default:
                throw VaultError(
                    .invalidArgument, "back up", place.path,
                    "A backup is opened with a passphrase or a recipient's identity, and each opens all of it.")
            }
        }
        guard makers.count(where: { $0.kind == .passphrase }) <= 1 else {
            throw VaultError(
                .invalidArgument, "back up", place.path,
                "A backup has one passphrase: with two, an attacker could test both with each guess.",
                advice: "Add the other persons as recipients.")
        }
        return makers
    }

    private func slots(for root: RootKey) throws(VaultError) -> [KeySlot] {
        var slots: [KeySlot] = []
        for (index, maker) in makers.enumerated() {
            var prepared = try maker.prepare(vaultID: draft.vaultID)
            prepared.reach = .backup
            slots.append(
                try prepared.slot(wrapping: root, id: UInt32(index) + 1, createdAt: draft.now, trusted: nil))
        }
        return slots
    }
}
