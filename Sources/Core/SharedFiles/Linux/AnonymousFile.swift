internal import CLinux
internal import Glibc

/// Files without a name, `O_TMPFILE` of open(2), which get one when their content is complete.
enum AnonymousFile {
    /// Naming such a file goes through /proc; a process that has none (a bare chroot) uses named files.
    static let canBeNamed = access("/proc/self/fd", X_OK) == 0

    /// Opens one in a directory: the descriptor or -errno.
    static func open(in directory: Int32) -> Int32 {
        uninterrupted { openat(directory, ".", clinux_o_tmpfile | O_WRONLY | O_CLOEXEC, 0o600) }
    }

    /// Whether an answer of `open` means that the file system or the kernel has no such files.
    ///
    /// `EISDIR` and `ENOENT` come from kernels that do not know the flag and see a directory opened for writing.
    static func isUnsupported(_ result: Int32) -> Bool {
        [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(-result)
    }

    /// Gives the file a name, which must be free: 0 or -errno.
    static func link(_ file: Int32, as name: String, in directory: Int32) -> Int32 {
        uninterrupted { linkat(AT_FDCWD, "/proc/self/fd/\(file)", directory, name, AT_SYMLINK_FOLLOW) }
    }
}

/// Reserves space for the whole file, so that a full disk shows before anything is written: 0 or -errno.
///
/// A file system that can't reserve answers 0 as well; there a full disk shows when writing, which is handled alike.
func reserveSpace(_ file: Int32, _ count: Int64) -> Int32 {
    guard count > 0 else { return 0 }
    while true {
        let result = clinux_reserve(file, count)
        if result == -EOPNOTSUPP || result == -ENOSYS { return 0 }
        if result != -EINTR { return result }
    }
}
