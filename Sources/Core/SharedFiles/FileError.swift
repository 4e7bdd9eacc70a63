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
