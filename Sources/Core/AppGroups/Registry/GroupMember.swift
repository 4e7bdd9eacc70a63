public import PropertyLists
internal import SharedFiles

/// A program that belongs to an app group, as the group's registry has it.
public struct GroupMember: Hashable, Sendable {
    /// Who it is: `ABCDE12345.com.example.app`, or any name of letters, digits, `.`, `-` and `_`. A group has one member of
    /// that name.
    public let applicationIdentifier: String

    /// The absolute path of its executable, without links where it existed when it was registered.
    public let executablePath: String

    /// The absolute path as it was given. It may be a link that the next version of the program is put behind.
    public let givenPath: String

    /// When it was registered, in whole seconds.
    public let registered: PropertyListDate

    /// The longest application identifier, in bytes.
    public static let maximumIdentifierLength = 255
    /// The longest executable path, in bytes.
    public static let maximumPathLength = 4095

    /// A member that is registered now.
    ///
    /// - Parameter executablePath: Absolute; links in it are resolved where it exists.
    /// - Throws: ``AppGroupError`` `invalidMember`.
    public init(applicationIdentifier: String, executablePath: String) throws(AppGroupError) {
        guard let now = PropertyListDate.thisSecond else {
            throw .invalidMember(DisplayText.identifier(applicationIdentifier), "the clock is beyond the year 9999")
        }
        try self.init(
            applicationIdentifier: applicationIdentifier,
            executablePath: ExecutablePath.resolved(executablePath) ?? executablePath, givenPath: executablePath,
            registered: now)
    }

    /// This program, registered now.
    ///
    /// - Throws: ``AppGroupError`` `invalidMember`, also where the system does not tell which executable this process runs.
    public static func thisProgram(applicationIdentifier: String) throws(AppGroupError) -> GroupMember {
        guard let path = ExecutablePath.ofThisProcess() else {
            throw .invalidMember("/proc/self/exe", "the system does not tell which executable this process runs")
        }
        return try GroupMember(applicationIdentifier: applicationIdentifier, executablePath: path)
    }

    init(
        applicationIdentifier: String, executablePath: String, givenPath: String, registered: PropertyListDate
    ) throws(AppGroupError) {
        try Self.check(applicationIdentifier)
        try Self.check(path: executablePath)
        // A relative one was resolved against the working directory, which nobody knows later.
        let given = givenPath.hasPrefix("/") ? givenPath : executablePath
        try Self.check(path: given)
        self.applicationIdentifier = applicationIdentifier
        self.executablePath = executablePath
        self.givenPath = given
        self.registered = registered
    }

    private static func check(path: String) throws(AppGroupError) {
        guard path.hasPrefix("/"), path.utf8.count <= maximumPathLength, path.printable == path else {
            throw .invalidMember(
                DisplayText.identifier(path),
                "it is no absolute path of at most \(maximumPathLength) bytes without control characters")
        }
    }

    /// - Throws: ``AppGroupError`` `invalidMember`.
    static func check(_ applicationIdentifier: String) throws(AppGroupError) {
        let bytes = applicationIdentifier.utf8
        guard !bytes.isEmpty, bytes.count <= maximumIdentifierLength, bytes.allSatisfy(\.isAllowedInIdentifier),
            bytes.first != UInt8(ascii: "-")
        else {
            throw .invalidMember(
                DisplayText.identifier(applicationIdentifier),
                "it is no application identifier: 1 to \(maximumIdentifierLength) of A-Z, a-z, 0-9, \".\", \"-\" and \"_\""
            )
        }
    }

    /// Whether something may still lie at the executable's path, or at the one that was given.
    package var isInstalled: Bool { !ExecutablePath.isGone(executablePath) || !ExecutablePath.isGone(givenPath) }
}
