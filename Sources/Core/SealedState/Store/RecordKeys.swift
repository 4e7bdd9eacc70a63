internal import CryptoPrimitives
package import KeyVault
package import Sealing

/// The keys of the vault that records are opened and sealed with.
package struct RecordKeys: Sendable {
    let vault: Vault
}

/// Selects the keys for opening a blob.
extension RecordKeys {
    /// Opens a blob with the available keys. If its key is unknown, another program may have rotated, and the vault is
    /// read once more. A key of *when unlocked* is never kept available: it comes from the vault for this one opening.
    ///
    /// The blob's key decides, not the class its type states now: a blob from before the type changed stays readable.
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Throws: `StoreError` `.locked` for a key that needs the user, and the error of the opening; it says so if the
    ///   key was destroyed.
    package func withKeys<Result: ~Copyable>(
        for blob: [UInt8], _ operation: String, _ place: RecordPlace,
        _ open: (Keyring) throws(SealingError) -> Result
    ) throws(StoreError) -> Result {
        do throws(SealingError) { return try open(vault.recentKeyring()) } catch {
            guard error.code == .unknownKey || error.code == .wrongEpoch else {
                throw StoreError(error, operation, place.name.text)
            }
        }
        let keyring = try keyring(toOpen: blob, operation, place.name.text)
        do throws(SealingError) { return try open(keyring) } catch {
            throw destroyedKey(of: blob, operation, place.name.text) ?? StoreError(error, operation, place.name.text)
        }
    }

    /// Verifies the header at the start of a record's blob, its epoch included.
    package func verifyHeader(
        _ prefix: [UInt8], _ operation: String, _ place: RecordPlace
    ) throws(StoreError) -> VerifiedHeader {
        let header = try withKeys(for: prefix, operation, place) { keys throws(SealingError) in
            try prefix.withRawBytes { bytes throws(SealingError) in
                try BlobOpener.verifyHeader(bytes, context: place.context, keys: keys)
            }
        }
        try requireCurrent(header.header, operation, place)
        return header
    }

    /// - Throws: `StoreError` `.retiredEpoch` for a blob of an epoch that a completed rotation has ended; `.downgraded`
    ///   for one of *after first unlock* under a name that is *when unlocked*.
    package func requireCurrent(_ header: BlobHeader, _ operation: String, _ place: RecordPlace) throws(StoreError) {
        let keyring = vault.keyring
        let minimum = keyring.minimumEpoch(for: header.keyID)
        guard header.epoch >= minimum else {
            throw StoreError(
                .retiredEpoch, operation, place.name.text,
                "It is of epoch \(header.epoch); a rotation to epoch \(minimum) was completed.")
        }
        guard !keyring.isPersonMissing || vault.watermarks.mark(of: header.nameTag) != nil else {
            throw StoreError(
                .vaultMissing, operation, place.name.text,
                "The vault's compartment of persons is gone, so nothing says whether the name is protected.",
                advice: "Restore it from a backup (sealctl vault import).")
        }
        guard !place.isBeingRaised, keyring.listsNames, keyring.protection(of: header.keyID) == .afterFirstUnlock,
            vault.isListed(record: place.name.text, in: keyring)
        else { return }
        throw StoreError(
            .downgraded, operation, place.name.text,
            "The name is protected \"when unlocked\", and this blob was sealed by a program that need not be a person's."
        )
    }

    /// Returns the key that seals new blobs of a class. A key of *when unlocked* is for one write: if it were kept,
    /// locking the vault would not remove it.
    ///
    /// - Throws: `StoreError` `.locked`, the vault's errors.
    package func activeKey(for protection: ProtectionClass) throws(StoreError) -> SealingKey {
        do throws(VaultError) { return try vault.activeKey(for: protection) } catch {
            throw StoreError(error, "write with")
        }
    }

    /// Returns the key of *after first unlock* after reading the vault, or the error.
    func lookedUpKey() -> Result<SealingKey, StoreError> {
        do throws(StoreError) { return .success(try activeKey(for: .afterFirstUnlock)) } catch {
            return .failure(error)
        }
    }

