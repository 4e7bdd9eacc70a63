internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The opened contents of one write of a compartment: an immutable snapshot. The item index and item values are read on
/// demand.
final class CompartmentContents: Sendable {
    let file: CompartmentFile
    let state: CompartmentState
    let secrets: SecretTable
    let keyring: [KeyringEntry]
    /// Empty in the person compartment.
    let tokenKeys: [TokenKeyEntry]
    private let index = Mutex<ItemTable?>(nil)

    var head: CompartmentHead { file.head }
    var role: CompartmentRole { file.head.role }

    /// - Throws: `VaultError` `.corrupt`, `.unsupported` or `.wrongGroup`.
    init(_ file: CompartmentFile, root: RootKey, place: VaultPlace) throws(VaultError) {
        let head = file.head
        let path = file.path
        guard head.isAuthentic(root) else { throw .corrupt(path, "Its header was changed without its key.") }
        let sealing = try PartSealing(place, head.role, period: head.period, root: root)
        let state = try Self.open(.state, of: file, sealing)
        let secrets = try Self.open(.secrets, of: file, sealing)
        let keyring = try Self.open(.keyring, of: file, sealing)
        let tokens = head.role == .person ? nil : try Self.open(.tokenKeys, of: file, sealing)
        guard state.header.header.sequence == head.generation else {
            throw .corrupt(path, "Its header and its contents belong to different writes.")
        }
        self.state = try CompartmentState(parsing: state.bytes, head.role, path: path)
        self.secrets = try SecretTable(parsing: secrets.bytes, head.role, path: path)
        self.keyring = try [KeyringEntry](parsing: keyring.bytes, head.role, period: head.period, path: path)
        tokenKeys =
            try tokens.map { tokens throws(VaultError) in
                try [TokenKeyEntry](parsing: tokens.bytes[...], path: path)
            } ?? []
        self.file = file
        guard head.role != .person else { return }
        let keys = self.keyring.filter { $0.protection == .afterFirstUnlock }
        try self.state.rotation.check(
            active: keys.active(.afterFirstUnlock)?.epoch, hasKeys: !keys.isEmpty, path: path)
    }

    private static func open(
        _ number: PartNumber, of file: CompartmentFile, _ sealing: PartSealing
    ) throws(VaultError) -> (bytes: [UInt8], header: VerifiedHeader) {
        guard let entry = file.head.entry(number), let sealed = try file.sealedPart(number) else {
            throw .corrupt(file.path, "A part is missing.")
        }
        let opened = try sealing.open(sealed, entry)
        guard opened.header.header.sequence <= file.head.generation else {
            throw .corrupt(file.path, "Part \(number.rawValue) belongs to a later write.")
        }
        return opened
    }

    /// The minimum epoch of *after first unlock* in a service compartment.
    var minimum: SeenMinimum { SeenMinimum(epoch: state.rotation.minimumEpoch, period: head.period) }

    /// Returns the index of items. It is read at the first use and kept: it contains names and wrapped item keys.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`, `.file`.
    func items(root: RootKey, place: VaultPlace) throws(VaultError) -> ItemTable {
        if let known = index.withLock({ $0 }) { return known }
        let sealing = try PartSealing(place, role, period: head.period, root: root)
        let part = try Self.open(.items, of: file, sealing)
        let table = try ItemTable(parsing: part.bytes[...], role: role, path: file.path)
        index.withLock { $0 = table }
        return table
    }

    /// Returns a service root that a person compartment contains.
    ///
    /// - Parameter number: 0 for the present one, 1 for the next one during a rekey.
    /// - Throws: `VaultError` `.corrupt`.
    func serviceRoot(_ number: UInt32, root: RootKey) throws(VaultError) -> RootKey {
        guard let entry = secrets[.serviceRoot, number] else { throw .corrupt(file.path, "It has no service root.") }
        return RootKey(try entry.secret(vaultID: head.vaultID, root: root, path: file.path))
    }

