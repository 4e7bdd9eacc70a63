internal import CryptoPrimitives
package import Sealing

/// The available sealing keys of one access group, by id: an immutable snapshot.
package final class Keyring: SealingKeySource {
    private let keys: [KeyID: SealingKey]
    /// All key ids of *when unlocked*, including unavailable ones.
    private let whenUnlocked: Set<KeyID>
    /// The key for new blobs of *after first unlock*.
    package let active: SealingKey?
    /// The epoch for new blobs of *when unlocked*; `nil` while the class has no key.
    package let whenUnlockedEpoch: UInt32?
    private let minimumEpochs: (afterFirstUnlock: UInt32, whenUnlocked: UInt32)
    /// The tags of the names that are *when unlocked*.
    let listed: Set<Bytes16>
    /// `true` if the list of those names is not accessible because the compartment of persons is missing or damaged.
    /// Then a blob counts only under a name that this user has accepted before.
    package let isPersonMissing: Bool

    /// Unwraps the keys of *after first unlock*. The keys of the other class are listed, never omitted: locked is not
    /// unknown.
    ///
    /// - Parameter passingDamage: Whether to leave out a key that does not match its entry.
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry, `.outOfMemory`.
    init(
        _ service: CompartmentContents?, _ person: Register.Person?, vaultID: [UInt8], root: RootKey,
        listed: Set<Bytes16>, isPersonMissing: Bool, path: String, passingDamage: Bool
    ) throws(VaultError) {
        self.isPersonMissing = isPersonMissing
        var found: [KeyID: SealingKey] = [:]
        var active: SealingKey?
        let entries = (service?.keyring ?? []).filter { $0.state != .destroyed }
        try WrappedSecrets.open(entries, passingDamage: passingDamage) { entry, output throws(VaultError) in
            try entry.unwrap(into: output, vaultID: vaultID, root: root, path: path)
        } _: { entry, secret throws(VaultError) in
            let key = try entry.key(secret, path: path)
            found[key.id] = key
            if entry.state == .active { active = key }
        }
        keys = found
        self.active = active
        let others = (person?.keys ?? []).filter { $0.state != .destroyed }
        whenUnlocked = Set(others.map { KeyID(bytes: $0.keyID.withUnsafeBytes { Bytes16($0) }) })
        whenUnlockedEpoch = others.first { $0.state == .active }?.epoch
        minimumEpochs = (service?.state.rotation.minimumEpoch ?? 1, person?.rotation.minimumEpoch ?? 1)
        self.listed = listed
    }

    private init(_ other: Keyring, lending key: SealingKey) {
        keys = other.keys.merging([key.id: key]) { _, lent in lent }
        active = other.active
        whenUnlocked = other.whenUnlocked
        whenUnlockedEpoch = other.whenUnlockedEpoch
        minimumEpochs = other.minimumEpochs
        listed = other.listed
        isPersonMissing = other.isPersonMissing
    }

    /// Returns the keyring with one more key, for one use: a program that kept it would keep a key that a lock does not
    /// reach.
    func lending(_ key: SealingKey) -> Keyring { Keyring(self, lending: key) }

    /// Returns the key with that id, active or opening-only.
    @inline(__always)
    package func sealingKey(for id: KeyID) -> SealingKey? {
        // Nearly every blob is sealed under the active key; the look-up serves blobs that a rotation left behind.
        if let active, active.id == id { return active }
        return keys[id]
    }

    /// Returns whether the vault has that key but this keyring does not: `Vault.keyring(toOpen:)` has it while the
    /// vault is unlocked.
    package func isLocked(_ id: KeyID) -> Bool { whenUnlocked.contains(id) && keys[id] == nil }

    /// The keys of the vault that are not in this keyring.
    package var lockedIDs: Set<KeyID> { whenUnlocked.filter { keys[$0] == nil } }

    /// Returns the class of a key of the vault.
    package func protection(of id: KeyID) -> ProtectionClass {
        whenUnlocked.contains(id) ? .whenUnlocked : .afterFirstUnlock
    }

    /// Returns the minimum epoch of a class: blobs of earlier epochs were resealed, and are refused since.
    package func minimumEpoch(of protection: ProtectionClass) -> UInt32 {
        protection == .whenUnlocked ? minimumEpochs.whenUnlocked : minimumEpochs.afterFirstUnlock
    }

    /// The lower of both: `minimumEpoch(for:)` knows the class.
    package var minimumEpoch: UInt32 { min(minimumEpochs.afterFirstUnlock, minimumEpochs.whenUnlocked) }

    /// The lowest epoch of a readable blob of any class, even under a future key.
    package var lowestUsableEpoch: UInt32 { whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch }

    /// Returns the minimum epoch of a key's class.
    package func minimumEpoch(for id: KeyID) -> UInt32 {
        // Most vaults have no key of the other class.
        whenUnlocked.isEmpty ? minimumEpochs.afterFirstUnlock : minimumEpoch(of: protection(of: id))
    }

    package func minimumEpoch(for key: SealingKey) -> UInt32 { minimumEpoch(for: key.id) }

    /// Returns the epoch for new blobs of a class; `nil` if the class has no active key.
    package func activeEpoch(of protection: ProtectionClass) -> UInt32? {
        protection == .whenUnlocked ? whenUnlockedEpoch : active?.epoch
    }

    /// `true` if any name is *when unlocked*.
    package var listsNames: Bool { !listed.isEmpty }

    /// The ids of all available keys.
    package var ids: Set<KeyID> { Set(keys.keys) }
}

