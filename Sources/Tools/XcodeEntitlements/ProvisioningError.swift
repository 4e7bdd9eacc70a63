public import SharedFiles

/// Why a provisioning profile or an Xcode project was refused, or could not be read.
///
/// Holds names, places and numbers of a file, never its values at length.
public struct ProvisioningError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs.
    public let code: Code

    /// What failed, on what, why, and what to do.
    ///
    /// The subject is the file's path, or the part of the file that is at fault.
    public let details: ErrorDetails

    /// The failure of a shared file, if that is the cause.
    public let underlying: FileError?

    /// One line without control characters: what failed, on what, why, and what to do.
    public var description: String {
        if code == .file, let underlying { return underlying.description }
        return "\(details.message) [\(code)]. \(advice.printable)"
    }

    /// - Parameter reason: a clause about the subject.
    init(
        code: Code, operation: String, subject: String, reason: String, advice: String, underlying: FileError? = nil
    ) {
        self.code = code
        details = ErrorDetails(
            operation, subject, reason.sentence, advice: advice, errno: underlying?.errno, role: .part)
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
