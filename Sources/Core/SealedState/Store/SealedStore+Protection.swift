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

    /// The class of a value that states none: *when unlocked* for a listed name, else that of the value that it replaces,
    /// else the vault's default.
    func protection(of standing: StandingBlob, at place: RecordPlace) -> ProtectionClass {
        if isProtected(place) { return .whenUnlocked }
        guard case .value(let header) = standing else {
            if case .nothing = standing { return vault.defaultProtection }
            return .afterFirstUnlock
        }
        return protection(of: header) ?? .afterFirstUnlock
    }

    /// The same before the lock is taken, so that the key is at hand by then. What could not be read is told by the write,
    /// and what changes meanwhile is seen by it.
    func protection(at place: RecordPlace) -> ProtectionClass {
        if isProtected(place) { return .whenUnlocked }
        // Where a service opens the vault, a name that is not listed is *after first unlock* whatever its file holds.
        guard vault.defaultProtection == .whenUnlocked else { return .afterFirstUnlock }
        return (try? standing(at: place)).map { protection(of: $0, at: place) } ?? .afterFirstUnlock
    }

    /// The class of a tombstone: a deletion of what is *when unlocked* takes a person as well.
    func deletionProtection(at place: RecordPlace) -> ProtectionClass {
        isProtected(place) ? .whenUnlocked : .afterFirstUnlock
    }

    /// Whether a name is *when unlocked*: then so is every blob under it, whatever the class of a record's type.
    func isProtected(_ place: RecordPlace) -> Bool { vault.isListed(record: place.name.text, in: vault.keyring) }

    /// - Throws: `StoreError` `.downgraded` where no person is there who could state the lower class.
    func requirePerson(_ place: RecordPlace) throws(StoreError) {
        do throws(VaultError) { _ = try vault.activeKey(for: .whenUnlocked) } catch {
            guard error.code == .locked else { throw StoreError(error, "write with") }
            throw .downgraded(writing: place.name.text)
        }
    }

    /// Ends the protection of a name under which a person has written a value of the lower class.
    func lowerClass(_ place: RecordPlace) throws(StoreError) {
        do throws(VaultError) { try vault.lowerClass(ofRecord: place.name.text) } catch {
            throw StoreError(
                .file, "end the protection of", place.name.text, error.reason,
                advice: "The value is written, and readers refuse it until this is done: write it again.", cause: error)
        }
    }
}

extension StoreError {
    static func downgraded(writing name: String) -> StoreError {
        StoreError(
            .downgraded, "write", name,
            "The name is protected \"when unlocked\", and only a person may give it a lower class.")
    }
}
