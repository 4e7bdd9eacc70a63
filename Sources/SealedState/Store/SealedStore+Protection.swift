package import KeyVault
package import Sealing
internal import SharedFiles

/// Of which class the keys are that records were sealed under.
extension SealedStore {
    /// The class of a blob's key, by its verified header; nil for a key that the vault does not hold.
    package func protection(of header: BlobHeader) -> ProtectionClass? {
        let keyring = vault.keyring
        guard keyring.isLocked(header.keyID) || keyring.ids.contains(header.keyID) else { return nil }
        return keyring.protection(of: header.keyID)
    }

    /// The class that a value gets which keeps that of what it replaces: *after first unlock* where there is no value that
    /// readers accept.
    func protection(of standing: StandingBlob) -> ProtectionClass {
        guard case .value(let header) = standing else { return .afterFirstUnlock }
        return protection(of: header) ?? .afterFirstUnlock
    }

    /// The same before the lock is taken, so that the key is at hand by then. What could not be read is told by the write,
    /// and what changes meanwhile is seen by it.
    func protection(at place: RecordPlace) -> ProtectionClass {
        (try? standing(at: place)).map(protection) ?? .afterFirstUnlock
    }
}
