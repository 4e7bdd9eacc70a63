internal import AppGroups
internal import PropertyLists
public import SharedFiles

/// The error of reading a provisioning profile or an Xcode project.
///
/// It contains names, places and numbers of a file, never its full values.
public struct ProvisioningError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs.
    public let code: Code

    /// The operation, the subject, the reason and the advice.
    ///
    /// The subject is the file's path, or the faulty part of the file.
    public let details: ErrorDetails

    /// The failure of a shared file, if that is the cause.
    public let underlying: FileError?

    /// The error as one line without control characters: operation, subject, reason and advice.
    public var description: String { fileFailure?.description ?? line }

    /// The operation, its subject and the reason as a sentence.
    public var errorDescription: String? { fileFailure?.errorDescription ?? sentence }

    /// The reason, without control characters.
    public var failureReason: String? { fileFailure?.failureReason ?? reason.printable }

    /// The failure of a file whose words replace those of this error, which state no cause.
    private var fileFailure: FileError? { code == .file ? underlying : nil }

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
    /// The kind of a failure.
    ///
    /// The list grows: treat an unknown code as any other failure.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's name, the same as its constant's.
        public let rawValue: String

        /// Creates a code from a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// Returns `true` for an error with this code. It makes the code a pattern: `catch ProvisioningError.Code.file`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? ProvisioningError)?.code == code }

        /// A file could not be read; ``ProvisioningError/underlying`` contains the cause.
        public static let file = Self(rawValue: "file")
    }
}

extension ProvisioningError.Code {
    /// The file is not a message of the Cryptographic Message Syntax: neither DER nor BER.
    public static let notSigned = Self(rawValue: "notSigned")

    /// The signed message violates the syntax: truncated, too long, or with another structure than in RFC 5652.
    public static let malformedMessage = Self(rawValue: "malformedMessage")

    /// The file has more bytes, or more parts, than any profile.
    public static let tooLarge = Self(rawValue: "tooLarge")

    /// The signed content is not a property list, or not an allowed one.
    public static let malformedList = Self(rawValue: "malformedList")

    /// A key that every profile has is missing.
    public static let missingValue = Self(rawValue: "missingValue")

    /// A key's value has another type than in a profile.
    public static let wrongType = Self(rawValue: "wrongType")

    /// The profile has an unknown version.
    public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")

    /// A certificate in the profile is not a valid certificate.
    public static let malformedCertificate = Self(rawValue: "malformedCertificate")
}

extension ProvisioningError {
    private static let operation = "read a provisioning profile"
    private static let another = "Download the profile again, or let Xcode create it again."

    /// Returns the error with the file's name in the operation.
    func reading(_ path: String) -> Self {
        Self(
            code: code, operation: "read the provisioning profile \(path)", subject: subject, reason: reason.clause,
            advice: advice, underlying: underlying)
    }

    static func notSigned(_ reason: String) -> Self {
        Self(
            code: .notSigned, operation: operation, subject: "profile", reason: reason,
            advice: "Name a .mobileprovision or .provisionprofile file as downloaded from Apple.")
    }

    static func malformedMessage(_ part: String, _ reason: String) -> Self {
        Self(code: .malformedMessage, operation: operation, subject: part, reason: reason, advice: another)
    }

    static func tooLarge(_ part: String, _ reason: String) -> Self {
        Self(
            code: .tooLarge, operation: operation, subject: part, reason: reason,
            advice: "Check the file: a profile has about ten thousand bytes.")
    }

    static func malformedList(_ reason: String) -> Self {
        Self(code: .malformedList, operation: operation, subject: "property list", reason: reason, advice: another)
    }

    static func malformedList(_ fault: StructureFault) -> Self {
        // The fault's reason is a full sentence and becomes a clause here.
        malformedList("it is refused: \(fault.reason.dropLast())")
    }

    static func missing(_ key: String) -> Self {
        Self(
            code: .missingValue, operation: operation, subject: key, reason: "the profile has no such key",
            advice: another)
    }

    static func wrongType(_ key: String, expected: String) -> Self {
        Self(
            code: .wrongType, operation: operation, subject: key, reason: "its value is not \(expected)",
            advice: another)
    }

    static func malformedEntitlements(_ error: AppGroupError) -> Self {
        Self(
            code: .wrongType, operation: operation, subject: error.subject,
            reason: "in its entitlements, \(error.reason.clause)",
            advice: another)
    }

    static func unsupportedVersion(_ version: Int64) -> Self {
        Self(
            code: .unsupportedVersion, operation: operation, subject: "Version",
            reason: "it is \(version), and only version 1 is supported", advice: "Look for a newer sealctl.")
    }

    static func malformedCertificate(_ place: String, _ reason: String) -> Self {
        Self(code: .malformedCertificate, operation: operation, subject: place, reason: reason, advice: another)
    }

    static func unreadable(_ error: FileError) -> Self {
        Self(
            code: error.code == .tooLarge ? .tooLarge : .file, operation: operation, subject: error.path,
            reason: "cannot \(error.operation)", advice: error.advice, underlying: error)
    }
}
