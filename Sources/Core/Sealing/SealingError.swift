public import FoundationEssentials

/// The error of sealing or opening a blob.
///
/// It never contains plaintext or key material. A caller that knows the file's name adds it.
public struct SealingError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors, in the order in which an opener checks them; more may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// The blob is larger than the reader's limit. Nothing was read or allocated for it.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The file is not a sealed blob, or its fields contradict each other or its length.
        public static let malformed = Code(rawValue: "malformed")
        /// The blob has a format, suite, kind, flag or codec that this version does not support.
        public static let unsupportedFormat = Code(rawValue: "unsupportedFormat")
        /// The blob is of another kind than the requested one.
        public static let wrongKind = Code(rawValue: "wrongKind")
        /// The blob was sealed for another app group.
        public static let wrongGroup = Code(rawValue: "wrongGroup")
        /// The blob was sealed under another name: it was moved or copied here.
        public static let wrongName = Code(rawValue: "wrongName")
        /// The blob was sealed under a key that the vault does not contain.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The header's suite is not the one in the vault for that key.
        public static let wrongSuite = Code(rawValue: "wrongSuite")
        /// The header's epoch is not the one in the vault for that key.
        public static let wrongEpoch = Code(rawValue: "wrongEpoch")
        /// The header was changed, or written for another key.
        public static let wrongCommitment = Code(rawValue: "wrongCommitment")
        /// The key's epoch is below the minimum epoch of the vault.
        public static let retiredEpoch = Code(rawValue: "retiredEpoch")
        /// The contents were changed, truncated or extended, or are not those that a record vouches for.
        public static let tampered = Code(rawValue: "tampered")
        /// The key does not have 32 bytes, or the range is outside the contents.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
    }

    /// The kind of the error.
    public let code: Code
    /// The operation that failed, such as `open` or `read header`.
    public let operation: String
    /// The finding: field names and public numbers only.
    public let detail: String

    package init(_ code: Code, _ operation: String, _ detail: String) {
        self.code = code
        self.operation = operation
        self.detail = detail
    }

    /// The advice for the user.
    public var advice: String {
        switch code {
        case .tooLarge: "Raise the size limit if the data is your own."
        case .malformed: "This file was not written by SealedState or is damaged: restore it or write it again."
        case .unsupportedFormat: "Update the reading program, or write the blob again with this version."
        case .wrongKind: "Use the command or call that fits the blob's kind."
        case .wrongGroup: "Open it with the app group that it was sealed for."
        case .wrongName: "Put the file back under its own name, or write the record again."
        case .unknownKey: "Restore the vault that holds the key; a new key cannot open it."
        case .wrongEpoch: "The vault or the blob was rolled back: restore both from the same moment."
        case .wrongSuite: "Do not use the contents: the header names a suite other than that of its key."
        case .retiredEpoch: "Do not use the contents, unless they are known to be older than the rotation."
        case .wrongCommitment, .tampered: "Do not use the contents: restore the file, or write it again."
        default: "Correct the call."
        }
    }

    /// The error as one line for a person: operation, kind, detail and advice.
    public var description: String { "\(operation): \(code.rawValue): \(detail) \(advice)" }

    /// The operation and the finding in one line: the error's `localizedDescription`.
    public var errorDescription: String? { "Cannot \(operation): \(detail)" }

    /// The finding.
    public var failureReason: String? { detail }

    /// The advice.
    public var recoverySuggestion: String? { advice }
}
