internal import Glibc
internal import SharedFiles

// What a watcher makes of errors.
extension StoreError {
    /// Whether another state of the vault may make it good, with the same blob in the record's place.
    var isOfVault: Bool {
        switch code {
        case .locked, .unknownKey, .wrongEpoch, .retiredEpoch, .vault, .vaultAbsent, .vaultCorrupt, .vaultRolledBack,
            .vaultMissing, .vaultReplaced, .vaultNotAccepted, .downgraded:
            true
        default: false
        }
    }

    /// Whether the same look may end otherwise a moment later though no file changed: a lack of descriptors, memory or
    /// watches, a disk that did not answer, a lock that somebody held. A new roster is no change near the record.
    var mayPass: Bool {
        switch code {
        case .file, .watchLimit, .lockTimeout, .notAuthorized, .rosterBehind: true
        // What others wrap keeps the system's number.
        default: errno.map(Self.passing.contains) ?? false
        }
    }

    private static let passing: Set<Int32> = [EMFILE, ENFILE, ENOMEM, ENOSPC, EIO, EAGAIN, EINTR, ENOLCK, ESTALE]

    /// Runs a step of setting up a watch and turns its failure into a store's.
    static func onWatching<Result>(
        _ subject: String, _ body: () throws(FileError) -> Result
    ) throws(StoreError) -> Result {
        do throws(FileError) { return try body() } catch {
            guard error.code == .watchLimit || error.code == .tooManyOpenFiles else {
                throw StoreError(error, "watch", subject)
            }
            throw StoreError(
                .watchLimit, "watch", subject, error.sentence, advice: error.advice, errno: error.errno,
                cause: error)
        }
    }
}