    /// Checks that the sealed contents match the signed register.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.replaced`.
    func check(_ root: RootKey, _ register: Register, _ place: VaultPlace) throws(VaultError) {
        let (path, vaultID) = (file.path, head.vaultID)
        let listed = register.person?.keys ?? []
        guard keyring.count == listed.count,
            zip(keyring, listed).allSatisfy({
                $0.keyID == $1.keyID && $0.epoch == $1.epoch && $0.state == $1.state && $0.createdAt == $1.createdAt
            })
        else { throw .corrupt(path, "Its keys are not the ones in its register.") }
        guard let watermark = secrets[.watermarkKey, 0], secrets[.serviceRoot, 0] != nil,
            (secrets[.serviceRoot, 1] == nil) == (register.nextRoot == nil)
        else { throw .corrupt(path, "It has too few or too many secrets.") }
        guard
            WatermarkCommitment.of(try watermark.secret(vaultID: vaultID, root: root, path: path))
                == register.watermarkCommitment
        else { throw .replaced(path, "Its watermark key is not the one that the persons of the vault vouch for.") }
        try checkSeed(root, register, path: path)
        for entry in keyring where entry.state != .destroyed {
            try entry.withSecret(vaultID: vaultID, root: root, path: path) { _ in }
        }
    }

    /// - Throws: `VaultError` `.corrupt` if the seed is not that of the register's last person key.
    func checkSeed(_ root: RootKey, _ register: Register, path: String) throws(VaultError) {
        guard let last = register.chain.last, let seed = secrets[.personSeed, last.period] else {
            throw .corrupt(path, "It has no seed of its person key.")
        }
        let secret = try seed.secret(vaultID: head.vaultID, root: root, path: path)
        guard let key = try? Ed25519.SigningKey(seed: secret), key.publicKey == last.key else {
            throw .corrupt(path, "Its person key is not the one in its register.")
        }
    }

    /// Returns the contents of a part that this version does not know, or of the names.
    func opened(_ number: PartNumber, _ sealing: PartSealing) throws(VaultError) -> [UInt8] {
        try Self.open(number, of: file, sealing).bytes
    }
}

/// A compartment under change, and the contents that were read from it.
struct CompartmentDraft {
    let role: CompartmentRole
    /// `nil` for a new compartment.
    let old: CompartmentContents?
    /// The root that wraps the contents: that of the draft, which a rekey changes for all of them.
    var root: RootKey
    var period: UInt32
    var generation: UInt64
    var slots: [KeySlot]
    var state: CompartmentState
    var secrets: SecretTable
    var keyring: [KeyringEntry]
    var tokenKeys: [TokenKeyEntry] = []
    /// `nil` while the index is not loaded: then it is unchanged.
    var items: ItemTable?
    /// The epoch that new keys exceed.
    var epochFloor: UInt32 = 0
    /// The contents that a rekey does not carry on.
    var losses = RekeyLosses()

    /// - Parameter listed: The slots that the register lists; others are dropped.
    init(_ contents: CompartmentContents, root: RootKey, register: Register) {
        role = contents.role
        old = contents
        self.root = root
        period = contents.head.period
        generation = contents.head.generation
        slots = contents.head.slots.filter { slot in register.slot(slot.id)?.isListing(slot) ?? false }
        state = contents.state
        secrets = contents.secrets
        keyring = contents.keyring
        tokenKeys = contents.tokenKeys
    }

    /// Creates a new compartment.
    init(new role: CompartmentRole, root: RootKey, period: UInt32) {
        self.role = role
        old = nil
        self.root = root
        self.period = period
        generation = 0
        slots = []
        state = CompartmentState()
        secrets = SecretTable()
        keyring = []
        items = .empty
    }

