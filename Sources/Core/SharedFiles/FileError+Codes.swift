internal import Glibc

extension FileError.Code {
    /// The code that stands for a system error number; `io` for those without one of their own.
    init(errno: Int32) {
        self = Self.codes[errno] ?? .io
    }

    private static let codes: [Int32: Self] = [
        ENOENT: .notFound, EEXIST: .alreadyExists, EACCES: .permissionDenied, EPERM: .permissionDenied,
        ELOOP: .unsafePath, EXDEV: .unsafePath, EISDIR: .notRegularFile, ENXIO: .notRegularFile,
        ENOTDIR: .notDirectory, EFBIG: .tooLarge, ENOSPC: .noSpace, EDQUOT: .quotaExceeded, EROFS: .readOnly,
        EMFILE: .tooManyOpenFiles, ENFILE: .tooManyOpenFiles, ENAMETOOLONG: .invalidName, ENOSYS: .unsupported,
        EOPNOTSUPP: .unsupported,
    ]

    /// The symbol of an error number, for messages.
    static func name(ofErrno number: Int32) -> String {
        names[number] ?? "errno \(number)"
    }

    private static let names: [Int32: String] = [
        ENOENT: "ENOENT", EEXIST: "EEXIST", EACCES: "EACCES", EPERM: "EPERM", ELOOP: "ELOOP", EXDEV: "EXDEV",
        EISDIR: "EISDIR", ENXIO: "ENXIO", ENOTDIR: "ENOTDIR", EFBIG: "EFBIG", ENOSPC: "ENOSPC", EDQUOT: "EDQUOT",
        EROFS: "EROFS", EMFILE: "EMFILE", ENFILE: "ENFILE", ENAMETOOLONG: "ENAMETOOLONG", ENOSYS: "ENOSYS",
        EOPNOTSUPP: "EOPNOTSUPP", EIO: "EIO", EAGAIN: "EAGAIN", EINVAL: "EINVAL", EBADF: "EBADF", EPIPE: "EPIPE",
        ENOTEMPTY: "ENOTEMPTY", EBUSY: "EBUSY", EMLINK: "EMLINK", ENOMEM: "ENOMEM", EINTR: "EINTR",
        ENOLCK: "ENOLCK", ESTALE: "ESTALE", ETXTBSY: "ETXTBSY",
    ]
}

extension FileError.Code {
    /// The reason as a sentence without its full stop.
    var meaning: String { Self.meanings[self] ?? rawValue }

    private static let meanings: [Self: String] = [
        .notFound: "Nothing has that name",
        .alreadyExists: "The name is taken",
        .permissionDenied: "Permission denied",
        .unsafePath: "The path crosses a symbolic link or leaves its directory",
        .notRegularFile: "Not a regular file",
        .notDirectory: "Not a directory",
        .tooLarge: "Larger than allowed",
        .tooDeep: "Nested deeper than allowed",
        .unsafeMode: "Its permissions let others in",
        .wrongOwner: "Owned by somebody else",
        .notShared: "Members of its unix group can't use it",
        .noSpace: "The file system is full",
        .quotaExceeded: "The quota is used up",
        .readOnly: "The file system is read-only",
        .tooManyOpenFiles: "Too many open files",
        .io: "The system failed",
        .durabilityUnknown: "The new value is in place, but may not survive a power loss",
        .lockTimeout: "Somebody else held the lock for the whole time limit",
        .lockFileReplaced: "The lock's file was replaced",
        .overtaken: "Another writer took the new value away",
        .cancelled: "Cancelled",
        .invalidName: "Not usable as a name",
        .watchLimit: "No more files can be watched",
        .inputTimeout: "No program was at its other end, or nothing came, for the whole time limit",
        .presenterTimeout: "Somebody who presents it did not answer for the whole time limit",
        .presenterFailed: "Somebody who presents it refused",
        .unsupported: "Not supported by this system",
    ]

    /// The sentence that an error carries when its thrower has no better one.
    func defaultAdvice(path: String) -> String {
        let quoted = path.shellQuoted
        return switch self {
        case .notFound: "Check the name, or create it first."
        case .alreadyExists: "Choose another name, or remove it first: rm \(quoted)"
        case .permissionDenied: "See who may do this: namei -l \(quoted)"
        case .unsafePath: "See where the link is and replace it by a real directory or file: namei -l \(quoted)"
        case .notRegularFile: "See what it is and move it away: ls -ld \(quoted)"
        case .notDirectory: "See what it is and move it away: ls -ld \(quoted)"
        case .tooLarge: "Raise the limit if the file is meant to be that large: ls -l \(quoted)"
        case .tooDeep: "Move it up, or raise the limit."
        case .unsafeMode: "As its owner, take the permission away: chmod go-w \(quoted)"
        case .wrongOwner: "Run this as its owner, or use a place of this user's own: ls -ld \(quoted)"
        case .notShared: "As its owner, give it to the unix group and let its members in: chmod 2770 \(quoted)"
        case .noSpace: "Free some space and try again: df -h \(quoted)"
        case .quotaExceeded: "Free some of your quota and try again: quota -s"
        case .readOnly: "Use another place, or mount it writable: findmnt -T \(quoted)"
        case .tooManyOpenFiles: "Raise the limit and try again: ulimit -n 4096"
        case .durabilityUnknown: "Check the disk (dmesg), then write the value again."
        case .lockTimeout: "See who holds it and whether it is stopped: lsof \(quoted)"
        case .inputTimeout: "Start the program at the other end first, or name a regular file: ls -l \(quoted)"
        case .lockFileReplaced: "Try again, and find out what replaces lock files there."
        case .overtaken: "Write it again, and under the lock."
        case .cancelled: "Try again when you want it done."
        case .watchLimit: "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances: sysctl fs.inotify"
        case .invalidName: "Use a name without '/', NUL, '.' or '..' parts, of at most \(LeafName.maximumLength) bytes."
        case .unsupported: "Linux 5.6 or newer and a local file system are needed."
        default: "Check the disk and the system log (dmesg), then try again."
        }
    }
}
