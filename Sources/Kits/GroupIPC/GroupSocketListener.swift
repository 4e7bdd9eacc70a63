public import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// Listens at a UNIX domain socket in an app group's container: `.sockets/<name>`.
///
/// Only those can connect who may use the container, which the kernel vouches for; a ``PeerRule`` narrows that down. The name
/// belongs to one listener at a time: what a dead one left is taken over, a living one is not.
///
/// ```swift
/// let listener = try GroupSocketListener("refresh", in: container)
/// for try await connection in listener.connections() {
///     Task { while let request = try await connection.receive() { try await connection.send(answer(request)) } }
/// }
/// ```
public final class GroupSocketListener: Sendable {
    /// Its name.
    public let name: GroupIPCName
    /// Where it lies.
    public let path: GroupSocketPath

    private let place: SocketPlace
    private let rule: PeerRule
    private let maximumMessageSize: Int
    private let listening: ListeningSocket
    private let refusals = Atomic(0)
    private let isClosed = Atomic(false)

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - name: Its name within the group; see ``GroupIPCName``.
    ///   - container: The group's container.
    ///   - peers: Whom it talks to.
    ///   - maximumMessageSize: Bytes of the largest message that its connections take, at most 2^30.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `socketInUse` where another process listens under that name, or
    ///   something else has it; those of `GroupContainer.open`; `file`.
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

    // Whoever lets go of it does not wait for a lock: a name that stays is a dead listener's.
    deinit { close(.zero) }

    /// How many connections were refused since it began to listen: of strangers, and of those whom the rule does not accept.
    public var refusedConnections: Int { refusals.load(ordering: .relaxed) }

    /// The next connection. Blocks the calling thread. Those that are refused are closed and not told.
    ///
    /// - Parameter timeout: nil waits for as long as it takes.
    /// Where the process or the system has no descriptor or memory left, it goes on once there is.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` once it is closed; `file` where the system refuses.
    public func accept(timeout: Duration? = nil) throws(AppGroupError) -> GroupSocketConnection {
        let wait = SocketWait(timeout, name)
        while true {
            switch try next() {
            case .socket(let socket):
                if let connection = judged(socket) { return connection }
            case .nobody: try wait.step(Int16(POLLIN), at: listening.socket)
            case .shortage: try wait.pause(Self.patience)
            }
        }
    }

    /// The next connection, for tasks; see the form without `async`. The rule for peers is asked on a thread of its own.
    public func accept(timeout: Duration? = nil) async throws(AppGroupError) -> GroupSocketConnection {
        let wait = SocketWait(timeout, name)
        while true {
            switch try next() {
            case .socket(let socket):
                if let connection = try await judgedElsewhere(socket) { return connection }
            case .nobody: try await wait.step(Int16(POLLIN), at: listening.socket.rawValue)
            case .shortage: try await wait.pause(Self.patience)
            }
        }
    }

    /// Every connection until the listener is closed, which ends the sequence, or its task is cancelled.
    ///
    /// It ends with an error where the system refuses to accept any; then the listener is closed.
    public func connections() -> AsyncThrowingStream<GroupSocketConnection, any Error> {
        AsyncThrowingStream { () async throws -> GroupSocketConnection? in
            do throws(AppGroupError) {
                return try await self.accept()
            } catch {
                if error.code == .cancelled || (error.code == .connectionLost && self.isEnded) { return nil }
                // Nobody would answer those who connect.
                self.close()
                throw error
            }
        }
    }

    private var isEnded: Bool { isClosed.load(ordering: .acquiring) }

    /// Ends the listening and takes the name away. Connections that were accepted go on; calling it again does nothing.
    public func close() { close(IPCPlace.lockLimit) }

    private func close(_ limit: Duration) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // Whoever waits to accept is woken; the descriptor itself lives as long as this object.
        shutdown(listening.socket.rawValue, Int32(SHUT_RDWR))
        place.remove(listening.identity, limit)
    }
}

// MARK: Accepting

extension GroupSocketListener {
    /// How long it does not accept where the system has nothing left to accept with.
    private static let patience = Duration.milliseconds(50)
    private static let shortages = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private enum Acceptance {
        /// A descriptor that is the caller's to close.
        case socket(Int32)
        case nobody
        case shortage
    }

    /// Who waits first, without waiting.
    private func next() throws(AppGroupError) -> Acceptance {
        if isEnded { throw .lost(name, "the listener was closed") }
        switch LocalSocket.accept(listening.socket) {
        case .success(let accepted): return accepted.map(Acceptance.socket) ?? .nobody
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
            // Without a limit it fails only where there is no thread at all, before it began.
            return try await IPCThreads.peers.run(nil, "accept", name) { (_) throws(AppGroupError) in
                self.judged(socket)
            }
        } catch {
            Glibc.close(socket)
            throw error
        }
    }
}

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