/// The time when a protected value is available.
public enum ProtectionClass: UInt8, Sendable, CaseIterable {
    /// From the vault's first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// While the vault is unlocked.
    case whenUnlocked = 2
}

/// The state of a sealing key: `active`, then `decryptOnly`, then `destroyed`.
package enum KeyState: UInt8, Sendable, CustomStringConvertible {
    case active = 1
    case decryptOnly = 2
    case destroyed = 3

    package var description: String {
        switch self {
        case .active: "active"
        case .decryptOnly: "decrypt-only"
        case .destroyed: "destroyed"
        }
    }
}

/// A sealing key as a vault stores it: id, epoch, state and dates, and the key wrapped under its compartment's root
/// (`docs/spec/vault.md`, section 7).
struct KeyringEntry: Hashable, Sendable {
    static let encodedSize = 16 + 4 + 4 + 8 + SealingKey.size + SecretWrap.overhead
    /// The suite of every key that this version creates.
    static let suite: UInt8 = 1
    /// A bound above any realistic number of epochs, checked before memory is allocated.
    static let maximumCount = 4096

    /// Returns the highest epoch in a period. A planted epoch cannot exhaust the numbers: a rekey allows more.
    static func maximumEpoch(period: UInt32) -> UInt32 { UInt32(clamping: UInt64(period) << 21) }

    /// Returns the first period in which a key of a later epoch can be created.
    static func period(ofEpoch epoch: UInt32) -> UInt32 { min(epoch >> 21 + 1, CompartmentHead.maximumPeriod) }

    let keyID: [UInt8]
    let epoch: UInt32
    var state: KeyState
    let protection: ProtectionClass
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// All zero after the key was destroyed.
    var wrappedKey: [UInt8]

    init(
        keyID: [UInt8], epoch: UInt32, state: KeyState, protection: ProtectionClass, createdAt: UInt64,
        wrappedKey: [UInt8]
    ) {
        self.keyID = keyID
        self.epoch = epoch
        self.state = state
        self.protection = protection
        self.createdAt = createdAt
        self.wrappedKey = wrappedKey
    }

    /// Wraps a key for a new entry.
    init(
        _ secret: UnsafeRawBufferPointer, epoch: UInt32, state: KeyState, protection: ProtectionClass,
        createdAt: UInt64, vaultID: [UInt8], root: RootKey
    ) {
        let id = KeyID(of: secret).bytes.withUnsafeBytes { Array($0) }
        self.init(
            keyID: id, epoch: epoch, state: state, protection: protection, createdAt: createdAt, wrappedKey: [])
        wrappedKey = root.wrap(secret, for: .sealingKeysKey, bound: bound(to: vaultID))
    }

    /// Creates an entry with a random key.
    static func random(
        epoch: UInt32, state: KeyState = .active, protection: ProtectionClass, createdAt: UInt64, vaultID: [UInt8],
        root: RootKey
    ) -> KeyringEntry {
        ScratchMemory.withSecret(count: SealingKey.size) { secret in
            SecureRandom.fill(secret)
            return KeyringEntry(
                UnsafeRawBufferPointer(secret), epoch: epoch, state: state, protection: protection,
                createdAt: createdAt, vaultID: vaultID, root: root)
        }
    }

    /// Unwraps the key into its own guarded memory.
    ///
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry, `.outOfMemory`.
    func key(vaultID: [UInt8], root: RootKey, path: String) throws(VaultError) -> SealingKey {
        try key(
            SecretBytes(count: SealingKey.size) { secret throws(VaultError) in
                try unwrap(into: secret, vaultID: vaultID, root: root, path: path)
            }, path: path)
    }

    /// Returns the key of an unwrapped secret.
    func key(_ secret: consuming SecretBytes, path: String) throws(VaultError) -> SealingKey {
        do throws(SealingError) { return try SealingKey(secret: secret, epoch: epoch) } catch { throw unfit(path) }
    }

    /// Lends the key for the length of a call.
    ///
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry.
    func withSecret<Result>(
        vaultID: [UInt8], root: RootKey, path: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        try ScratchMemory.withSecret(count: SealingKey.size) { secret throws(VaultError) in
            try unwrap(into: secret, vaultID: vaultID, root: root, path: path)
            return body(UnsafeRawBufferPointer(secret))
        }
    }

    /// Writes the key into `output`, which has the key's size.
    ///
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry.
    func unwrap(
        into output: UnsafeMutableRawBufferPointer, vaultID: [UInt8], root: RootKey, path: String
    ) throws(VaultError) {
        do throws(CryptoError) {
            try root.unwrap(wrappedKey[...], for: .sealingKeysKey, bound: bound(to: vaultID), into: output)
        } catch { throw unfit(path) }
        let id = KeyID(of: UnsafeRawBufferPointer(output))
        guard id.bytes.withUnsafeBytes({ $0.elementsEqual(keyID) }) else { throw unfit(path) }
    }