    /// `true` if anything but the log head differs from the contents that were read.
    var isChanged: Bool {
        guard let old else { return true }
        return period != old.head.period || slots != old.head.slots || secrets != old.secrets || keyring != old.keyring
            || tokenKeys != old.tokenKeys || items != nil || state.rotation != old.state.rotation
    }

    /// Returns the index of items, loaded for a change.
    mutating func loadItems(_ place: VaultPlace) throws(VaultError) -> ItemTable {
        if let items { return items }
        // Without its own root the draft reads with the file's root.
        return try old?.items(root: root, place: place) ?? .empty
    }

    /// Returns the compartment's bytes to be written.
    ///
    /// - Parameters:
    ///   - register: The signed bytes; empty if there is no register.
    ///   - names: Contents of further parts, by number; each sealed under the root given with it.
    func file(
        _ place: VaultPlace, vaultID: [UInt8], register: [UInt8], names: [(PartNumber, [UInt8], RootKey)],
        at now: UInt64
    ) throws(VaultError) -> [UInt8] {
        let sealing = try PartSealing(place, role, period: period, root: root)
        let isNewPeriod = old.map { $0.head.period != period } ?? true
        var parts: [(entry: PartEntry, bytes: [UInt8])] = []
        func add(_ number: PartNumber, _ contents: @autoclosure () -> [UInt8], isUnchanged: Bool) throws(VaultError) {
            if isUnchanged, !isNewPeriod, let old, let entry = old.head.entry(number),
                let sealed = try old.file.sealedPart(number)
            {
                parts.append((entry, sealed))
            } else {
                parts.append(sealing.seal(contents(), as: number, generation: generation, at: now))
            }
        }
        try add(.state, state.encoded(role), isUnchanged: false)
        try add(.secrets, secrets.encoded, isUnchanged: secrets == old?.secrets)
        try add(.keyring, keyring.encoded, isUnchanged: keyring == old?.keyring)
        // A new period seals the index again, even if nothing else has read it.
        var index = items
        if isNewPeriod, index == nil { index = try old?.items(root: oldRoot ?? root, place: place) }
        try add(.items, (index ?? .empty).encoded, isUnchanged: index == nil && old != nil)
        if role != .person { try add(.tokenKeys, tokenKeys.encoded, isUnchanged: tokenKeys == old?.tokenKeys) }
        for (number, contents, root) in names {
            parts.append(
                try PartSealing(place, role, period: period, root: root).seal(
                    contents, as: number, generation: generation, at: now))
        }
        parts += try unknownParts(place, sealing, isNewPeriod: isNewPeriod, at: now)
        parts.sort { $0.entry.number < $1.entry.number }
        let image = CompartmentImage(
            role: role, generation: generation, vaultID: vaultID, period: period, slots: slots.withinArea,
            register: register, parts: parts)
        return try image.file(root: root, path: place.path(of: role))
    }

    private func unknownParts(
        _ place: VaultPlace, _ sealing: PartSealing, isNewPeriod: Bool, at now: UInt64
    ) throws(VaultError) -> [(entry: PartEntry, bytes: [UInt8])] {
        guard let old else { return [] }
        var parts: [(entry: PartEntry, bytes: [UInt8])] = []
        for entry in old.head.parts where !entry.number.isKnown {
            guard let sealed = try old.file.sealedPart(entry.number) else { continue }
            guard isNewPeriod else {
                parts.append((entry, sealed))
                continue
            }
            let former = try PartSealing(place, role, period: old.head.period, root: oldRoot ?? root)
            let contents: [UInt8]
            do throws(VaultError) { contents = try former.open(sealed, entry).bytes } catch {
                // Parts that a service planted must not prevent a rekey by persons.
                guard role == .service else { throw error }
                continue
            }
            parts.append(
                sealing.seal(contents, as: entry.number, isCritical: false, generation: generation, at: now))
        }
        return parts
    }

    /// The root before a rekey; `nil` outside a rekey.
    var oldRoot: RootKey?
}
