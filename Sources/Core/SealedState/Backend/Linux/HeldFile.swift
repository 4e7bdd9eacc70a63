internal import Glibc
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// A blob's file, held open: while it is, no other file can have its number, so one look at the name tells whether it
/// still stands for this file.
///
/// The name is looked up from the directory that the container lies in, which is held open: a container that was moved away
/// takes its files with it, and their names are others' then. That directory itself may be moved away with all containers,
/// when somebody replaces the whole home. So now and then the name is looked up from `/`, which costs half as much again.
/// Links on the way are followed here. That is harmless, since only the file that was opened without them counts.
final class HeldFile: HeldBlob {
    private let file: Descriptor
    private let identity: Identity
    /// What the container lies in; nil where it may not be opened.
    private let anchor: Directory?
    /// The path from there and the absolute one, NUL included: made once, since each read of a default looks at them.
    private let short: ContiguousArray<CChar>
    private let path: ContiguousArray<CChar>
    /// When the name was last looked up from `/`, in milliseconds since the machine was started.
    private let lastWhole = Atomic<Int>(-HeldFile.longestShort)

    /// For so many milliseconds a home that was replaced as a whole may stay unnoticed.
    private static let longestShort = 100

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
        short = ContiguousArray("\(root.path.lastComponent?.string ?? ".")/\(path)".utf8CString)
        anchor = try? Directory.open(root.path.removingLastComponent())
    }

    var isInPlace: Bool {
        let now = Self.milliseconds
        if let anchor, now - lastWhole.load(ordering: .relaxed) < Self.longestShort {
            return isNamed(short, anchor.descriptor.rawValue)
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

    /// A clock that is read without a call of the system, and that nobody sets.
    private static var milliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
