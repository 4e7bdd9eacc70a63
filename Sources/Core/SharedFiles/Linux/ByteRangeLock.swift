internal import CLinux
internal import Glibc

/// Open file description locks of fcntl(2): they end with their description, also when the holder is killed; closing
/// another descriptor of the same file does not drop them, as it would drop POSIX record locks.
enum ByteRangeLock {
    /// Takes a range if it is free now: 0, -EAGAIN when somebody holds it, or another -errno.
    static func attempt(_ file: Int32, _ range: LockRange, _ mode: LockMode) -> Int32 {
        let kind = mode == .shared ? CLINUX_LOCK_SHARED : CLINUX_LOCK_EXCLUSIVE
        let result = set(file, range, Int32(kind))
        return result == -EACCES ? -EAGAIN : result
    }

    /// Whether nobody else holds any of a range now; a failure to find out counts as yes.
    static func isFree(_ file: Int32, _ range: LockRange) -> Bool {
        clinux_ofd_lock_is_free(file, Int32(CLINUX_LOCK_EXCLUSIVE), range.offset, range.length) != 0
    }

    /// Gives a range back.
    static func release(_ file: Int32, _ range: LockRange) {
        _ = set(file, range, Int32(CLINUX_LOCK_NONE))
    }

    private static func set(_ file: Int32, _ range: LockRange, _ kind: Int32) -> Int32 {
        while true {
            let result = clinux_ofd_lock(file, kind, range.offset, range.length)
            if result != -EINTR { return result }
        }
    }
}
