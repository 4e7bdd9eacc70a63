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

    private let place: SocketPlace
    private let rule: PeerRule
    private let maximumMessageSize: Int
    private let listening: ListeningSocket
    private let refusals = Atomic(0)
    private let isClosed = Atomic(false)

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
        place = try SocketPlace(self.name, in: container, creating: true)
        listening = try place.listen()
    }

    // Does not wait for the lock: a name that stays is like a dead listener's.
    deinit { close(.zero) }

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
        while true {
            switch try next() {
            case .socket(let socket):
                if let connection = judged(socket) { return connection }
            case .noConnection: try wait.step(Int16(POLLIN), at: listening.socket)
            case .shortage: try wait.pause(Self.patience)
            }
        }
    }

    /// Returns the next connection, for tasks; see the synchronous form. The rule for peers runs on a thread of its
    /// own.
    public func accept(timeout: Duration? = nil) async throws(AppGroupError) -> GroupSocketConnection {
        let wait = SocketWait(timeout, name)
        while true {
            switch try next() {
            case .socket(let socket):
                if let connection = try await judgedElsewhere(socket) { return connection }
            case .noConnection: try await wait.step(Int16(POLLIN), at: listening.socket.rawValue)
            case .shortage: try await wait.pause(Self.patience)
            }
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
                if error.code == .cancelled || (error.code == .connectionLost && self.isEnded) { return nil }
                // Without a consumer no connection would be answered.
                self.close()
                throw error
            }
        }
    }

    private var isEnded: Bool { isClosed.load(ordering: .acquiring) }

    /// Stops listening and removes the name. Accepted connections stay open; a second call has no effect.
    public func close() { close(IPCPlace.lockLimit) }

    private func close(_ limit: Duration) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // Wakes the waiting calls; the descriptor itself stays open as long as this object exists.
        shutdown(listening.socket.rawValue, Int32(SHUT_RDWR))
        place.remove(listening.identity, limit)
    }
}

// MARK: Accepting

extension GroupSocketListener {
    /// The pause before the next attempt when the system has no resources for accepting.
    private static let patience = Duration.milliseconds(50)
    private static let shortages = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private enum Acceptance {
        /// A descriptor that the caller closes.
        case socket(Int32)
        case noConnection
        case shortage
    }

    /// Accepts the first waiting connection without blocking.
    private func next() throws(AppGroupError) -> Acceptance {
        if isEnded { throw .lost(name, "the listener was closed") }
        switch LocalSocket.accept(listening.socket) {
        case .success(let accepted): return accepted.map(Acceptance.socket) ?? .noConnection
        case .failure(let error):
            if isEnded { throw .lost(name, "the listener was closed") }
            if Self.shortages.contains(error.number) { return .shortage }
            throw AppGroupError(
                FileError(errno: error.number, operation: "accept at", path: path.path), "accept", ipc: name)
        }
    }

    private func judged(_ socket: Int32) -> GroupSocketConnection? {
        let connected = Descriptor(owning: socket, path: path.path)
        guard let peer = try? GroupPeer(of: connected, place.sharing, rule) else {
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
