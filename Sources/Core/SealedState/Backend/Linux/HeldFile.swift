internal import Glibc
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// A blob's file, held open: while it is, no other file can have its inode number, so one lookup of the name shows
/// whether it still names this file.
///
/// The name is looked up from the container's parent directory, which is held open: a container that was moved away
/// takes its files with it, and their names then belong to other files. The parent itself may be moved away with all
/// containers if the whole home is replaced. So the name is periodically looked up from `/`, which costs half as much
/// again. Links in that path are followed. That is harmless, since only the file that was opened without them counts.
final class HeldFile: HeldBlob {
    private let file: Descriptor
    private let identity: Identity
    /// The container's parent directory; nil if it may not be opened.
    private let parent: Directory?
    /// The path from there and the absolute one, NUL included: built once, since each read of a default uses them.
    private let short: ContiguousArray<CChar>
    private let path: ContiguousArray<CChar>
    /// The time of the last lookup from `/`, in milliseconds since the machine was started.
    private let lastWhole = Atomic<Int>(-ContainerAnchor.longestShort)

    /// The attributes that no change of a file preserves. Only the system sets the time of an inode's last change;
    /// writing into the file in place changes it as well.
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
    init(_ path: String, in root: Directory, beside anchor: ContainerAnchor) throws(FileError) {
        file = try root.openForReading(path)
        var status = stat()
        if fstat(file.rawValue, &status) < 0 {
            throw FileError(errno: errno, operation: "examine", path: root.display(path))
        }
        identity = Identity(status)
        self.path = ContiguousArray(root.display(path).utf8CString)
        short = ContiguousArray("\(root.path.lastComponent?.string ?? ".")/\(path)".utf8CString)
        parent = anchor.parent
    }

    var isInPlace: Bool {
        let now = ContainerAnchor.milliseconds
        if let parent, now - lastWhole.load(ordering: .relaxed) < ContainerAnchor.longestShort {
            return isNamed(short, parent.descriptor.rawValue)
        }
        guard isNamed(path, AT_FDCWD) else { return false }
        lastWhole.store(now, ordering: .relaxed)
        return true
    }

    private func isNamed(_ path: ContiguousArray<CChar>, _ directory: Int32) -> Bool {
        var status = stat()
        let result = path.withUnsafeBufferPointer { path in
            path.baseAddress.map { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? -1
        }
        return result == 0 && Identity(status) == identity
    }
}
