public import AppGroups
package import CryptoPrimitives
internal import Sealing
internal import SharedFiles

extension Vault {
    /// Opens the vault, or makes it together with its first key where there is none.
    ///
    /// A key is born once: under the vault's lock, never while a vault exists that cannot be opened, and never while the
    /// container holds blobs of this group that a new key could not open.
    /// - Parameters:
    ///   - container: The group's container, searched for such blobs before a key is born.
    /// - Throws: `VaultError`; as for `open`, and `.orphanedBlobs` or `.lockTimeout`.
    public static func openOrCreate(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .defaultKeyFile,
        for container: GroupContainer?
    ) throws(VaultError) -> Vault {
        let place = VaultPlace(accessGroup, in: home)
        if let vault = try openIfPresent(place, with: credential) { return vault }
        return try create(place, with: credential, for: container, mayExist: true, costs: .recommended)
    }

    /// Makes the vault with its first key.
    ///
    /// - Throws: `VaultError`, `.alreadyExists` where there is a vault, whatever its state.
    public static func create(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .defaultKeyFile,
        for container: GroupContainer?
    ) throws(VaultError) -> Vault {
        try create(
            VaultPlace(accessGroup, in: home), with: credential, for: container, mayExist: false, costs: .recommended)
    }

    /// - Parameter costs: What a passphrase slot costs; tests choose less than the recommended.
    package static func create(
        _ place: VaultPlace, with credential: VaultCredential, for container: GroupContainer?, mayExist: Bool,
        costs: Argon2id.Parameters
    ) throws(VaultError) -> Vault {
        try requireUsable(credential)
        let directory = try VaultError.onFiles(making) { () throws(FileError) in try place.makeDirectory() }
        let lock = try VaultError.onFiles(making) { () throws(FileError) in
            try LockFile(directory: directory, name: VaultPlace.lockLeaf)
                .acquire(.whole, .exclusive, timeout: VaultPlace.lockTimeout)
        }
        let vault = try createLocked(place, directory, credential, container, mayExist, costs)
        lock.unlock()
        return vault
    }

    /// Reads a key file that a person named, so that a wrong name fails before anything is made.
    ///
    /// - Throws: `VaultError` as for opening with it; `.unsafeFile` for a pipe, which cannot be read again.
    package static func requireUsable(_ credential: VaultCredential) throws(VaultError) {
        guard case .keyFile(let path) = credential else { return }
        let kind = (try? Descriptor.openForReading(path: path).attributes())?.kind
        guard kind == nil || kind == .regular else {
            throw VaultError(FileError(.notRegularFile, operation: "read", path: path), "read the key file")
        }
        _ = try KeyFile.read(path: path)
    }

    private static let making = "make the vault"

    private static func createLocked(
        _ place: VaultPlace, _ directory: Directory, _ credential: VaultCredential, _ container: GroupContainer?,
        _ mayExist: Bool, _ costs: Argon2id.Parameters
    ) throws(VaultError) -> Vault {
        // Another process may have made it between our look and our lock: its key is the key.
        if mayExist, let vault = try openIfPresent(place, with: credential) { return vault }
        if !mayExist, try place.read() != nil {
            throw VaultError(.alreadyExists, making, place.path, "There is one already.")
        }
        try KeyBirthGuard.check(container, accessGroup: place.accessGroup)
        try write(try newFile(place, credential, costs), to: directory)
        guard let vault = try openIfPresent(place, with: credential) else {
            throw VaultError(.absent, "open the vault", place.path, "It vanished while it was being made.")
        }
        return vault
    }

    private static func write(_ bytes: [UInt8], to directory: Directory) throws(VaultError) {
        try VaultError.onFiles(making) { () throws(FileError) in
            try bytes.withRawBytes { bytes throws(FileError) in
                try directory.createExclusively(VaultPlace.leaf, with: bytes, mode: 0o600)
            }
        }
    }

    private static func newFile(
        _ place: VaultPlace, _ credential: VaultCredential, _ costs: Argon2id.Parameters
    ) throws(VaultError) -> [UInt8] {
        let secrets = VaultSecrets.random()
        let vaultID = SecureRandom.bytes(count: 16)
        let now = WallClock.milliseconds()
        let slot = try newSlot(place, credential, costs, secrets, vaultID, now)
        let header = VaultHeader(vaultID: vaultID, generation: 1, slots: [slot])
        do throws(SealingError) {
            let body = VaultBody(keyring: [try newEntry(secrets, vaultID, now)])
            return header.sealed(root: secrets.root) + (try sealBody(body, header, place, secrets, now))
        } catch {
            throw VaultError(.corrupt, making, place.path, error.detail)
        }
    }

    private static func newSlot(
        _ place: VaultPlace, _ credential: VaultCredential, _ costs: Argon2id.Parameters,
        _ secrets: borrowing VaultSecrets, _ vaultID: [UInt8], _ now: UInt64
    ) throws(VaultError) -> KeySlot {
        func made(by credential: some SlotCredential) throws(VaultError) -> KeySlot {
            do throws(CryptoError) {
                if let slot = try credential.makeSlot(for: secrets, vaultID: vaultID, id: 1, createdAt: now) {
                    return slot
                }
                throw CryptoError(.parameterOutOfRange, "make slot")
            } catch {
                throw VaultError(
                    error.code == .outOfMemory ? .outOfMemory : .invalidArgument, making, place.path,
                    "Its key slot could not be made (\(error)).")
            }
        }
        switch credential {
        case .passphrase(let passphrase):
            return try made(by: PassphraseSlot(passphrase: passphrase, costs: costs))
        case .defaultKeyFile:
            let keys = try VaultError.onFiles(making) { () throws(FileError) in try place.makeKeysDirectory() }
            return try made(by: KeyFileSlot(key: KeyFile.readOrCreate(in: keys, leaf: place.keyFileLeaf)))
        case .keyFile(let path):
            return try made(by: KeyFileSlot(key: KeyFile.read(path: path)))
        }
    }

    private static func newEntry(
        _ secrets: borrowing VaultSecrets, _ vaultID: [UInt8], _ now: UInt64
    ) throws(SealingError) -> KeyringEntry {
        let secret = SecretBytes.random(count: SealingKey.size)
        let copy = secret.withUnsafeBytes { SecretBytes(copying: $0) }
        let keyID = try SealingKey(secret: copy, epoch: 1).id.bytes.withUnsafeBytes { Array($0) }
        let bound = KeyringEntry.bound(vaultID: vaultID, keyID: keyID, epoch: 1, protection: .afterFirstUnlock)
        return KeyringEntry(
            keyID: keyID, epoch: 1, state: .active, protection: .afterFirstUnlock, createdAt: now,
            wrappedKey: SecretWrap.wrap(secret, under: secrets.afterFirstUnlock, bound: bound))
    }

    private static func sealBody(
        _ body: VaultBody, _ header: VaultHeader, _ place: VaultPlace, _ secrets: borrowing VaultSecrets, _ now: UInt64
    ) throws(SealingError) -> [UInt8] {
        let key = try SealingKey(secret: secrets.derived(.vaultBodyKey), epoch: 1)
        let context = BlobContext(group: place.accessGroup.identifier, kind: .vault, name: "")
        return body.encoded.withRawBytes {
            BlobSealer.seal(
                $0, as: BlobDescription(vault: context, sequence: header.generation, sealedAt: now), key: key)
        }
    }
}
