internal import Glibc
public import PropertyLists
internal import SharedFiles

/// A program that belongs to an app group, as listed in the group's registry.
public struct GroupMember: Hashable, Sendable {
    /// The application identifier: `ABCDE12345.com.example.app`, or any name of letters, digits, `.`, `-` and `_`. It
    /// is unique in a group.
    public let applicationIdentifier: String

    /// The absolute path of its executable, with links resolved if it existed at the registration.
    public let executablePath: String

    /// The original absolute path. It may be a link that will point to the program's next version.
    public let givenPath: String

    /// The time of the registration, in whole seconds.
    public let registered: PropertyListDate

    /// The longest application identifier, in bytes.
    public static let maximumIdentifierLength = 255
    /// The longest executable path, in bytes.
    public static let maximumPathLength = 4095

    /// Creates a member that is registered now.
    ///
    /// - Parameter executablePath: Absolute; links in it are resolved if it exists.
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

    /// Returns this program as a member that is registered now.
    ///
    /// - Throws: ``AppGroupError`` `invalidMember`, also if this process's executable can't be determined.
    public static func thisProgram(applicationIdentifier: String) throws(AppGroupError) -> GroupMember {
        guard let path = ExecutablePath.ofThisProcess() else {
            throw .invalidMember("/proc/self/exe", "the system does not report the executable of this process")
        }
        return try GroupMember(applicationIdentifier: applicationIdentifier, executablePath: path)
    }

    init(
        applicationIdentifier: String, executablePath: String, givenPath: String, registered: PropertyListDate
    ) throws(AppGroupError) {
        try Self.check(applicationIdentifier)
        try Self.check(path: executablePath)
        // A relative path was resolved against the working directory, which is not known later.
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
                "it is not an absolute path of at most \(maximumPathLength) bytes without control characters")
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
                "it is not of 1 to \(maximumIdentifierLength) characters of A-Z, a-z, 0-9, \".\", \"-\" and \"_\""
            )
        }
    }

    /// `true` if the executable's path, resolved or original, may still exist.
    package var isInstalled: Bool { !ExecutablePath.isGone(executablePath) || !ExecutablePath.isGone(givenPath) }
}

/// Lookups of executables' paths.
package enum ExecutablePath {
    /// Returns the executable of a process of this user, without links; nil if the process has ended or is another
    /// user's, or the file was removed or replaced since it started (proc(5)).
    package static func ofProcess(_ process: Int32) -> String? { target(of: "/proc/\(process)/exe") }

    static func ofThisProcess() -> String? { target(of: "/proc/self/exe") }

    /// Returns the path without links; nil if it does not exist.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns whether the path certainly does not exist. A file that this user may not examine, or on a failing disk,
    /// may exist.
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
    /// The current second, the precision of an XML property list. Nil while the clock is outside the years 0 to 9999.
    static var thisSecond: PropertyListDate? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return PropertyListDate(secondsSince1970: Double(time.tv_sec))
    }
}
