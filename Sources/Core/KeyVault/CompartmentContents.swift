internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// One write of a compartment, opened: a snapshot that never changes. Item index and item values are read on demand.
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
            throw .corrupt(path, "Its header and its contents are of different writes.")
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
            throw .corrupt(file.path, "Part \(number.rawValue) is of a later write.")
        }
        return opened
    }

    /// The minimum epoch of *after first unlock*, of a service compartment.
    var minimum: SeenMinimum { SeenMinimum(epoch: state.rotation.minimumEpoch, period: head.period) }

    /// The index of items. Read at the first use and kept: it holds names, and item keys that are wrapped.
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

    /// A service root that a person compartment holds.
    ///
    /// - Parameter number: 0 for the present one, 1 for the next one during a rekey.
    /// - Throws: `VaultError` `.corrupt`.
    func serviceRoot(_ number: UInt32, root: RootKey) throws(VaultError) -> RootKey {
        guard let entry = secrets[.serviceRoot, number] else { throw .corrupt(file.path, "It has no service root.") }
        return RootKey(try entry.secret(vaultID: head.vaultID, root: root, path: file.path))
    }

    /// Compares what is sealed with what is signed.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.replaced`.
    func check(_ root: RootKey, _ register: Register, _ place: VaultPlace) throws(VaultError) {
        let (path, vaultID) = (file.path, head.vaultID)
        let listed = register.person?.keys ?? []
        guard keyring.count == listed.count,
            zip(keyring, listed).allSatisfy({
                $0.keyID == $1.keyID && $0.epoch == $1.epoch && $0.state == $1.state && $0.createdAt == $1.createdAt
            })
        else { throw .corrupt(path, "Its keys are not those of its register.") }
        guard let watermark = secrets[.watermarkKey, 0], secrets[.serviceRoot, 0] != nil,
            (secrets[.serviceRoot, 1] == nil) == (register.nextRoot == nil)
        else { throw .corrupt(path, "A secret is missing, or one is too many.") }
        guard
            WatermarkCommitment.of(try watermark.secret(vaultID: vaultID, root: root, path: path))
                == register.watermarkCommitment
        else { throw .replaced(path, "Its watermark key is not the one that the persons of the vault vouch for.") }
        try checkSeed(root, register, path: path)
        for entry in keyring where entry.state != .destroyed {
            try entry.withSecret(vaultID: vaultID, root: root, path: path) { _ in }
        }
    }

    /// - Throws: `VaultError` `.corrupt` where the seed is not that of the register's last person key.
    func checkSeed(_ root: RootKey, _ register: Register, path: String) throws(VaultError) {
        guard let last = register.chain.last, let seed = secrets[.personSeed, last.period] else {
            throw .corrupt(path, "It has no seed of its person key.")
        }
        let secret = try seed.secret(vaultID: head.vaultID, root: root, path: path)
        guard let key = try? Ed25519.SigningKey(seed: secret), key.publicKey == last.key else {
            throw .corrupt(path, "Its person key is not that of its register.")
        }
    }

    /// The contents of a part that this version does not know, and of the names.
    func opened(_ number: PartNumber, _ sealing: PartSealing) throws(VaultError) -> [UInt8] {
        try Self.open(number, of: file, sealing).bytes
    }
}

/// A compartment that is being changed, and what of it was read.
struct CompartmentDraft {
    let role: CompartmentRole
    /// Nil for a compartment that is being made.
    let old: CompartmentContents?
    /// The root that the contents are wrapped under: that of the draft, which a rekey changes with all of them.
    var root: RootKey
    var period: UInt32
    var generation: UInt64
    var slots: [KeySlot]
    var state: CompartmentState
    var secrets: SecretTable
    var keyring: [KeyringEntry]
    var tokenKeys: [TokenKeyEntry] = []
    /// Nil while nobody has looked at it: then it is as it was.
    var items: ItemTable?
    /// New keys get later epochs than this one.
    var epochFloor: UInt32 = 0
    /// What a rekey does not carry on.
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

    /// A new compartment.
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

    /// Whether anything but the log head differs from what was read.
    var isChanged: Bool {
        guard let old else { return true }
        return period != old.head.period || slots != old.head.slots || secrets != old.secrets || keyring != old.keyring
            || tokenKeys != old.tokenKeys || items != nil || state.rotation != old.state.rotation
    }

    /// The index of items, loaded for a change.
    mutating func loadItems(_ place: VaultPlace) throws(VaultError) -> ItemTable {
        if let items { return items }
        // Without a root of its own the draft reads with the one that the file has.
        return try old?.items(root: root, place: place) ?? .empty
    }

    /// The compartment's bytes as they will be written.
    ///
    /// - Parameters:
    ///   - register: The signed bytes; empty for none.
    ///   - names: Contents of further parts, by number; each sealed under the root that is given with it.
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
        // A new period seals the index again, also where nothing else has looked at it.
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
                // What a service has planted there must not keep persons from a rekey.
                guard role == .service else { throw error }
                continue
            }
            parts.append(
                sealing.seal(contents, as: entry.number, isCritical: false, generation: generation, at: now))
        }
        return parts
    }

    /// The root before a rekey; nil outside one.
    var oldRoot: RootKey?
}
