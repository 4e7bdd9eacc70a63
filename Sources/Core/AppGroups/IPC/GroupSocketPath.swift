/// Where a group's UNIX domain socket lies, and whether its path fits into a socket address.
///
/// ``GroupSocketListener`` and ``GroupSocketConnection`` take every path: they reach a long one through its open directory.
/// Other programs give the path to connect(2) as it is, and need one that fits.
public struct GroupSocketPath: Hashable, Sendable, CustomStringConvertible {
    /// The longest path in bytes for Linux: `sun_path` has 108, and one ends the path (unix(7)).
    public static let linuxLimit = 107
    /// The longest path in bytes for Apple's systems: `SOCK_MAXADDRLEN` is 255, two of them for length and family. Programs
    /// that use `sockaddr_un` as its header declares it have 104 bytes, the one that ends the path included.
    public static let darwinLimit = 253

    /// The whole path.
    public let path: String

    /// The whole path.
    public var description: String { path }

    /// A path that somebody else chose, to be checked.
    public init(_ path: String) { self.path = path }

    /// The socket's path in a container: `.sockets/<name>`.
    public init(_ name: GroupIPCName, in container: GroupContainer) {
        path = "\(container.path)/\(ContainerLayout.sockets)/\(name.name)"
    }

    /// The path, if a program on Linux can give it to connect(2).
    ///
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`.
    public func linuxPath() throws(AppGroupError) -> String {
        try limited(to: Self.linuxLimit, "sun_path holds", "Connect through this library, or through a shorter link.")
    }

    /// The path, if it is short enough for Apple's systems.
    ///
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`.
    public func darwinPath() throws(AppGroupError) -> String {
        try limited(to: Self.darwinLimit, "SOCK_MAXADDRLEN leaves", "Use a shorter name for the socket or the group.")
    }

    private func limited(to limit: Int, _ words: String, _ advice: String) throws(AppGroupError) -> String {
        guard path.utf8.count > limit else { return path }
        throw .ipc(
            .ipcNameTooLong, "use the socket's path", path,
            "it has \(path.utf8.count) bytes and \(words) \(limit)", advice)
    }
}
