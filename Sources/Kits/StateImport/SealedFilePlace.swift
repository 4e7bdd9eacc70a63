internal import AppGroups
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The location of a sealed file, and the attributes that it is created with.
struct SealedFilePlace: Sendable {
    let root: Directory
    /// The path below the root.
    let relative: String
    /// The exact permission bits of the sealed file.
    let mode: UInt32
    /// Its unix group, and the sharing of missing directories on the way; `nil` if none is created.
    let sharing: Sharing?
    /// The path below the group's container; `nil` for a file elsewhere.
    let containerPath: String?

    /// Creates the place of a file of a container.
    init(_ relative: String, in root: Directory, sharing: Sharing) {
        self.root = root
        self.relative = relative
        mode = sharing.fileMode
        self.sharing = sharing
        containerPath = relative
    }

    /// Creates the place of a file anywhere, as open to others as the original.
    ///
    /// - Parameter places: The location of the group's container.
    init(_ leaf: String, in directory: Directory, besides facts: FileAttributes, _ places: PlaintextImportExclusions) {
        root = directory
        relative = leaf
        mode = facts.mode & 0o666
        sharing = nil
        containerPath = places.containerPath(of: directory.display(leaf))
    }

    var path: String { root.display(relative) }

    /// Starts the file, which is invisible until it is committed.
    func newFile() throws(FileError) -> NewFile {
        guard let slash = relative.lastIndex(of: "/") else {
            return try NewFile.create(in: root, leaf: relative, mode: mode, group: sharing?.groupID)
        }
        let above = String(relative[..<slash])
        return try NewFile.create(
            in: directory(above), leaf: String(relative[relative.index(after: slash)...]), mode: mode,
            group: sharing?.groupID)
    }

    private func directory(_ path: String) throws(FileError) -> Directory {
        guard let sharing else { return try root.directory(path) }
        return try root.makeDirectory(path, sharing: sharing)
    }
}

/// Checks of the container that a move seals into.
extension SealedStore {
    /// Refuses to continue in a container that was given up or replaced: a file sealed there would be in the trash.
    ///
    /// - Throws: `StoreError` `.containerMissing`, `.container`.
    func requireInPlace() throws(StoreError) {
        guard try following() !== self else { return }
        throw StoreError(
            .containerMissing, StoreError.plaintextImport, group.identifier,
            "Its container was abandoned or replaced in the meantime; no plaintext was removed after that.",
            advice: "Try again; sealctl container trash list shows abandoned containers.")
    }

    /// Requests space from the container's quota.
    ///
    /// - Throws: `StoreError` `.quotaExceeded`; for a container that was given up as `requireInPlace`.
    func admit(_ path: String, plaintext size: Int, for target: String) throws(StoreError) {
        do throws(FileError) {
            try container.quotaGate.admit(path, size: BlobLayout.blobSize(plaintextSize: size))
        } catch {
            if error.code == .notFound { try requireInPlace() }
            throw StoreError(writing: error, target)
        }
    }
}
