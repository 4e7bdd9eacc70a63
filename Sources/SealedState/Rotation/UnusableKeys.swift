internal import KeyVault
internal import Sealing

extension SealedStore {
    /// Why the key that a blob claims is not at hand, where the vault knows it all the same.
    ///
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Returns: `StoreError` `.locked` or `.unknownKey`; nil for a key that the vault has never held.
    func unusableKey(of blob: [UInt8], _ keyring: Keyring, _ operation: String, _ subject: String) -> StoreError? {
        guard let id = try? UnverifiedHeader(parsing: blob).claimed.keyID else { return nil }
        if keyring.isLocked(id) {
            return StoreError(.locked, operation, subject, "Its key is protected until the vault is unlocked.")
        }
        guard let key = destroyedKey(id) else { return nil }
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
