public import AppGroups
internal import SharedFiles

/// A connection between two programs of an app group: whole messages, in order, both ways.
///
/// Only one call sends and one receives at a time; others wait for their turn, within their limit. A connection may be
/// used from any thread. Calls of tasks wait without a thread, for any number of connections, and end when their task
/// is cancelled. Descriptors that the peer attaches to its bytes are never accepted.
public final class GroupSocketConnection: Sendable {
    /// The default size of the largest message: 1 MiB.
    public static let defaultMessageSize = 1 << 20

    /// The listener's name.
    public var name: GroupIPCName { messages.name }
    /// The peer: the process that connected, or the one that began to listen.
    public let peer: GroupPeer
    /// The largest message that is sent or received here, in bytes.
    public var maximumMessageSize: Int { messages.maximumMessageSize }

    private let messages: MessageSocket

    init(_ socket: consuming Descriptor, _ peer: GroupPeer, _ name: GroupIPCName, _ maximumMessageSize: Int) {
        self.peer = peer
        messages = MessageSocket(socket, name, maximumMessageSize)
    }

    /// Connects to a program of the group that listens under a name.
    ///
    /// - Parameters:
    ///   - name: The listener's name within the group.
    ///   - container: The group's container.
    ///   - peers: The rule for the listener.
    ///   - timeout: The time limit while the listener's backlog is full.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `nobodyListens`; `peerRefused` if the listener may not use
    ///   the container or `peers` refuses it, `peerUnknown` if that cannot be determined; `timeout`; `file` if another
    ///   kind of file has the name; the errors of `GroupContainer.open`.
    public convenience init(
        to name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = defaultMessageSize, timeout: Duration = .seconds(10)
    ) throws(AppGroupError) {
        let checked = try GroupIPCName(name, in: container.group)
        let place = try SocketPlace(checked, in: container, creating: false)
        try self.init(try place.connect(SocketWait(timeout, checked)), at: place, peers, maximumMessageSize)
    }

    /// Connects, for tasks; see the synchronous form.
    public static func connect(
        to name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = defaultMessageSize, timeout: Duration = .seconds(10)
    ) async throws(AppGroupError) -> GroupSocketConnection {
        let checked = try GroupIPCName(name, in: container.group)
        let wait = SocketWait(timeout, checked)
        while true {
            let attempt = try await IPCThreads.peers.run(wait.remaining, "connect to", checked) {
                (_) throws(AppGroupError) -> GroupSocketConnection? in
                let place = try SocketPlace(checked, in: container, creating: false)
                guard let socket = try place.connectAtOnce() else { return nil }
                return try GroupSocketConnection(socket, at: place, peers, maximumMessageSize)
            }
            if let attempt { return attempt }
            try await wait.pause(.milliseconds(5))
        }
    }

    private convenience init(
        _ socket: consuming Descriptor, at place: SocketPlace, _ peers: PeerRule, _ maximumMessageSize: Int
    ) throws(AppGroupError) {
        let peer: GroupPeer
        do throws(PeerRefusal) {
            peer = try GroupPeer(of: socket, place.sharing, peers)
        } catch {
            throw .ipc(
                error.code, "connect to", place.name.description, "the listening process \(error.words)",
                "See the process: ss -xlp")
        }
        self.init(socket, peer, place.name, maximumMessageSize)
    }
}

// MARK: Messages

extension GroupSocketConnection {
    /// Sends a message. Returns when the system has all of it, which may be before the peer has received it.
    ///
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, and nothing was sent; `timeout` if the peer does not
    ///   receive, which closes the connection if a part was sent; `connectionLost`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try messages.send(message, SocketWait(timeout, name))
    }

    /// Sends a message, for tasks; see the synchronous form.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        try await messages.send(message, SocketWait(timeout, name))
    }

    /// Announces that nothing more will be sent: the peer's `receive` returns nil after the last message. Further calls
    /// have no effect.
    ///
    /// Blocks the calling thread while the peer does not receive.
    /// - Throws: ``AppGroupError`` as ``send(_:timeout:)-7z0m8``.
    public func finish(timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try messages.finish(SocketWait(timeout, name))
    }

    /// Receives the next message; returns nil when the peer has finished.
    ///
    /// A partial message at the time limit is kept for the next call.
    /// - Parameter timeout: nil waits without a limit.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` if the peer closed without finishing;
    ///   `messageTooLarge`, after which the connection is closed.
    public func receive(timeout: Duration? = nil) throws(AppGroupError) -> [UInt8]? {
        try messages.receive(SocketWait(timeout, name))
    }

    /// Receives the next message, for tasks; see the synchronous form.
    public func receive(timeout: Duration? = nil) async throws(AppGroupError) -> [UInt8]? {
        try await messages.receive(SocketWait(timeout, name))
    }

    /// Closes the connection: the peer gets `connectionLost`, unless ``finish(timeout:)`` was called before. Releasing
    /// the connection has the same effect.
    public func close() { messages.close() }
}
