public import SharedFiles

/// Why a provisioning profile or an Xcode project was refused, or could not be read.
///
/// Holds names, places and numbers of a file, never its values at length.
public struct ProvisioningError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for programs.
    public let code: Code

    /// What was being done, as a verb and its object.
    public let operation: String

    /// The file's path, or the part of the file that is at fault.
    public let subject: String

    /// What was found, as the rest of a sentence about the subject.
    public let reason: String

    /// The system's error number, where a system call failed.
    public let errno: Int32?

    /// One sentence on what to do.
    public let advice: String

    /// What failed on a file, where that is the cause.
    public let underlying: FileError?

    /// Everything above in one line, with nothing in it that a terminal would act on.
    public var description: String {
        if code == .file, let underlying { return underlying.description }
        return "cannot \(operation.printable): \"\(subject.printable)\": \(reason.printable). \(advice.printable)"
    }

    init(
        code: Code, operation: String, subject: String, reason: String, advice: String, underlying: FileError? = nil
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.reason = reason
        errno = underlying?.errno
        self.advice = advice
        self.underlying = underlying
    }
}

extension ProvisioningError {
    /// What went wrong.
    ///
    /// The list grows: treat a code that you don't know as a failure like the others.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's name, the same as its constant's.
        public let rawValue: String

        /// Makes a code of any name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// A file could not be read; ``ProvisioningError/underlying`` says why.
        public static let file = Self(rawValue: "file")
    }
}
