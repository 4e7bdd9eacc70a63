internal import CryptoPrimitives
package import KeyVault
package import Sealing

/// The keys that records are opened and sealed with, as their vault has them.
package struct RecordKeys: Sendable {
    let vault: Vault
}

/// Which keys a blob is opened with.
extension RecordKeys {
    /// Opens a blob with the keys at hand; where they do not know its key another program may have rotated, and the
    /// vault is looked at once more. A key of *when unlocked* is never at hand: it comes from the vault for this one opening.
    ///
    /// The blob's key decides, whatever class its type asks for now: a blob from before the type changed stays readable.
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Throws: `StoreError` `.locked` for a key that needs the user, and what the opening threw; where the key was
    ///   destroyed it says so.
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

    /// - Throws: `StoreError` `.retiredEpoch` for a blob of an epoch that a completed rotation has ended; `.downgraded` for
    ///   one of *after first unlock* under a name that is *when unlocked*.
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

    /// What new blobs of a class are sealed under. A key of *when unlocked* is for one write: to keep it would be to keep it
    /// from a lock.
    ///
    /// - Throws: `StoreError` `.locked`, those of the vault.
    package func activeKey(for protection: ProtectionClass) throws(StoreError) -> SealingKey {
        do throws(VaultError) { return try vault.activeKey(for: protection) } catch {
            throw StoreError(error, "write with")
        }
    }

    /// The key of *after first unlock* after a look at the vault, or why there is none.
    func lookedUpKey() -> Result<SealingKey, StoreError> {
        do throws(StoreError) { return .success(try activeKey(for: .afterFirstUnlock)) } catch {
            return .failure(error)
        }
    }

    /// Sees to it that a class has a key to seal with, and that it is within reach. Called before a record's lock is taken:
    /// the vault's lock comes before those.
    ///
    /// A name that is written in the class *when unlocked* for the first time is listed here, before the blob. A listed
    /// name keeps its class, whatever the class of a record's type.
    /// - Parameter name: The record's; nil for blobs without one.
    /// - Throws: `StoreError` `.locked`, `.downgraded`, `.orphanedBlobs`, those of changing the vault.
    package func prepareKey(for protection: ProtectionClass, named name: String? = nil) throws(StoreError) {
        if protection == .afterFirstUnlock {
            guard let name, vault.isListed(record: name, in: vault.keyring) else { return }
        }
        do throws(VaultError) { try vault.makeKey(for: .whenUnlocked, record: name) } catch {
            // A program that means the lower class may be one that no unlocking helps.
            if protection == .afterFirstUnlock, error.code == .locked, let name {
                throw .downgraded(writing: name)
            }
            let failure = StoreError(error, "write with")
            guard failure.code == .durabilityUnknown else { throw failure }
            // Of the vault: said of a record it would mean that the record is in place.
            throw StoreError(
                .file, failure.operation, failure.subject, failure.reason, advice: failure.advice, errno: failure.errno,
                cause: error)
        }
    }
}

/// Keys that are not at hand although the vault knows them.
extension RecordKeys {
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

/// Of which class the keys are that records were sealed under.
extension RecordKeys {
    /// The class of a blob's key, by its verified header; nil for a key that the vault does not hold.
    func protection(of header: BlobHeader) -> ProtectionClass? {
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
