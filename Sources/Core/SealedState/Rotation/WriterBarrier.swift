internal import AppGroups
internal import SharedFiles

/// Waits until every record write that may still use an older key has ended.
///
/// A writer takes its record's lock first and asks the vault for the active key then. So a lock that is taken after a
/// rotation began means a write under the new key, and a write under an older one holds its lock since before. Once each
/// lock that is held now has been free for a moment, no record of an older epoch can come any more, and a walk that finds
/// none is final. Without this a writer that was stopped between the two could leave a record that is refused from its
/// first moment on.
struct WriterBarrier {
    /// How long all locks at once are waited for. Where writers are busy that may never come.
    private static let patience = Duration.milliseconds(100)

    let container: GroupContainer
    let options: RotationOptions

    private var locks: LockFile {
        LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode)
    }

    /// - Throws: `StoreError` `.lockTimeout` where a writer holds its lock for the whole time limit; `.cancelled`.
    func wait() throws(StoreError) {
        do throws(FileError) {
            do throws(FileError) { return try pass(.whole, Self.patience) } catch {
                guard error.code == .lockTimeout else { throw error }
            }
            guard let held = try HeldSlots.now(of: locks) else { return try pass(.whole, options.lockTimeout) }
            for slot in held { try pass(LockRange(slot: slot), options.lockTimeout) }
        } catch {
            throw StoreError(error, "wait for the writers of", container.group.identifier)
        }
    }

    private func pass(_ range: LockRange, _ timeout: Duration) throws(FileError) {
        try locks.acquire(range, .exclusive, timeout: timeout, isCancelled: options.isCancelled).unlock()
    }
}
