internal import CryptoPrimitives
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Restoring sealed files from a copy of a container.
extension SealedStore {
    /// Verifies all contents of a sealed file in a copy, and compares manifest and contents with the container's.
    ///
    /// - Parameter blob: The manifest in the copy.
    func compare(
        _ file: SealedFileName, _ blob: borrowing AcceptedBlob, at place: RecordPlace, from copy: CopiedContainer
    ) throws(StoreError) -> (Restoration.Place, PlaceContents) {
        let handle = try handle(file, blob, at: place, in: copy.root)
        try handle.copy { _ throws(FileError) in }
        return try reader.compare(blob, at: place) { stored throws(StoreError) in
            let manifest = try reader.decodedSnapshot(of: SealedFileManifest.self, from: stored, at: place).value
            guard manifest.describesSameFile(as: handle.snapshot.value) else {
                return "another file, of sequence \(stored.header.sequence)"
            }
            do throws(StoreError) {
                try self.handle(file, stored, at: place).copy { _ throws(FileError) in }
                return nil
            } catch {
                guard error.isRejection else { throw error }
                return "a file whose contents readers refuse (\(error.code.rawValue))"
            }
        }
    }

    /// Writes a sealed file of a copy. The contents are verified, chunk by chunk, before the manifest is written.
    func write(
        _ file: SealedFileName, _ blob: borrowing AcceptedBlob, at place: RecordPlace, from copy: CopiedContainer,
        _ request: WriteRequest
    ) throws(StoreError) {
        let handle = try handle(file, blob, at: place, in: copy.root)
        let manifest = handle.snapshot.value
        let isPersonal = reader.keys.protection(of: blob.header) == .whenUnlocked
        let attributes = SealedFiles.Attributes(
            type: manifest.type, modified: manifest.modified, expiresAt: manifest.expiresAt,
            protection: isPersonal ? .whenUnlocked : .afterFirstUnlock)
        let contents = NewContents(size: handle.size, read: Self.source(of: handle))
        _ = try SealedFileWriter(file, in: self).write(contents, attributes, request)
    }

    private func handle(
        _ file: SealedFileName, _ blob: borrowing AcceptedBlob, at place: RecordPlace, in root: Directory? = nil
    ) throws(StoreError) -> SealedFileHandle {
        let snapshot = try reader.decodedSnapshot(of: SealedFileManifest.self, from: blob, at: place)
        try reader.validate(snapshot.value, named: file.name)
        do throws(StoreError) { return try SealedFileHandle(file, snapshot, in: self, from: root) } catch {
            guard error.code == .missing, root != nil, let id = snapshot.value.id else { throw error }
            throw StoreError(.missing, "restore", file.name, "The copy has no \(id.path).", cause: error.cause)
        }
    }

    private static func source(of handle: SealedFileHandle) -> StreamSource<StoreError> {
        let position = ByteCount()
        return { buffer throws(StoreError) in
            let count = min(buffer.count, handle.size - position.value)
            guard count > 0 else { return 0 }
            var bytes = try handle.read(position.value..<position.value + count)
            bytes.withUnsafeMutableBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(bytes))
                ScratchMemory.wipe(bytes)
            }
            position.add(count)
            return count
        }
    }
}

extension SealedFileManifest {
    /// Returns `true` for contents and attributes that are equal; the id differs with each write.
    fileprivate func describesSameFile(as other: SealedFileManifest) -> Bool {
        size == other.size && digest == other.digest && type == other.type && modified == other.modified
            && expiresAt == other.expiresAt
    }
}
