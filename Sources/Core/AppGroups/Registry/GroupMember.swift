internal import Glibc
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

/// Where executables lie.
package enum ExecutablePath {
    /// The executable of a process of this user, without links; nil where the process is gone or is another user's, or the
    /// file was removed or replaced since it started (proc(5)).
    package static func ofProcess(_ process: Int32) -> String? { target(of: "/proc/\(process)/exe") }

    static func ofThisProcess() -> String? { target(of: "/proc/self/exe") }

    /// The path without links; nil where nothing lies there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether nothing lies there for certain. What this user may not look at may be there, and so may what lies on a disk
    /// that fails.
    static func isGone(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    private static func target(of link: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { space in
                count = space.baseAddress.map { max(0, readlink(link, $0, space.count)) } ?? 0
            }
        }
        guard let path = String(validating: bytes, as: UTF8.self), path.hasPrefix("/"), exists(path) else { return nil }
        return path
    }
}

extension PropertyListDate {
    /// Now, to the second: what a property list written as XML can say. Nil while the clock is outside the years 0 to 9999.
    static var thisSecond: PropertyListDate? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return PropertyListDate(secondsSince1970: Double(time.tv_sec))
    }
}
