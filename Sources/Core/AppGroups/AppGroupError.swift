public import SharedFiles

/// A rejected identifier, or a group's directory that could not be found, created or trusted.
public struct AppGroupError: StructuredError, Sendable, Equatable {
    /// The kind of failure, for programs.
    public let code: Code

    /// The operation that failed, its subject, the reason and the advice.
    ///
    /// The subject is the original identifier (escaped, and cut after 80 characters), a path, or a variable's name.
    public let details: ErrorDetails

    /// The failure of a shared file, if that is the cause.
    public let underlying: FileError?

    /// With `notEntitled`, the groups that the entitlements hold; else empty.
    public let heldGroups: [String]

    /// With `notEntitled`, the most likely intended one of ``heldGroups``; `nil` if none is close.
    public let nearestGroup: String?

    /// The description in one line without control characters: operation, subject, reason and advice.
    public var description: String { fileFailure?.description ?? line }

    /// The operation, its subject and the reason as a sentence.
    public var errorDescription: String? { fileFailure?.errorDescription ?? sentence }

    /// The reason, without control characters.
    public var failureReason: String? { fileFailure?.failureReason ?? reason.printable }

    /// The failure of a file whose words replace those of this error, which state no cause.
    private var fileFailure: FileError? { code == .file ? underlying : nil }

    /// - Parameter reason: a clause about the subject.
    package init(
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
            reason: "the program has more rights than its caller, so the caller's variables are ignored",
            advice: "State the home in the program itself, or remove its file capabilities.")
    }

    static func homeUnavailable() -> Self {
        Self(
            code: .homeUnavailable, operation: findHome, subject: HomeEnvironment.home,
            reason: "it is not an absolute path, and the user database does not contain one either",
            advice: "Set HOME, or SEALED_GROUPS_HOME, to an absolute path.")
    }
}

// Containers.
extension AppGroupError {
    /// Creates the container's error for a failure on a file.
    package init(_ error: FileError, openingContainerOf group: AppGroup) {
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
        case .notDirectory, .unsafePath: (.notADirectory, "it is a link or a file instead of a directory")
        case .unsafeMode: (.unsafeContainer, "other users can write to it")
        case .wrongOwner: (.unsafeContainer, "it belongs to another user")
        case .notShared: (.notShared, "members of its unix group cannot use it")
        default: (.file, "cannot \(error.operation)")
        }
    }
}

extension AppGroupError {
    /// The kind of failure.
    ///
    /// The list grows: treat an unknown code like any other failure.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The code's name, the same as its constant's.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// Returns `true` for an error with this code. It makes the code a pattern: `catch AppGroupError.Code.tooLong`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? AppGroupError)?.code == code }
    }
}

// Identifiers.
extension AppGroupError.Code {
    /// The identifier has no characters.
    public static let emptyIdentifier = Self(rawValue: "emptyIdentifier")

    /// The identifier begins with neither `group.` nor a team identifier and a dot.
    public static let missingPrefix = Self(rawValue: "missingPrefix")

    /// The part that should be the team identifier is not ten characters of `A`–`Z` and `0`–`9`.
    public static let invalidTeamIdentifier = Self(rawValue: "invalidTeamIdentifier")

    /// The name after the prefix is missing.
    public static let emptyName = Self(rawValue: "emptyName")

    /// The identifier begins or ends with a dot or holds two in a row.
    public static let emptyComponent = Self(rawValue: "emptyComponent")

    /// The identifier is `.` or `..`, or holds a character that separates paths.
    public static let pathTraversal = Self(rawValue: "pathTraversal")

    /// The identifier holds a control, format or line-separating character.
    public static let controlCharacter = Self(rawValue: "controlCharacter")

    /// The identifier holds a character outside the alphabet, or a hyphen at a component's edge.
    public static let invalidCharacter = Self(rawValue: "invalidCharacter")

    /// The identifier has more than ``AppGroup/maximumLength`` bytes.
    public static let tooLong = Self(rawValue: "tooLong")
}

// Places.
extension AppGroupError.Code {
    /// `SEALED_GROUPS_HOME` or `SEALED_USER_HOME` is not an absolute path, or a variable that names a directory is not UTF-8.
    public static let invalidHome = Self(rawValue: "invalidHome")

    /// Neither the environment nor the user database contains the user's home directory.
    public static let homeUnavailable = Self(rawValue: "homeUnavailable")
}

// Containers.
extension AppGroupError.Code {
    /// The container, or one of its standard directories, does not exist and was not to be created.
    public static let containerMissing = Self(rawValue: "containerMissing")

    /// The container's path, or a standard directory's, is a link, a file or any other non-directory.
    public static let notADirectory = Self(rawValue: "notADirectory")

    /// Others may change the container, one of its standard directories or a directory above it.
    public static let unsafeContainer = Self(rawValue: "unsafeContainer")

    /// The container is shared with a unix group, or was to be, and the group's members could not use all of it.
    public static let notShared = Self(rawValue: "notShared")

    /// A system call failed; the error's `errno` has its number.
    public static let file = Self(rawValue: "file")
}

/// Identifiers from outside, escaped for a terminal or a log line.
enum DisplayText {
    /// Longer identifiers are cut: an error must not repeat megabytes of hostile input.
    private static let longestIdentifier = 80

    /// Returns the text with all but printable ASCII escaped, so that a letter that only looks Latin is visible.
    static func identifier(_ text: String) -> String {
        var shown = ""
        for (offset, scalar) in text.unicodeScalars.enumerated() {
            if offset == longestIdentifier { return shown + "..." }
            let isPlain = (0x20...0x7E).contains(scalar.value)
            shown += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return shown
    }
}
