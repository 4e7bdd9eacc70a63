internal import AppGroups
internal import Sealing
internal import SharedFiles

/// What a move asks of the container that it seals into.
extension SealedStore {
    /// Refuses to go on in a container that was given up or replaced: what is sealed there would lie in the trash.
    ///
    /// - Throws: `StoreError` `.containerMissing`, `.container`.
    func requireInPlace() throws(StoreError) {
        guard try following() !== self else { return }
        throw StoreError(
            .containerMissing, StoreError.movingIn, group.identifier,
            "Its container was given up or replaced meanwhile; no plaintext was removed since.",
            advice: "Try again; sealctl container trash list shows what was given up.")
    }

    /// Asks the container's quota for room.
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
