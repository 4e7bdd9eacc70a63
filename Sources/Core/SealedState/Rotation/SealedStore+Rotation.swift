internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Rotating the group's keys: a fresh key, every blob resealed under it, the old key destroyed when nothing needs it.
extension SealedStore {
    /// Begins a rotation, or goes on with one that was begun and not completed, by whomever: the vault gets a key of the
    /// next epoch, and every sealed blob of the group in the container is resealed under it, in its place.
    ///
    /// Readers and writers go on meanwhile. A resealed blob keeps its contents, tags, times, flags and sequence. Any number
    /// of these calls may run at once, and any of them may be killed.
    /// - Parameters:
    ///   - options: How fast, how patient, and what ends it early.
    ///   - progress: Told at the beginning of each walk through the container and after each blob.
    /// - Returns: What was done, and what is in the way where the rotation is not completed.
    /// - Throws: `StoreError`: `.cancelled`, `.lockTimeout` where a writer holds a lock for the whole time limit,
    ///   `.noSpace`, `.durabilityUnknown`, `.containerMissing`, those of the vault. What was resealed stays, and the next
    ///   call goes on.
    @discardableResult
    public func rotate(
        _ options: RotationOptions = RotationOptions(), progress: (RotationProgress) -> Void = { _ in }
    ) throws(StoreError) -> RotationReport {
        try requireSpaceToRotate()
        var epochs: [ProtectionClass: UInt32] = [:]
        for protection in ProtectionClass.allCases {
            do throws(VaultError) { epochs[protection] = try vault.beginRotation(of: protection) } catch {
                // Each class is rotated on its own: one that is locked waits for its person.
                guard protection == .whenUnlocked, error.code == .locked else {
                    throw StoreError(error, "rotate the keys of")
                }
            }
        }
        var rotation = Rotation(self, to: epochs, options)
        return try rotation.run(progress)
    }

    /// The most bytes that a rotation takes at any time beyond those that the container has. Walks the whole container.
    ///
    /// - Throws: `StoreError`: `.containerMissing`, those of the vault.
    public func rotationSize() throws(StoreError) -> Int64 { try Rotation.size(of: self) }

    /// The blobs whose key the vault does not hold, by path. A backup that holds the key opens them, unless this program
    /// completes a rotation before it is brought in. Walks the whole container.
    ///
    /// A member who can write the container can make such blobs at will.
    /// - Throws: `StoreError`: `.containerMissing`, those of the vault.
    package func blobsWithoutKey() throws(StoreError) -> [String] {
        var paths: [String] = []
        try BlobSurvey(self).visit { blob throws(StoreError) in
            if blob.isKeyMissing { paths.append(blob.path) }
        }
        return paths.sorted()
    }

    /// - Throws: `StoreError` `.noSpace` with the bytes that are needed and those that are free; nothing was changed.
    private func requireSpaceToRotate() throws(StoreError) {
        let needed = try rotationSize()
        do throws(FileError) { try container.root.requireSpace(needed, "rotate") } catch {
            throw StoreError(writing: error, group.identifier)
        }
    }

    /// Which blobs and programs hold which epoch, and whether a key may be destroyed. Walks the whole container.
    ///
    /// - Throws: `StoreError`: `.containerMissing`, those of the vault.
    public func rotationStatus() throws(StoreError) -> RotationStatus {
        try RotationStatus(of: self)
    }

    /// Destroys a key that is not active: its bytes leave the vault. Whatever only it opens is lost, sealed files outside
    /// the container included, of which nothing here can know. Destroying it again does nothing.
    ///
    /// - Parameters:
    ///   - id: The key's id, 32 hexadecimal digits.
    ///   - forcedByName: Destroys it although something needs it, or although that cannot be known. The active key stays.
    /// - Throws: `StoreError`: `.keyNotFound`; `.keyInUse`, saying what needs it; those of the vault.
    public func destroyKey(_ id: String, forcedByName: Bool = false) throws(StoreError) {
        let status = try rotationStatus()
        guard let key = status.keys.first(where: { $0.id == id }) else {
            throw StoreError(.keyNotFound, "destroy the key", id, "The vault has no such key.")
        }
        if key.state == .destroyed { return }
        guard key.state != .active, forcedByName || key.obstacles.isEmpty else {
            throw StoreError(
                .keyInUse, "destroy the key", id, key.obstacles.map(\.description).joined(separator: " "))
        }
        try destroyKey(named: id, onlyIfRetired: !forcedByName)
    }

    private func destroyKey(named id: String, onlyIfRetired: Bool) throws(StoreError) {
        do throws(VaultError) {
            // By its bytes: the key was found under this text a moment ago.
            guard let known = try vault.keySummaries().first(where: { $0.id.description == id }) else { return }
            try vault.destroyKey(known.id, onlyIfRetired: onlyIfRetired)
        } catch {
            // A program may have come, or the vault been changed, since its status was looked at.
            if error.code == .keyInUse {
                throw StoreError(.keyInUse, "destroy the key", id, error.reason, cause: error)
            }
            throw StoreError(error, "destroy the key \(id) of")
        }
    }
}
