public import SharedFiles

/// The reason why a backend failed.
public struct BackendError: StructuredError, Sendable {
    /// The kind of failure, for programs: compare this, not the wording.
    public let code: Code
    /// The failed operation, its subject, the reason and the advice.
    public let details: ErrorDetails
    /// The index of the write whose condition does not hold, for `.conflict`.
    public let index: Int?
    /// The error behind this one.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - operation: The failed operation, as a verb phrase: `read`.
    ///   - subject: The record's name, or a path.
    ///   - reason: The finding, in a sentence, without contents.
    ///   - advice: The advice in a sentence; the code's unless stated.
    ///   - index: The index of the write whose condition does not hold.
    ///   - errno: The system's error number.
    ///   - cause: The error behind this one.
    public init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String? = nil,
        index: Int? = nil, errno: Int32? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        details = ErrorDetails(operation, subject, reason, advice: advice ?? code.advice, errno: errno)
        self.index = index
        self.cause = cause
    }
}

extension BackendError {
    /// The kinds of failure; an open set, so a `switch` over it needs a default.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String
        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }

        /// A condition does not hold; nothing was written.
        public static let conflict = Code(rawValue: "conflict")
        /// The writes may have been made, or may still be: `settle` decides that.
        public static let indeterminate = Code(rawValue: "indeterminate")
        /// The writes are in place; whether they survive a power loss is unknown.
        public static let durabilityUnknown = Code(rawValue: "durabilityUnknown")
        /// Another program held the data for the whole time limit.
        public static let timeout = Code(rawValue: "timeout")
        /// There is no space.
        public static let full = Code(rawValue: "full")
        /// A quota is used up.
        public static let quotaExceeded = Code(rawValue: "quotaExceeded")
        /// The data cannot be written now.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The system's permissions refuse it.
        public static let denied = Code(rawValue: "denied")
        /// The backend's own data are damaged.
        public static let damaged = Code(rawValue: "damaged")
        /// Something that is no blob is in the record's place, such as a link or a pipe.
        public static let notABlob = Code(rawValue: "notABlob")
        /// The data were removed or replaced since the backend was opened.
        public static let gone = Code(rawValue: "gone")
        /// The blob is larger than the limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The backend cannot do this.
        public static let unsupported = Code(rawValue: "unsupported")
        /// Any other failure of the system.
        public static let io = Code(rawValue: "io")

        fileprivate var advice: String { Self.advices[self] ?? "Try again; if it fails again, examine the system." }

        private static let advices: [Code: String] = [
            .conflict: "Read the record again, and repeat the change.",
            .indeterminate: "Read the record to see whether it was written.",
            .durabilityUnknown: "Write it again; examine the disk.",
            .timeout: "Try again, with a longer time limit.",
            .full: "Free some space and try again.",
            .quotaExceeded: "Free some of the quota and try again.",
            .readOnly: "Make the file system writable.",
            .denied: "Check the owner and the modes.",
            .damaged: "Examine it with sealctl audit, and restore it.",
            .notABlob: "Find the program that put it in this place; the next write replaces it.",
            .gone: "Open the store again.",
            .tooLarge: "Raise the limit if the data are your own.",
            .unsupported: "Use another backend.",
        ]
    }
}

extension BackendError {
    /// Another blob was found than the one that a write was decided on.
    package static func overtaken(_ key: BackendKey) -> BackendError {
        BackendError(.conflict, "write", key.name, "Another program has written it in between.", index: 0)
    }
}
