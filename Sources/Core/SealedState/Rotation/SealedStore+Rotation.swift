internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Rotating the group's keys: a fresh key, every blob resealed under it, the old key destroyed when nothing needs it.
extension SealedStore {
    /// Begins a rotation, or continues one that any program began and that was not completed: the vault gets a key of
    /// the next epoch, and every sealed blob of the group in the container is resealed under it, in its place.
    ///
    /// Readers and writers continue meanwhile. A resealed blob keeps its contents, tags, times, flags and sequence. Any
    /// number of these calls may run at once, and any of them may be killed.
    /// - Parameters:
    ///   - options: The speed, the limits and the cancellation.
    ///   - progress: Called at the beginning of each walk through the container and after each blob.
    /// - Returns: The result, and the obstacles if the rotation is not completed.
    /// - Throws: `StoreError`: `.cancelled`, `.lockTimeout` if a writer holds a lock for the whole time limit,
    ///   `.noSpace`, `.durabilityUnknown`, `.containerMissing`, the vault's errors. Resealed blobs stay, and the next
    ///   call continues.
    @discardableResult
    public func rotate(
        _ options: RotationOptions = RotationOptions(), progress: (RotationProgress) -> Void = { _ in }
    ) throws(StoreError) -> RotationReport {
        try onPresentContainer { store throws(StoreError) in try store.rotateHere(options, progress) }
    }

    private func rotateHere(
        _ options: RotationOptions, _ progress: (RotationProgress) -> Void
    ) throws(StoreError) -> RotationReport {
        try requireSpaceToRotate()
        var epochs: [ProtectionClass: UInt32] = [:]
        for protection in ProtectionClass.allCases {
            do throws(VaultError) { epochs[protection] = try vault.beginRotation(of: protection) } catch {
                // Each class is rotated separately: a locked one waits for its person.
                guard protection == .whenUnlocked, error.code == .locked else {
                    throw StoreError(error, "rotate the keys of")
                }
            }
        }
        var rotation = Rotation(self, to: epochs, options)
        return try rotation.run(progress)
    }

    /// Returns the most bytes that a rotation needs at any time beyond the container's own. Walks the whole container.
    ///
    /// - Throws: `StoreError`: `.containerMissing`, the vault's errors.
    public func rotationSize() throws(StoreError) -> Int64 {
        try onPresentContainer { store throws(StoreError) in try Rotation.size(of: store) }
    }

    /// Returns the paths of the blobs whose key the vault does not hold. A backup that holds the key opens them, unless
    /// this program completes a rotation before it is imported. Walks the whole container.
    ///
    /// A member with write access to the container can create any number of such blobs.
    /// - Throws: `StoreError`: `.containerMissing`, the vault's errors.
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

    /// Returns the blobs and programs that use each epoch, and the obstacles to destroying each key. Walks the whole
    /// container.
    ///
    /// - Throws: `StoreError`: `.containerMissing`, the vault's errors.
    public func rotationStatus() throws(StoreError) -> RotationStatus {
        try onPresentContainer { store throws(StoreError) in try RotationStatus(of: store) }
    }

    /// Destroys a key that is not active: its bytes are removed from the vault. All blobs that only it opens are lost,
    /// including sealed files outside the container, which cannot be detected here. Destroying it again does nothing.
    ///
    /// - Parameters:
    ///   - id: The key's id, 32 hexadecimal digits.
    ///   - forcedByName: Destroys it although it is needed, or although that is unknown. The active key stays.
    /// - Throws: `StoreError`: `.keyNotFound`; `.keyInUse` with the key's uses; the vault's errors.
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
            // Converts the text to an id: the key was just found under it.
            guard let known = try vault.keySummaries().first(where: { $0.id.description == id }) else { return }
            try vault.destroyKey(known.id, onlyIfRetired: onlyIfRetired)
        } catch {
            // A program may have started, or the vault may have changed, since its status was read.
            if error.code == .keyInUse {
                throw StoreError(.keyInUse, "destroy the key", id, error.reason, cause: error)
            }
            throw StoreError(error, "destroy the key \(id) of")
        }
    }
}
