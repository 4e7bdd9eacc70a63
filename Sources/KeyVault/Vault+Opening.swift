public import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

extension Vault {
    /// Opens the vault of an access group. Nothing is made and nothing is written.
    ///
    /// - Throws: `VaultError`: `.absent`, `.locked`, `.corrupt`, `.wrongPassphrase` and `.wrongKeyFile` are different
    ///   answers; the file is unchanged after each.
    public static func open(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .defaultKeyFile
    ) throws(VaultError) -> Vault {
        let place = VaultPlace(accessGroup, in: home)
        guard let vault = try openIfPresent(place, with: credential) else {
            throw VaultError(.absent, "open the vault", place.path, "There is none for \(accessGroup).")
        }
        return vault
    }

    /// The vault, or nil only where there is no file at all.
    static func openIfPresent(_ place: VaultPlace, with credential: VaultCredential) throws(VaultError) -> Vault? {
        guard let bytes = try place.read() else { return nil }
        let file = try VaultFile(parsing: bytes, path: place.path)
        let secrets = try unlock(file.header, place, with: credential)
        guard VaultHeader.isAuthentic(file.headerBytes, code: file.code, root: secrets.root) else {
            throw VaultError.corrupt(place.path, "Its header was changed by somebody without a key.")
        }
        let body = try openBody(file, place, secrets)
        let keyring = try unwrapKeyring(body, file.header, place, secrets)
        return Vault(place: place, header: file.header, secrets: secrets, keyring: keyring)
    }

    private static func openBody(
        _ file: VaultFile, _ place: VaultPlace, _ secrets: borrowing VaultSecrets
    ) throws(VaultError) -> VaultBody {
        let opened: BlobOpener.Opened
        do throws(SealingError) {
            let key = try SealingKey(secret: secrets.derived(.vaultBodyKey), epoch: 1)
            opened = try Array(file.body).withRawBytes { body throws(SealingError) in
                try BlobOpener.open(body, context: nil, keys: key, limit: VaultFile.maximumSize)
            }
        } catch {
            throw .corrupt(place.path, error.detail)
        }
        // Asked only now: before it was verified, another group's tag could as well be a flipped bit.
        let context = BlobContext(group: place.accessGroup.identifier, kind: .vault, name: "")
        guard opened.header.header.groupTag == context.groupTag, opened.header.header.nameTag == context.nameTag else {
            throw VaultError(.wrongGroup, "open the vault", place.path, "It was made for another access group.")
        }
        guard opened.header.header.sequence == file.header.generation else {
            throw .corrupt(place.path, "Its header and its contents are of different writes.")
        }
        return try VaultBody(parsing: opened.plaintext.withUnsafeBytes { Array($0) }, path: place.path)
    }

    /// Unwraps every key whose class is within reach; one that is out of reach is simply not at hand.
    private static func unwrapKeyring(
        _ body: VaultBody, _ header: VaultHeader, _ place: VaultPlace, _ secrets: borrowing VaultSecrets
    ) throws(VaultError) -> Keyring {
        var keys: [SealingKey] = []
        var active: SealingKey?
        for entry in body.keyring where entry.state != .destroyed {
            guard let key = try unwrap(entry, header.vaultID, place, secrets) else { continue }
            keys.append(key)
            if entry.state == .active { active = key }
        }
        return Keyring(keys: keys, active: active)
    }

    private static func unwrap(
        _ entry: KeyringEntry, _ vaultID: [UInt8], _ place: VaultPlace, _ secrets: borrowing VaultSecrets
    ) throws(VaultError) -> SealingKey? {
        let bound = KeyringEntry.bound(
            vaultID: vaultID, keyID: entry.keyID, epoch: entry.epoch, protection: entry.protection)
        do {
            let key: SealingKey
            switch entry.protection {
            case .afterFirstUnlock:
                let secret = try SecretWrap.unwrap(entry.wrappedKey[...], under: secrets.afterFirstUnlock, bound: bound)
                key = try SealingKey(secret: secret, epoch: entry.epoch)
            case .whenUnlocked:
                guard secrets.reachesWhenUnlocked else { return nil }
                key = try secrets.unwrapWhenUnlocked(entry, bound: bound)
            }
            guard key.id.bytes.withUnsafeBytes({ $0.elementsEqual(entry.keyID) }) else {
                throw CryptoError(.authenticationFailed, "unwrap")
            }
            return key
        } catch {
            throw VaultError.corrupt(place.path, "The key of epoch \(entry.epoch) does not fit its entry.")
        }
    }
}

extension VaultSecrets {
    fileprivate var reachesWhenUnlocked: Bool { whenUnlocked != nil }

    fileprivate borrowing func unwrapWhenUnlocked(_ entry: KeyringEntry, bound: [UInt8]) throws -> SealingKey {
        guard let secret = try whenUnlocked?.unwrapping(entry.wrappedKey, bound: bound) else {
            throw CryptoError(.authenticationFailed, "unwrap")
        }
        return try SealingKey(secret: secret, epoch: entry.epoch)
    }
}

extension SecretBytes {
    fileprivate borrowing func unwrapping(_ wrapped: [UInt8], bound: [UInt8]) throws(CryptoError) -> SecretBytes {
        try SecretWrap.unwrap(wrapped[...], under: self, bound: bound)
    }
}
