internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

/// Which keys a blob is opened with.
extension SealedStore {
    /// Opens a blob with the keys at hand; where they do not know its key another program may have rotated, and the
    /// vault is looked at once more.
    ///
    /// - Parameter blob: The blob, or its first 176 bytes.
    /// - Throws: `StoreError` `.locked` for a key that needs the user, and what the opening threw; where the key was
    ///   destroyed it says so.
    func withKeys<Result: ~Copyable>(
        for blob: [UInt8], _ operation: String, _ place: RecordPlace,
        _ open: (Keyring) throws(SealingError) -> Result
    ) throws(StoreError) -> Result {
        do throws(SealingError) { return try open(vault.recentKeyring()) } catch {
            guard error.code == .unknownKey || error.code == .wrongEpoch else {
                throw StoreError(error, operation, place.name.text)
            }
        }
        let keyring = try currentKeyring(operation, place)
        do throws(SealingError) { return try open(keyring) } catch {
            throw unusableKey(of: blob, keyring, operation, place.name.text)
                ?? StoreError(error, operation, place.name.text)
        }
    }

    /// Verifies the header at the start of a record's blob, its epoch included.
    func verifyHeader(_ prefix: [UInt8], _ operation: String, _ place: RecordPlace) throws(StoreError) -> VerifiedHeader
    {
        let header = try withKeys(for: prefix, operation, place) { keys throws(SealingError) in
            try prefix.withRawBytes { bytes throws(SealingError) in
                try BlobOpener.verifyHeader(bytes, context: place.context, keys: keys)
            }
        }
        try requireEpoch(of: header.header, operation, place)
        return header
    }

    /// - Throws: `StoreError` `.retiredEpoch` for a blob of an epoch that a completed rotation has ended.
    func requireEpoch(of header: BlobHeader, _ operation: String, _ place: RecordPlace) throws(StoreError) {
        let minimum = vault.keyring.minimumEpoch
        guard header.epoch < minimum else { return }
        throw StoreError(
            .retiredEpoch, operation, place.name.text,
            "It is of epoch \(header.epoch); a rotation to epoch \(minimum) was completed.")
    }

    /// What new blobs of a class are sealed under.
    func activeKey(for protection: ProtectionClass) throws(StoreError) -> SealingKey {
        do throws(VaultError) { return try vault.activeKey() } catch { throw StoreError(error, "write with") }
    }

    private func currentKeyring(_ operation: String, _ place: RecordPlace) throws(StoreError) -> Keyring {
        do throws(VaultError) { return try vault.currentKeyring() } catch {
            throw StoreError(error, "\(operation) \(place.name.text) with the keys of")
        }
    }
}
