internal import CryptoPrimitives
internal import Sealing

/// Unwraps a vault's sealing keys and wraps new ones.
struct KeyringReader {
    let place: VaultPlace
    let vaultID: [UInt8]

    /// The keys that are at hand. Those that need the user are named as locked, never left out: locked is not unknown.
    ///
    /// - Throws: `VaultError` `.corrupt` for a key that does not fit its entry.
    func keyring(of body: VaultBody, keys: ClassKeys) throws(VaultError) -> Keyring {
        var found: [SealingKey] = []
        var locked: Set<KeyID> = []
        var active: SealingKey?
        for entry in body.keyring where entry.state != .destroyed {
            // A key of that class is fetched for each use, so that a vault that is locked takes it away from everybody.
            guard entry.protection == .afterFirstUnlock else {
                locked.insert(KeySummary(entry).id)
                continue
            }
            let key = try unwrap(entry, keys: keys)
            found.append(key)
            if entry.state == .active { active = key }
        }
        return Keyring(keys: found, active: active, locked: locked, minimumEpoch: body.state.minimumEpoch)
    }

    /// One key.
    ///
    /// - Throws: `VaultError` `.locked` or `.corrupt`.
    func unwrap(_ entry: KeyringEntry, keys: ClassKeys) throws(VaultError) -> SealingKey {
        let bound = bound(entry.keyID, entry.epoch, entry.protection)
        let key: SealingKey? = try keys.withKey(entry.protection) { classKey throws(VaultError) in
            guard let secret = try? SecretWrap.unwrap(entry.wrappedKey[...], under: classKey, bound: bound) else {
                return nil
            }
            return try? SealingKey(secret: secret, epoch: entry.epoch)
        }
        guard let key, key.id.bytes.withUnsafeBytes({ $0.elementsEqual(entry.keyID) }) else {
            throw VaultError.corrupt(place.path, "The key of epoch \(entry.epoch) does not fit its entry.")
        }
        return key
    }

    /// The entry of a key that is new to this vault.
    func entry(
        for secret: borrowing SecretBytes, epoch: UInt32, state: KeyState, protection: ProtectionClass,
        createdAt: UInt64, keys: ClassKeys
    ) throws(VaultError) -> KeyringEntry {
        let copy = secret.withUnsafeBytes { SecretBytes(copying: $0) }
        guard let key = try? SealingKey(secret: copy, epoch: epoch) else {
            throw VaultError(.invalidArgument, "keep the key", place.path, "It is no key, or of epoch 0.")
        }
        let keyID = key.id.bytes.withUnsafeBytes { Array($0) }
        let bound = bound(keyID, epoch, protection)
        let wrapped = try keys.withKey(protection) { classKey throws(VaultError) in
            SecretWrap.wrap(secret, under: classKey, bound: bound)
        }
        return KeyringEntry(
            keyID: keyID, epoch: epoch, state: state, protection: protection, createdAt: createdAt,
            wrappedKey: wrapped)
    }

    private func bound(_ keyID: [UInt8], _ epoch: UInt32, _ protection: ProtectionClass) -> [UInt8] {
        KeyringEntry.bound(vaultID: vaultID, keyID: keyID, epoch: epoch, protection: protection)
    }
}
