internal import Glibc
internal import SystemPackage

/// A refused or failed operation on a shared file.
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
    /// The advice of the place that failed, if it knows better than the code.
    private let ownAdvice: String?

    /// Creates an error with a code; the default advice is the code's.
    public init(_ code: Code, operation: String, path: String, errno: Int32? = nil, advice: String? = nil) {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
        ownAdvice = advice
    }

    /// Creates an error from a system call: the number determines the code, the code the advice.
    public init(errno: Int32, operation: String, path: String, advice: String? = nil) {
        self.init(Code(errno: errno), operation: operation, path: path, errno: errno, advice: advice)
    }

    /// The advice in one sentence, with the command for it if there is one.
    public var advice: String { ownAdvice ?? code.defaultAdvice(path: path) }

    /// Computed on demand, like the advice: many of these errors are caught immediately, and their text is never read.
    public var details: ErrorDetails { details(as: .input) }

    package func details(as role: SubjectRole) -> ErrorDetails {
        let cause = errno.map { " [\(Code.name(ofErrno: $0)): \(Errno(rawValue: $0))]" } ?? ""
        return ErrorDetails(operation, path, "\(code.meaning)\(cause).", advice: advice, errno: errno, role: role)
    }
}

extension FileError {
    /// Returns `true` if both errors have the same content.
    public static func == (left: FileError, right: FileError) -> Bool {
        left.code == right.code && left.operation == right.operation && left.path == right.path
            && left.errno == right.errno && left.advice == right.advice
    }

    /// The kinds of failure; an open set, so a `switch` over it needs a default.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's stable name, as printed in machine-readable output.
        public let rawValue: String

        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }

        /// The name does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The name is taken.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// The system's permissions do not allow it.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The path contains a symbolic link or leaves its directory.
        public static let unsafePath = Code(rawValue: "unsafePath")
        /// A directory, FIFO, device, socket or link where a regular file is expected.
        public static let notRegularFile = Code(rawValue: "notRegularFile")
        /// Not a directory where one is expected.
        public static let notDirectory = Code(rawValue: "notDirectory")
        /// Larger than the caller's limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// Nested deeper than the caller's limit.
        public static let tooDeep = Code(rawValue: "tooDeep")
        /// Others may write where only the owner should.
        public static let unsafeMode = Code(rawValue: "unsafeMode")
        /// Owned by an unexpected user.
        public static let wrongOwner = Code(rawValue: "wrongOwner")
        /// A lock file that has a second name (a hard link): its holders may not be those of this name.
        public static let secondName = Code(rawValue: "secondName")
        /// Meant for a whole unix group, but closed to its members.
        public static let notShared = Code(rawValue: "notShared")
        /// The file system is full.
        public static let noSpace = Code(rawValue: "noSpace")
        /// The user's quota is used up.
        public static let quotaExceeded = Code(rawValue: "quotaExceeded")
        /// The file system is mounted read-only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The process or the system has no free descriptor.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// The device or the system failed.
        public static let io = Code(rawValue: "io")
        /// The new value is in place, but may not survive a power loss.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// Another process held the lock for the whole time limit.
        public static let lockTimeout = Code(rawValue: "lockTimeout")
        /// The lock's file was replaced while it was held or awaited.
        public static let lockFileReplaced = Code(rawValue: "lockFileReplaced")
        /// Another writer removed the new value before it got its name; the old or the other writer's value remains.
        public static let overtaken = Code(rawValue: "overtaken")
        /// The caller cancelled the wait.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The user's inotify instances or watches are used up.
        public static let watchLimit = Code(rawValue: "watchLimit")
        /// A pipe had no program at its other end, or sent nothing, for the whole time limit.
        public static let inputTimeout = Code(rawValue: "inputTimeout")
        /// Not usable as a file name.
        public static let invalidName = Code(rawValue: "invalidName")
        /// The kernel or the file system lacks a required feature.
        public static let unsupported = Code(rawValue: "unsupported")
    }
}

extension FileError.Code {
    /// Returns the code for a system error number; `io` for numbers without a code.
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

    /// Returns the symbol of an error number, for messages.
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
    var meaning: String { Self.entries[self]?.meaning ?? rawValue }

