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

    deinit { close() }

    /// How many connections were refused since it began to listen: of strangers, and of those whom the rule does not accept.
    public var refusedConnections: Int { refusals.load(ordering: .relaxed) }

    /// The next connection. Blocks the calling thread. Those that are refused are closed and not told.
    ///
    /// - Parameter timeout: nil waits for as long as it takes.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` once it is closed; `file` where the system refuses.
    public func accept(timeout: Duration? = nil) throws(AppGroupError) -> GroupSocketConnection {
        try accept(SocketWait(timeout, name, isCancelled: nil))
    }

    /// The next connection, for tasks; see the form without `async` and ``GroupSemaphore/wait(timeout:)`` on threads.
    public func accept(timeout: Duration? = nil) async throws(AppGroupError) -> GroupSocketConnection {
        try await IPCThreads.run(timeout, "accept", name) { (call) throws(AppGroupError) in
            try self.accept(SocketWait(timeout == nil ? nil : call.remaining, self.name) { call.isCancelled })
        }
    }

    /// Every connection until the listener is closed, which ends the sequence, or its task is cancelled.
    ///
    /// It ends with an error where the system refuses to accept any.
    public func connections() -> AsyncThrowingStream<GroupSocketConnection, any Error> {
        AsyncThrowingStream { () async throws -> GroupSocketConnection? in
            do throws(AppGroupError) {
                return try await self.accept()
            } catch {
                if error.code == .cancelled || (error.code == .connectionLost && self.isEnded) { return nil }
                throw error
            }
        }
    }

    private var isEnded: Bool { isClosed.load(ordering: .acquiring) }

    /// Ends the listening and takes the name away. Connections that were accepted go on; calling it again does nothing.
    public func close() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // Whoever waits to accept is woken; the descriptor itself lives as long as this object.
        shutdown(listening.socket.rawValue, Int32(SHUT_RDWR))
        place.remove(listening.identity)
    }

    private func accept(_ wait: SocketWait) throws(AppGroupError) -> GroupSocketConnection {
        while true {
            if isEnded { throw .lost(name, "the listener was closed") }
            switch LocalSocket.accept(listening.socket) {
            case .success(let accepted?):
                let connected = Descriptor(owning: accepted, path: path.path)
                guard let peer = GroupPeer(of: connected, place.sharing, rule) else {
                    refusals.add(1, ordering: .relaxed)
                    continue
                }
                return GroupSocketConnection(connected, peer, name, maximumMessageSize)
            case .success(nil):
                try wait.step(Int16(POLLIN), at: listening.socket)
            case .failure(let error) where !isEnded:
                throw AppGroupError(
                    FileError(errno: error.number, operation: "accept at", path: path.path), "accept", ipc: name)
            case .failure: break
            }
        }
    }
}
