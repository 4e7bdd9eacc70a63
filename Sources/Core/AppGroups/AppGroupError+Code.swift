extension AppGroupError {
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
    }
}

// Identifiers.
extension AppGroupError.Code {
    /// The identifier has no characters.
    public static let emptyIdentifier = Self(rawValue: "emptyIdentifier")

    /// The identifier begins with neither `group.` nor a team identifier and a dot.
    public static let missingPrefix = Self(rawValue: "missingPrefix")

    /// What should be the team identifier is not ten characters of `A`–`Z` and `0`–`9`.
    public static let invalidTeamIdentifier = Self(rawValue: "invalidTeamIdentifier")

    /// Nothing follows the prefix.
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

    /// Neither the environment nor the user database tells where the user's home directory is.
    public static let homeUnavailable = Self(rawValue: "homeUnavailable")
}

// Containers.
extension AppGroupError.Code {
    /// The container, or one of its standard directories, does not exist and was not to be created.
    public static let containerMissing = Self(rawValue: "containerMissing")

    /// The container's path, or a standard directory's, is a link, a file or anything else but a directory.
    public static let notADirectory = Self(rawValue: "notADirectory")

    /// Others may change the container, one of its standard directories or a directory above it.
    public static let unsafeContainer = Self(rawValue: "unsafeContainer")

    /// The container is shared with a unix group, or was to be, and the group's members could not use all of it.
    public static let notShared = Self(rawValue: "notShared")

    /// A system call failed; the error's `errno` says how.
    public static let file = Self(rawValue: "file")
}
