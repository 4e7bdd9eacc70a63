internal import AppGroups
internal import PropertyLists
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
        return line
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

extension ProvisioningError.Code {
    /// The file is no message of the Cryptographic Message Syntax: neither DER nor BER.
    public static let notSigned = Self(rawValue: "notSigned")

    /// The signed message breaks the syntax: cut, over-long, or with another structure than RFC 5652 gives it.
    public static let malformedMessage = Self(rawValue: "malformedMessage")

    /// More bytes, or more parts, than any profile has.
    public static let tooLarge = Self(rawValue: "tooLarge")

    /// What is signed is no property list, or one that may not be read.
    public static let malformedList = Self(rawValue: "malformedList")

    /// A key that every profile has is missing.
    public static let missingValue = Self(rawValue: "missingValue")

    /// A key holds a value of another type than it has in a profile.
    public static let wrongType = Self(rawValue: "wrongType")

    /// A profile of a version that is not known here.
    public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")

    /// One of the certificates is not a certificate.
    public static let malformedCertificate = Self(rawValue: "malformedCertificate")
}

extension ProvisioningError {
    private static let operation = "read a provisioning profile"
    private static let another = "Download the profile again, or have Xcode make it anew."

    /// The same fault with the file's name in what was being done.
    func reading(_ path: String) -> Self {
        Self(
            code: code, operation: "read the provisioning profile \(path)", subject: subject, reason: reason.clause,
            advice: advice, underlying: underlying)
    }

    static func notSigned(_ reason: String) -> Self {
        Self(
            code: .notSigned, operation: operation, subject: "profile", reason: reason,
            advice: "Name a .mobileprovision or .provisionprofile file as Apple hands it out.")
    }

    static func malformedMessage(_ part: String, _ reason: String) -> Self {
        Self(code: .malformedMessage, operation: operation, subject: part, reason: reason, advice: another)
    }

    static func tooLarge(_ part: String, _ reason: String) -> Self {
        Self(
            code: .tooLarge, operation: operation, subject: part, reason: reason,
            advice: "See what the file is: profiles have some ten thousand bytes.")
    }

    static func malformedList(_ reason: String) -> Self {
        Self(code: .malformedList, operation: operation, subject: "property list", reason: reason, advice: another)
    }

    static func malformedList(_ fault: StructureFault) -> Self {
        // A sentence of its own there, the rest of one here.
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
            reason: "it is \(version), and only version 1 is known", advice: "Look for a newer sealctl.")
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
