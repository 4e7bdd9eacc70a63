public import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A listener at a UNIX domain socket in an app group's container: `.sockets/<name>`.
///
/// Only users of the container, identified by the kernel, can connect; a ``PeerRule`` restricts them further. A name
/// belongs to one listener at a time: a dead listener's name is taken over, a live one's is not.
///
/// ```swift
/// let listener = try GroupSocketListener("refresh", in: container)
/// for try await connection in listener.connections() {
///     Task { while let request = try await connection.receive() { try await connection.send(answer(request)) } }
/// }
/// ```
public final class GroupSocketListener: Sendable {
    /// The listener's name.
    public let name: GroupIPCName
    /// The socket's path.
    public let path: GroupSocketPath

    private let acceptor: SocketAcceptor
    private let sharing: Sharing
    private let rule: PeerRule
    private let maximumMessageSize: Int
    private let refusals = Atomic(0)

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - name: The name within the group; see ``GroupIPCName``.
    ///   - container: The group's container.
    ///   - peers: The rule for peers.
    ///   - maximumMessageSize: The largest message that its connections accept, in bytes, at most 2^30.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `socketInUse` if another process listens under that name, or
    ///   another kind of file has it; the errors of `GroupContainer.open`; `file`.
    public init(
        _ name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = GroupSocketConnection.defaultMessageSize
    ) throws(AppGroupError) {
        self.name = try GroupIPCName(name, in: container.group)
        path = GroupSocketPath(self.name, in: container)
        rule = peers
        self.maximumMessageSize = maximumMessageSize
        sharing = container.sharing
        acceptor = try SocketAcceptor(try SocketPlace(self.name, in: container, creating: true))
    }

    /// The number of refused connections since the start: of processes that may not use the container, and of peers
    /// that the rule refuses.
    public var refusedConnections: Int { refusals.load(ordering: .relaxed) }

    /// Returns the next connection; blocks the calling thread. Refused connections are closed without a report. The
    /// call waits if the process or the system has no free descriptor or memory.
    ///
    /// - Parameter timeout: nil waits without a limit.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` after the listener is closed; `file` if the system
    ///   call fails.
    public func accept(timeout: Duration? = nil) throws(AppGroupError) -> GroupSocketConnection {
        let wait = SocketWait(timeout, name)
        while true { if let connection = judged(try acceptor.accept(wait)) { return connection } }
    }

    /// Returns the next connection, for tasks; see the synchronous form. The rule for peers runs on a thread of its
    /// own.
    public func accept(timeout: Duration? = nil) async throws(AppGroupError) -> GroupSocketConnection {
        let wait = SocketWait(timeout, name)
        while true {
            if let connection = try await judgedElsewhere(try await acceptor.accept(wait)) { return connection }
        }
    }

    /// Returns a sequence of every connection until the listener is closed or the task is cancelled.
    ///
    /// The sequence throws if the system call fails; the listener is then closed.
    public func connections() -> AsyncThrowingStream<GroupSocketConnection, any Error> {
        AsyncThrowingStream { () async throws -> GroupSocketConnection? in
            do throws(AppGroupError) {
                return try await self.accept()
            } catch {
                if error.code == .cancelled || (error.code == .connectionLost && self.acceptor.isEnded) { return nil }
                // Without a consumer no connection would be answered.
                self.close()
                throw error
            }
        }
    }

    /// Stops listening and removes the name. Accepted connections stay open; a second call has no effect.
    public func close() { acceptor.close() }
}

// MARK: Accepting

extension GroupSocketListener {
    private func judged(_ socket: Int32) -> GroupSocketConnection? {
        let connected = Descriptor(owning: socket, path: path.path)
        guard let peer = try? GroupPeer(of: connected, sharing, rule) else {
            refusals.add(1, ordering: .relaxed)
            return nil
        }
        return GroupSocketConnection(connected, peer, name, maximumMessageSize)
    }

    private func judgedElsewhere(_ socket: Int32) async throws(AppGroupError) -> GroupSocketConnection? {
        do throws(AppGroupError) {
            // Without a limit it fails only if no thread can be created, before it has begun.
            return try await IPCThreads.peers.run(nil, "accept", name) { (_) throws(AppGroupError) in
                self.judged(socket)
            }
        } catch {
            Glibc.close(socket)
            throw error
        }
    }
}

/// The path of a group's UNIX domain socket, with checks that it fits into a socket address.
///
/// ``GroupSocketListener`` and ``GroupSocketConnection`` accept every path: they use an open directory for a long one.
/// Other programs pass the path to connect(2), and need one that fits.
public struct GroupSocketPath: Hashable, Sendable, CustomStringConvertible {
    /// The longest path in bytes for Linux: `sun_path` has 108, including the terminating one (unix(7)).
    public static let linuxLimit = 107
    /// The longest path in bytes for Apple's systems: `SOCK_MAXADDRLEN` is 255, two of them for length and family.
    /// Programs that use `sockaddr_un` as its header declares it have 104 bytes, including the terminating one.
    public static let darwinLimit = 253

    /// The whole path.
    public let path: String

    /// The whole path.
    public var description: String { path }

    /// Creates an arbitrary path, to be checked.
    public init(_ path: String) { self.path = path }

    /// Creates the socket's path in a container: `.sockets/<name>`.
    public init(_ name: GroupIPCName, in container: GroupContainer) {
        path = "\(container.path)/\(ContainerLayout.sockets)/\(name.name)"
    }

    /// Returns the path if a program on Linux can pass it to connect(2).
    ///
    /// - Throws: ``AppGroupError`` with `ipcNameTooLong`.
    public func linuxPath() throws(AppGroupError) -> String {
        try limited(
            to: Self.linuxLimit, "sun_path holds", "Connect through this library, or through a shorter symbolic link.")
    }

    /// Returns the path if it is short enough for Apple's systems.
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