    /// Creates the key of a class if it is missing, and checks that it is available. Call it before taking a record's
    /// lock: the vault's lock comes first.
    ///
    /// A name that is written in the class *when unlocked* for the first time is listed here, before the blob. A listed
    /// name keeps its class, regardless of the class of a record's type.
    /// - Parameter name: The record's name; `nil` for blobs without one.
    /// - Throws: `StoreError` `.locked`, `.downgraded`, `.orphanedBlobs`, the errors of changing the vault.
    package func prepareKey(for protection: ProtectionClass, named name: String? = nil) throws(StoreError) {
        if protection == .afterFirstUnlock {
            guard let name, vault.isListed(record: name, in: vault.keyring) else { return }
        }
        do throws(VaultError) { try vault.makeKey(for: .whenUnlocked, record: name) } catch {
            // A program that requests the lower class may be one that cannot be unlocked.
            if protection == .afterFirstUnlock, error.code == .locked, let name {
                throw .downgraded(writing: name)
            }
            let failure = StoreError(error, "write with")
            guard failure.code == .durabilityUnknown else { throw failure }
            // About the vault: for a record this code would mean that the record was written.
            throw StoreError(
                .file, failure.operation, failure.subject, failure.reason, advice: failure.advice, errno: failure.errno,
                cause: error)
        }
    }
}

/// Access to keys that are not available although the vault knows them.
extension RecordKeys {
    /// Returns the keyring after reading the vault; if a blob claims a key of *when unlocked*, with that key in it.
    ///
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Throws: `StoreError` `.locked` if that key needs the user, the vault's errors.
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

    /// Returns the error for a blob whose claimed key was destroyed; `nil` for any other blob.
    func destroyedKey(of blob: [UInt8], _ operation: String, _ subject: String) -> StoreError? {
        guard let id = try? UnverifiedHeader(parsing: blob).claimed.keyID, let key = destroyedKey(id) else {
            return nil
        }
        return StoreError(
            .unknownKey, operation, subject,
            "It was sealed under key \(id) of epoch \(key.epoch), which was destroyed.",
            advice: "No key opens it any more: restore a backup of the vault from before, or write it anew.")
    }

    /// Returns `true` if the key of a blob was destroyed on purpose: the vault is then not at fault.
    func isKeyDestroyed(of blob: [UInt8]) -> Bool {
        guard let id = try? UnverifiedHeader(parsing: blob).claimed.keyID else { return false }
        return destroyedKey(id) != nil
    }

    private func destroyedKey(_ id: KeyID) -> KeySummary? {
        (try? vault.keySummaries())?.first { $0.id == id && $0.state == .destroyed }
    }
}

/// The protection class of the keys that records were sealed under.
extension RecordKeys {
    /// Returns the class of a blob's key, by its verified header; `nil` for a key that the vault does not hold.
    package func protection(of header: BlobHeader) -> ProtectionClass? {
        let keyring = vault.keyring
        guard keyring.isLocked(header.keyID) || keyring.ids.contains(header.keyID) else { return nil }
        return keyring.protection(of: header.keyID)
    }

    /// Returns the class of a value that states none: *when unlocked* for a listed name, else the class of the value
    /// that it replaces, else the vault's default.
    func protection(of existing: ExistingBlob, at place: RecordPlace) -> ProtectionClass {
        if isProtected(place) { return .whenUnlocked }
        guard case .value(let header) = existing else {
            if case .nothing = existing { return vault.defaultProtection }
            return .afterFirstUnlock
        }
        return protection(of: header) ?? .afterFirstUnlock
    }

    /// Returns the class of a tombstone: deleting a value of *when unlocked* takes a person as well.
    func deletionProtection(at place: RecordPlace) -> ProtectionClass {
        isProtected(place) ? .whenUnlocked : .afterFirstUnlock
    }

    /// Returns `true` if a name is *when unlocked*: then so is every blob under it, for any class of a record's
    /// type.
    func isProtected(_ place: RecordPlace) -> Bool { vault.isListed(record: place.name.text, in: vault.keyring) }

    /// - Throws: `StoreError` `.downgraded` if no person is present who could request the lower class.
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
