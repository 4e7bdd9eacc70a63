internal import AppGroups
internal import Glibc
public import SharedFiles

/// The error of an audit without a report. Faults of an audited container are findings, never errors.
public struct AuditError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs: compare this rather than the wording.
    public let code: Code

    /// The operation, the subject, the reason and the advice. The subject is a path or the app group.
    public let details: ErrorDetails

    init(
        _ code: Code, _ operation: String, _ subject: String, _ reason: String, advice: String, errno: Int32? = nil
    ) {
        self.code = code
        details = ErrorDetails(operation, subject, reason, advice: advice, errno: errno)
    }
}

extension AuditError {
    /// The kinds of failure; an open set, so a `switch` over it needs a default.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name, as printed in machine-readable output.
        public let rawValue: String
        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// Returns `true` for an error with this code. It makes the code a pattern: `catch AuditError.Code.notFound`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? AuditError)?.code == code }

        /// The path does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The path is not a directory, but a file, a link or something else.
        public static let notADirectory = Code(rawValue: "notADirectory")
        /// The group has no container.
        public static let containerMissing = Code(rawValue: "containerMissing")
        /// The system's permissions deny the access.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// The path could not be read for another reason.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The location of group containers could not be determined from the environment.
        public static let invalidHome = Code(rawValue: "invalidHome")
        /// The program's entitlements do not contain the group, or are unusable.
        public static let notEntitled = Code(rawValue: "notEntitled")
        /// The given passphrase opens no slot of the vault.
        public static let wrongPassphrase = Code(rawValue: "wrongPassphrase")
        /// The given key file opens no slot of the vault, or is invalid.
        public static let wrongKeyFile = Code(rawValue: "wrongKeyFile")
        /// The vault is required, but did not open: `AuditOptions.requiresVault`.
        public static let withoutKeys = Code(rawValue: "withoutKeys")
        /// An ignore file has an invalid line.
        public static let malformedIgnoreList = Code(rawValue: "malformedIgnoreList")
        /// A baseline is not in the format that an audit writes.
        public static let malformedBaseline = Code(rawValue: "malformedBaseline")
    }
}

extension AuditError {
    static func malformedIgnoreList(line: Int) -> AuditError {
        AuditError(
            .malformedIgnoreList, "read", "the ignore list", "Line \(line) is not a fingerprint or a comment.",
            advice: "Correct it, or begin it with #.")
    }

    /// - Parameter note: The note that the report would have contained.
    static func withoutKeys(_ group: AppGroup, _ note: String?) -> AuditError {
        AuditError(
            .withoutKeys, "audit with its keys", group.identifier, note ?? "The vault cannot be opened.",
            advice: "Give a credential that opens it, or audit without its keys.")
    }

    /// The process or the system has no free descriptor: a fault of the audit and not of the container, which a report
    /// without keys would hide.
    static func isShortage(_ errno: Int32?) -> Bool { errno == EMFILE || errno == ENFILE }

    static let malformedBaseline = AuditError(
        .malformedBaseline, "read", "the baseline", "It is not an audit's report.",
        advice: "Write it again: sealctl audit --write-baseline FILE")
}

/// Conversion of errors from lower layers.
extension AuditError {
    init(_ error: FileError, auditing group: AppGroup?) {
        let (code, reason): (Code, String) =
            switch error.code {
            case .notFound: (group == nil ? .notFound : .containerMissing, "It does not exist.")
            case .notDirectory, .unsafePath: (.notADirectory, "It is a link or a file.")
            case .permissionDenied: (.permissionDenied, "The system's permissions do not allow it.")
            default: (.unreadable, error.reason)
            }
        let advice = code == .notADirectory ? "Name a directory; instead of a link, name its target." : error.advice
        self.init(code, "audit", error.path, reason, advice: advice, errno: error.errno)
    }

    init(_ error: AppGroupError, _ group: AppGroup) {
        let code: Code =
            switch error.code {
            case .containerMissing, .containerAway: .containerMissing
            case .notADirectory: .notADirectory
            case .invalidHome, .homeUnavailable: .invalidHome
            case .notEntitled, .malformedEntitlements, .unresolvedVariable, .unusableEntitlements: .notEntitled
            default: error.underlying?.code == .permissionDenied ? .permissionDenied : .unreadable
            }
        self.init(code, "audit", error.subject, error.reason, advice: error.advice, errno: error.errno)
    }

    /// Returns the given home, or the one of the environment.
    static func resolving(_ home: GroupsHome?) throws(AuditError) -> GroupsHome {
        if let home { return home }
        do throws(AppGroupError) { return try GroupsHome.current() } catch {
            throw AuditError(.invalidHome, "audit", error.subject, error.reason, advice: error.advice)
        }
    }
}
