internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

/// Keys that are not at hand although the vault knows them.
extension SealedStore {
    /// The keyring after a look at the vault; where a blob claims a key of *when unlocked*, with that one in it.
    ///
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Throws: `StoreError` `.locked` where that key needs the user, those of the vault.
    func keyring(toOpen blob: [UInt8], _ operation: String, _ subject: String) throws(StoreError) -> Keyring {
        let id = try? UnverifiedHeader(parsing: blob).claimed.keyID
        do throws(VaultError) {
            guard let id else { return try vault.currentKeyring() }
            return try vault.currentKeyring(toOpen: id)
        } catch {
            guard error.code == .locked else { throw StoreError(error, "\(operation) \(subject) with the keys of") }
            throw StoreError(
                .locked, operation, subject, "It is protected \"when unlocked\", and that is not within reach now.",
                advice: error.advice, cause: error)
        }
    }

    /// That the key which a blob claims was destroyed; nil for any other.
    func destroyedKey(of blob: [UInt8], _ operation: String, _ subject: String) -> StoreError? {
        guard let id = try? UnverifiedHeader(parsing: blob).claimed.keyID, let key = destroyedKey(id) else {
            return nil
        }
        return StoreError(
            .unknownKey, operation, subject,
            "It was sealed under key \(id) of epoch \(key.epoch), which was destroyed.",
            advice: "No key opens it any more: restore a backup of the vault from before, or write it anew.")
    }

    /// Whether the key of a blob was destroyed on purpose: then the vault is not at fault.
    func isKeyDestroyed(of blob: [UInt8]) -> Bool {
        guard let id = try? UnverifiedHeader(parsing: blob).claimed.keyID else { return false }
        return destroyedKey(id) != nil
    }

    private func destroyedKey(_ id: KeyID) -> KeySummary? {
        (try? vault.keySummaries())?.first { $0.id == id && $0.state == .destroyed }
    }
}