    private func unfit(_ path: String) -> VaultError {
        .corrupt(path, "The key of epoch \(epoch) does not match its entry.")
    }

    /// Returns the same key wrapped under another root, or for another vault.
    func rewrapped(
        from old: (vaultID: [UInt8], root: RootKey, path: String), to new: (vaultID: [UInt8], root: RootKey),
        as state: KeyState? = nil
    ) throws(VaultError) -> KeyringEntry {
        guard self.state != .destroyed else { return self }
        return try withSecret(vaultID: old.vaultID, root: old.root, path: old.path) { secret in
            KeyringEntry(
                secret, epoch: epoch, state: state ?? self.state, protection: protection, createdAt: createdAt,
                vaultID: new.vaultID, root: new.root)
        }
    }

    /// Erases the key; id, epoch and dates remain.
    mutating func destroy() {
        state = .destroyed
        wrappedKey = [UInt8](repeating: 0, count: SealingKey.size + SecretWrap.overhead)
    }

    /// Returns the associated data of the wrapped key: the vault, and every field that does not change.
    private func bound(to vaultID: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        encodeFields(into: &writer, state: 0)
        return writer.bytes
    }

    private func encodeFields(into writer: inout ByteWriter, state: UInt8) {
        writer.append(keyID)
        writer.append(epoch)
        writer.append(state)
        writer.append(protection.rawValue)
        writer.append(Self.suite)
        writer.append(UInt8(0))
        writer.append(createdAt)
    }

    func encode(into writer: inout ByteWriter) {
        encodeFields(into: &writer, state: state.rawValue)
        writer.append(wrappedKey)
    }

    init(parsing reader: inout ByteReader, path: String) throws(VaultError) {
        keyID = Array(try reader.take(16))
        epoch = try reader.integer()
        let state = KeyState(rawValue: try reader.integer())
        let protection = ProtectionClass(rawValue: try reader.integer())
        let suite: UInt8 = try reader.integer()
        let reserved: UInt8 = try reader.integer()
        createdAt = try reader.integer()
        wrappedKey = Array(try reader.take(SealingKey.size + SecretWrap.overhead))
        guard let state, suite == Self.suite else {
            throw VaultError(.unsupported, "open the vault", path, "It has a key of an unknown state or suite.")
        }
        guard let protection, reserved == 0, epoch > 0, (state == .destroyed) == wrappedKey.allSatisfy({ $0 == 0 })
        else {
            throw .corrupt(path, "Its keyring has invalid numbers.")
        }
        self.state = state
        self.protection = protection
    }
}

extension [KeyringEntry] {
    /// Parses a keyring.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`.
    init(parsing part: [UInt8], _ role: CompartmentRole, period: UInt32, path: String) throws(VaultError) {
        self = []
        guard part.count <= KeyringEntry.maximumCount * KeyringEntry.encodedSize else {
            throw .corrupt(path, "It has more keys than a keyring can hold.")
        }
        var reader = ByteReader(part[...], path: path)
        while !reader.isAtEnd { append(try KeyringEntry(parsing: &reader, path: path)) }
        let order = map { UInt64($0.protection.rawValue) << 32 | UInt64($0.epoch) }
        let highest = KeyringEntry.maximumEpoch(period: period)
        guard zip(order, order.dropFirst()).allSatisfy(<), Set(map(\.keyID)).count == count,
            allSatisfy({ $0.epoch <= highest })
        else {
            throw .corrupt(path, "Its keys are out of order, have a duplicate, or have an invalid epoch.")
        }
        for protection in ProtectionClass.allCases {
            let entries = filter { $0.protection == protection }
            guard entries.isEmpty || role == .backup || CompartmentRole(protection) == role,
                entries.count(where: { $0.state == .active }) <= 1
            else { throw .corrupt(path, "It has a key of the other class, or two active ones.") }
        }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        for entry in sorted(by: { ($0.protection.rawValue, $0.epoch) < ($1.protection.rawValue, $1.epoch) }) {
            entry.encode(into: &writer)
        }
        return writer.bytes
    }

    func active(_ protection: ProtectionClass) -> KeyringEntry? {
        first { $0.state == .active && $0.protection == protection }
    }
}

/// The public description of a sealing key.
package struct KeySummary: Hashable, Sendable {
    package let id: KeyID
    package let epoch: UInt32
    package let state: KeyState
    package let protection: ProtectionClass
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    init(_ entry: KeyringEntry) {
        id = KeyID(bytes: Bytes16(filling: { $0.copyBytes(from: entry.keyID) }))
        epoch = entry.epoch
        state = entry.state
        protection = entry.protection
        createdAt = entry.createdAt
    }

    init(_ key: RegisteredKey) {
        id = KeyID(bytes: Bytes16(filling: { $0.copyBytes(from: key.keyID) }))
        epoch = key.epoch
        state = key.state
        protection = .whenUnlocked
        createdAt = key.createdAt
    }
}