    /// The words for one code.
    private struct Entry {
        /// The reason as a sentence without its full stop.
        let meaning: String
        /// The advice, unless the error has its own. `{path}` is the path as a shell word.
        let advice: String

        init(_ meaning: String, _ advice: String = "Check the disk and the system log (dmesg), then try again.") {
            self.meaning = meaning
            self.advice = advice
        }
    }

    private static let entries: [Self: Entry] = [
        .notFound: Entry("It does not exist", "Check the name, or create it first."),
        .alreadyExists: Entry("The name is taken", "Choose another name, or remove it first: rm {path}"),
        .permissionDenied: Entry("Permission denied", "See the permissions: namei -l {path}"),
        .unsafePath: Entry(
            "The path crosses a symbolic link or leaves its directory",
            "Find the link and replace it by a real directory or file: namei -l {path}"),
        .notRegularFile: Entry("Not a regular file", "See what it is and move it away: ls -ld {path}"),
        .notDirectory: Entry("Not a directory", "See what it is and move it away: ls -ld {path}"),
        .tooLarge: Entry("Larger than allowed", "Raise the limit if the file is meant to be that large: ls -l {path}"),
        .tooDeep: Entry("Nested deeper than allowed", "Move it up, or raise the limit."),
        .unsafeMode: Entry(
            "Its permissions give other users access",
            "As its owner, remove the permission: chmod go-w {path}"),
        .wrongOwner: Entry(
            "It belongs to another user",
            "Run this as its owner, or use a directory of this user: ls -ld {path}"),
        .secondName: Entry(
            "It has a second name",
            "Find its other name, and stop the programs that use it: find / -samefile {path}"),
        .notShared: Entry(
            "Members of its unix group can't use it",
            "As its owner, give it to the unix group and allow its members access: chmod 2770 {path}"),
        .noSpace: Entry("The file system is full", "Free some space and try again: df -h {path}"),
        .quotaExceeded: Entry("The quota is used up", "Free some of your quota and try again: quota -s"),
        .readOnly: Entry("The file system is read-only", "Use another place, or mount it writable: findmnt -T {path}"),
        .tooManyOpenFiles: Entry("Too many open files", "Raise the limit and try again: ulimit -n 4096"),
        .io: Entry("The system failed"),
        .durabilityUnknown: Entry(
            "The new value is in place, but may not survive a power loss",
            "Check the disk (dmesg), then write the value again."),
        .lockTimeout: Entry(
            "Another program held the lock for the whole time limit",
            "Find the program that holds it, and check whether it is stopped: lsof {path}"),
        .lockFileReplaced: Entry(
            "The lock's file was replaced",
            "Try again, and find out what replaces lock files there."),
        .overtaken: Entry("Another writer removed the new value", "Write it again, and under the lock."),
        .cancelled: Entry("Cancelled", "Try again if it is still needed."),
        .invalidName: Entry(
            "Not usable as a name",
            "Use a name without '/', NUL, '.' or '..' parts, of at most \(LeafName.maximumLength) bytes."),
        .watchLimit: Entry(
            "No more files can be watched",
            "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances: sysctl fs.inotify"),
        .inputTimeout: Entry(
            "The program at its other end was missing or sent nothing for the whole time limit",
            "Start the program at the other end first, or name a regular file: ls -l {path}"),
        .presenterTimeout: Entry("A presenter of it did not answer for the whole time limit"),
        .presenterFailed: Entry("A presenter of it refused"),
        .unsupported: Entry("Not supported by this system", "Linux 5.6 or newer and a local file system are needed."),
    ]

    /// Returns the default advice of the code.
    func defaultAdvice(path: String) -> String {
        let advice = (Self.entries[self] ?? Entry(rawValue)).advice
        guard let place = advice.utf8.firstIndex(of: UInt8(ascii: "{")) else { return advice }
        return "\(advice[..<place])\(path.shellQuoted)\(advice[place...].dropFirst("{path}".count))"
    }
}

extension FileError.Code {
    /// A presenter did not answer for the whole time limit; the advice names its process.
    public static let presenterTimeout = FileError.Code(rawValue: "presenterTimeout")
    /// A presenter refused the access, or its process ended or broke off while it was asked.
    public static let presenterFailed = FileError.Code(rawValue: "presenterFailed")
}
