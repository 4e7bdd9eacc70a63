public import SharedFiles

/// Why an identifier was refused, or a group's place could not be found, made or trusted.
public struct AppGroupError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs.
    public let code: Code

    /// What failed, on what, why, and what to do.
    ///
    /// The subject is the identifier as it was given (escaped, and cut after 80 characters), a path, or a variable's name.
    public let details: ErrorDetails

    /// The failure of a shared file, if that is the cause.
    public let underlying: FileError?

    /// With `notEntitled`, the groups that the entitlements hold; else empty.
    public let heldGroups: [String]

    /// With `notEntitled`, the one of ``heldGroups`` that was most likely meant; `nil` if none is close.
    public let nearestGroup: String?

    /// One line without control characters: what failed, on what, why, and what to do.
    public var description: String {
        if code == .file, let underlying { return underlying.description }
        return "\(details.message) [\(code)]. \(advice.printable)"
    }

    /// - Parameter reason: a clause about the subject.
    init(
        code: Code, operation: String, subject: String, reason: String, advice: String, underlying: FileError? = nil,
        heldGroups: [String] = [], nearestGroup: String? = nil
    ) {
        self.code = code
        details = ErrorDetails(
            operation, subject, reason.sentence, advice: advice, errno: underlying?.errno, role: .part)
        self.underlying = underlying
        self.heldGroups = heldGroups
        self.nearestGroup = nearestGroup
    }
}

// Identifiers.
extension AppGroupError {
    /// A refused identifier.
    init(_ code: Code, _ identifier: String, in kind: IdentifierKind, because reason: String) {
        self.init(
            code: code, operation: kind.operation, subject: DisplayText.identifier(identifier), reason: reason,
            advice: kind.advice)
    }
}

// Places.
extension AppGroupError {
    private static let findHome = "find the place of group containers"

    static func relativeHome(_ variable: String, _ value: String) -> Self {
        Self(
            code: .invalidHome, operation: findHome, subject: variable,
            reason: "its value \"\(value.printable)\" is not an absolute path",
            advice: "Set it to an absolute path, for example /srv/sealed-groups, or unset it.")
    }

    static func unreadableHome(_ variable: String) -> Self {
        Self(
            code: .invalidHome, operation: findHome, subject: variable, reason: "its value is not UTF-8",
            advice: "Set it to a path in UTF-8.")
    }

    static func untrustedHome(_ variable: String) -> Self {
        Self(
            code: .invalidHome, operation: findHome, subject: variable,
            reason: "the program has more rights than its caller, whose variables do not count",
            advice: "Give the home in the program itself, or take its file capabilities away.")
    }

    static func homeUnavailable() -> Self {
        Self(
            code: .homeUnavailable, operation: findHome, subject: HomeEnvironment.home,
            reason: "it is not an absolute path, and the user database has none either",
            advice: "Set HOME, or SEALED_GROUPS_HOME, to an absolute path.")
    }
}

// Containers.
extension AppGroupError {
    /// What a failure on a file means for the container of a group.
    init(_ error: FileError, openingContainerOf group: AppGroup) {
        let (code, reason) = Self.meaning(of: error)
        let advice =
            code == .containerMissing ? "Create it first: sealctl init --group \(group)" : error.advice
        self.init(
            code: code, operation: "open the container of \(group)", subject: error.path, reason: reason,
            advice: advice,
            underlying: error)
    }

    private static func meaning(of error: FileError) -> (Code, reason: String) {
        switch error.code {
        case .notFound: (.containerMissing, "it does not exist")
        case .notDirectory, .unsafePath: (.notADirectory, "it is a link or a file where a directory has to be")
        case .unsafeMode: (.unsafeContainer, "others may write there")
        case .wrongOwner: (.unsafeContainer, "it belongs to another user")
        case .notShared: (.notShared, "members of its unix group cannot use it")
        default: (.file, "cannot \(error.operation)")
        }
    }
}
