internal import AppGroups
internal import Glibc
internal import SealedBackends
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The place of an open container: its path, looked up from the parent directory, which is held open.
///
/// A container that was moved away takes its files with it. Readers therefore look up a file from the parent, so that
/// they find the files of the container that has the path now, without another system call. The parent itself may be
/// moved away with all containers if the whole home is replaced, so the path is periodically looked up from `/`.
final class ContainerAnchor: Sendable {
    private let root: Directory
    private let leaf: String
    private let path: ContiguousArray<CChar>
    private let identity: FileAttributes?
    private let isMoving: Bool
    /// `nil` if it may not be opened: then each lookup is from `/`.
    let parent: Directory?
    /// The time of the last lookup from `/`, in milliseconds since the machine was started.
    private let lastWhole = Atomic<Int>(-ContainerAnchor.longestShort)

    /// The time in milliseconds during which the replacement of the whole home may stay unnoticed.
    static let longestShort = 100

    /// - Parameter isMoving: The records are being moved: the name of another backend counts for nothing.
    init(of root: Directory, isMoving: Bool = false) {
        self.isMoving = isMoving
        self.root = root
        leaf = root.path.lastComponent?.string ?? "."
        path = ContiguousArray(root.path.string.utf8CString)
        identity = try? root.attributes(".")
        // A parent of its own would leave traces.
        parent = root.leavesNoTrace ? nil : try? Directory.open(root.path.removingLastComponent())
    }

    /// `false` if the path leads to no directory, or to another one. It is looked up from `/`. A path that cannot be
    /// looked up now is no other one.
    var isInPlace: Bool {
        var status = stat()
        let result = path.withUnsafeBufferPointer { path in
            path.baseAddress.map { fstatat(AT_FDCWD, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? 0
        }
        guard result == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return identity.map { FileAttributes(status).isSameFile(as: $0) } ?? true
    }

    /// Distinguishes the directory from others for as long as it is open.
    var number: UInt64 { identity.map { $0.inode ^ $0.device &* 0x9E37_79B9_7F4A_7C15 } ?? 0 }

    /// Returns the directory from which the file of a path in the container is found now, and its path there.
    ///
    /// - Throws: `FileError` `.notFound` if the open directory does not have the container's path any more, or if its
    ///   records are not in files any more; noticed within a tenth of a second.
    func place(of file: FileLocation) throws(FileError) -> (Directory, String) {
        let now = Self.milliseconds
        if let parent, now - lastWhole.load(ordering: .relaxed) < Self.longestShort {
            return (parent, path(of: file))
        }
        // Files beside the name of another backend are what an interrupted move has left.
        guard isInPlace, isMoving || (try? root.exists(ContainerLayout.backend)) != true else {
            throw FileError(errno: ENOENT, operation: "open the directory", path: root.path.string)
        }
        lastWhole.store(now, ordering: .relaxed)
        return parent.map { ($0, path(of: file)) } ?? (root, file.path)
    }

    private func path(of file: FileLocation) -> String {
        file.container == leaf ? file.placedPath : "\(leaf)/\(file.path)"
    }

    /// The time of a clock that is read without a system call and cannot be set.
    static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
