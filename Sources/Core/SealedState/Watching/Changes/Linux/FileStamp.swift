internal import Glibc
internal import SharedFiles

/// What tells one state of a name in a directory from another one without opening it.
///
/// The time of the last change of the inode is set by the system alone: who writes into a file in place and sets its times
/// back changes it as well.
struct FileStamp: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t
    private let changedSeconds: Int
    private let changedNanoseconds: Int

    /// The name as it stands now, never followed; nil where there is none or it cannot be examined: then it counts as
    /// another one than before.
    init?(_ name: DirectoryEntry, in directory: Directory) {
        var status = stat()
        let result = (name.nameBytes + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { path in
                path.baseAddress.map { fstatat(directory.descriptor.rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? -1
            }
        }
        guard result == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        changedSeconds = status.st_ctim.tv_sec
        changedNanoseconds = status.st_ctim.tv_nsec
    }
}
