package import AppGroups
internal import Sealing
package import SharedFiles

/// The lock that every writer of a record takes, for whoever looks after the files beside it.
package enum RecordLock {
    /// Takes the lock of the record whose file has this path.
    ///
    /// - Parameter path: Relative to the container.
    /// - Throws: `FileError` `.lockTimeout`, and whatever taking it gives.
    /// - Returns: nil for a path where no record's file can lie.
    package static func acquire(
        forFile path: String, of group: AppGroup, in container: GroupContainer, timeout: Duration
    ) throws(FileError) -> HeldLock? {
        guard let name = RecordFile.name(of: path) else { return nil }
        let place = RecordPlace(name, group: group.identifier)
        return try LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode
        ).acquire(place.address.lock, .exclusive, timeout: timeout)
    }
}
