internal import Glibc
internal import SharedFiles

/// A blob's file, held open: while it is, no other file can have its number, so one look at the name tells whether it
/// still stands for this file.
///
/// The name is looked up from `/`: a container that was moved away takes its files with it, and their names are others'
/// then. Links on the way are followed here. That is harmless, since only the file that was opened without them counts.
final class HeldFile: HeldBlob {
    private let file: Descriptor
    private let identity: Identity
    /// The absolute path, NUL included: made once, since each read of a default looks at it.
    private let path: ContiguousArray<CChar>

    /// What a change leaves no file with. The time of the last change of the inode is set by the system alone: also
    /// who writes into the file in place changes it.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
        let changedSeconds: Int
        let changedNanoseconds: Int

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
            changedSeconds = status.st_ctim.tv_sec
            changedNanoseconds = status.st_ctim.tv_nsec
        }
    }

    /// - Throws: `FileError`, such as `.notFound`, `.notRegularFile`.
    init(_ path: String, in root: Directory) throws(FileError) {
        file = try root.openForReading(path)
        var status = stat()
        if fstat(file.rawValue, &status) < 0 {
            throw FileError(errno: errno, operation: "examine", path: root.display(path))
        }
        identity = Identity(status)
        self.path = ContiguousArray(root.display(path).utf8CString)
    }

    var isInPlace: Bool {
        var status = stat()
        let result = path.withUnsafeBufferPointer { path in
            path.baseAddress.map { fstatat(AT_FDCWD, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? -1
        }
        return result == 0 && Identity(status) == identity
    }
}
