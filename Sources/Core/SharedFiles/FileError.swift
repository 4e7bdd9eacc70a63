internal import Glibc
internal import SystemPackage

/// Why an operation on a shared file was refused or failed.
///
/// Holds names and numbers only, never file contents.
public struct FileError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code
    /// The operation that failed, as a verb phrase: `read`, `take the lock`.
    public let operation: String
    /// The file or directory concerned, as far as it is known.
    public let path: String
    /// The system's error number, if a system call failed.
    public let errno: Int32?
    /// What to do next, in one sentence, with the command for it if there is one.
    public let advice: String

    /// An error with a known code; without an advice of its own it gets the code's default sentence.
    public init(_ code: Code, operation: String, path: String, errno: Int32? = nil, advice: String? = nil) {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
        self.advice = advice ?? code.defaultAdvice(path: path)
    }

    /// An error from a system call: the number decides the code, the code decides the advice.
    public init(errno: Int32, operation: String, path: String, advice: String? = nil) {
        self.init(Code(errno: errno), operation: operation, path: path, errno: errno, advice: advice)
    }

    /// Computed on demand: many of these errors are caught at once, and nobody reads their text.
    public var details: ErrorDetails { details(as: .input) }

    package func details(as role: SubjectRole) -> ErrorDetails {
        let cause = errno.map { " [\(Code.name(ofErrno: $0)): \(Errno(rawValue: $0))]" } ?? ""
        return ErrorDetails(operation, path, "\(code.meaning)\(cause).", advice: advice, errno: errno, role: role)
    }
}

extension FileError {
    /// The kinds of failure; an open set, so a `switch` over it needs a default.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The code's stable name, as printed in machine-readable output.
        public let rawValue: String

        /// A code by its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing has that name.
        public static let notFound = Code(rawValue: "notFound")
        /// The name is taken.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The system's permissions refuse it.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// A symbolic link on the way, or a path that leaves its directory.
        public static let unsafePath = Code(rawValue: "unsafePath")
        /// A directory, FIFO, device, socket or link where a regular file is expected.
        public static let notRegularFile = Code(rawValue: "notRegularFile")
        /// Something else where a directory is expected.
        public static let notDirectory = Code(rawValue: "notDirectory")
        /// Larger than the caller's limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Nested deeper than the caller's limit.
        public static let tooDeep = Code(rawValue: "tooDeep")
        /// Others may write where only the owner should.
        public static let unsafeMode = Code(rawValue: "unsafeMode")
        /// Owned by somebody who should not own it.
        public static let wrongOwner = Code(rawValue: "wrongOwner")
        /// Meant for a whole unix group, but closed to its members.
        public static let notShared = Code(rawValue: "notShared")
        /// The file system is full.
        public static let noSpace = Code(rawValue: "noSpace")
        /// The user's quota is used up.
        public static let quotaExceeded = Code(rawValue: "quotaExceeded")
        /// The file system is mounted read-only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The process or the system has no descriptor left.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// The device or the system failed.
        public static let io = Code(rawValue: "io")
        /// The new value is in place, but whether it outlives a power loss is not known.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// Somebody else held the lock for the whole time limit.
        public static let lockTimeout = Code(rawValue: "lockTimeout")
        /// The lock's file was replaced while it was held or awaited.
        public static let lockFileReplaced = Code(rawValue: "lockFileReplaced")
        /// Another writer took the new value away before it had its name; the old one or the other one's stands.
        public static let overtaken = Code(rawValue: "overtaken")
        /// The caller gave up waiting.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The user's inotify instances or watches are used up.
        public static let watchLimit = Code(rawValue: "watchLimit")
        /// A pipe had no program at its other end, or gave nothing, for the whole time limit.
        public static let inputTimeout = Code(rawValue: "inputTimeout")
        /// Not usable as a file name.
        public static let invalidName = Code(rawValue: "invalidName")
        /// The kernel or the file system lacks what is needed.
        public static let unsupported = Code(rawValue: "unsupported")
    }
}

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

extension FileError.Code {
    /// A presenter did not answer for the whole time limit; the advice names its process.
    public static let presenterTimeout = FileError.Code(rawValue: "presenterTimeout")
    /// A presenter refused the access, or its process ended or broke off while it was asked.
    public static let presenterFailed = FileError.Code(rawValue: "presenterFailed")
}
