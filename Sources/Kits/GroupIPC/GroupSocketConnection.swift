public import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A connection between two programs of an app group: whole messages, in order, both ways.
///
/// Only one call sends and one receives at a time; others wait for their turn, within their limit. A connection may be
/// used from any thread. Calls of tasks wait without a thread, for any number of connections, and end when their task
/// is cancelled. Descriptors that the peer attaches to its bytes are never accepted.
public final class GroupSocketConnection: Sendable {
    /// The default size of the largest message: 1 MiB.
    public static let defaultMessageSize = 1 << 20

    /// The listener's name.
    public let name: GroupIPCName
    /// The peer: the process that connected, or the one that began to listen.
    public let peer: GroupPeer
    /// The largest message that is sent or received here, in bytes.
    public let maximumMessageSize: Int

    private let socket: Descriptor
    private let sending = SocketTurn()
    private let receiving = SocketTurn()
    private let incoming: Mutex<Incoming>
    private let isBroken = Atomic(false)
    private let hasFinished = Atomic(false)

    private struct Incoming: Sendable {
        var assembler: MessageAssembler
        var isFinished = false
    }

    init(_ socket: consuming Descriptor, _ peer: GroupPeer, _ name: GroupIPCName, _ maximumMessageSize: Int) {
        self.socket = socket
        self.peer = peer
        self.name = name
        self.maximumMessageSize = min(max(0, maximumMessageSize), MessageFrame.largestMessage)
        incoming = Mutex(Incoming(assembler: MessageAssembler(limit: self.maximumMessageSize)))
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

// MARK: Sending

extension GroupSocketConnection {
    /// Sends a message. Returns when the system has all of it, which may be before the peer has received it.
    ///
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, and nothing was sent; `timeout` if the peer does not
    ///   receive, which closes the connection if a part was sent; `connectionLost`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        let wait = SocketWait(timeout, name)
        let frame = try frame(of: message)
        try sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try push(frame, wait)
    }

    /// Sends a message, for tasks; see the synchronous form.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        let wait = SocketWait(timeout, name)
        let frame = try frame(of: message)
        try await sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try await push(frame, wait)
    }

    /// Announces that nothing more will be sent: the peer's `receive` returns nil after the last message. Further calls
    /// have no effect.
    ///
    /// Blocks the calling thread while the peer does not receive.
    /// - Throws: ``AppGroupError`` as ``send(_:timeout:)-7z0m8``.
    public func finish(timeout: Duration = .seconds(10)) throws(AppGroupError) {
        let wait = SocketWait(timeout, name)
        try sending.take(wait)
        defer { sending.end() }
        if hasFinished.load(ordering: .acquiring) { return }
        try push(MessageFrame.finishBytes, wait)
        hasFinished.store(true, ordering: .releasing)
        shutdown(socket.rawValue, Int32(SHUT_WR))
    }

    private func frame(of message: [UInt8]) throws(AppGroupError) -> [UInt8] {
        guard message.count <= maximumMessageSize else { throw tooLarge(message.count) }
        return MessageFrame.bytes(of: message)
    }

    private func requireUnfinished() throws(AppGroupError) {
        if hasFinished.load(ordering: .acquiring) { throw .lost(name, "this end has finished") }
    }

    private func push(_ frame: [UInt8], _ wait: SocketWait) throws(AppGroupError) {
        var rest = frame[...]
        while try !sendSome(of: &rest) {
            do throws(AppGroupError) { try wait.step(Int16(POLLOUT), at: socket) } catch {
                giveUp(rest.count < frame.count)
                throw error
            }
        }
    }

    private func push(_ frame: [UInt8], _ wait: SocketWait) async throws(AppGroupError) {
        var rest = frame[...]
        while try !sendSome(of: &rest) {
            do throws(AppGroupError) { try await wait.step(Int16(POLLOUT), at: socket.rawValue) } catch {
                giveUp(rest.count < frame.count)
                throw error
            }
        }
    }

    /// Closes the connection after a partial message, since the receiver would take later bytes for the rest of it.
    private func giveUp(_ wasSentInPart: Bool) {
        if wasSentInPart { close() }
    }

    /// Sends the bytes that the system accepts now; returns whether that was all.
    private func sendSome(of rest: inout ArraySlice<UInt8>) throws(AppGroupError) -> Bool {
        while !rest.isEmpty {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            let number = errno
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if number == EAGAIN {
                return false
            } else if number != EINTR {
                close()
                throw .lost(name, "the other end has closed")
            }
        }
        return true
    }
}

// MARK: Receiving

extension GroupSocketConnection {
    /// Receives the next message; returns nil when the peer has finished.
    ///
    /// A partial message at the time limit is kept for the next call.
    /// - Parameter timeout: nil waits without a limit.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` if the peer closed without finishing;
    ///   `messageTooLarge`, after which the connection is closed.
    public func receive(timeout: Duration? = nil) throws(AppGroupError) -> [UInt8]? {
        let wait = SocketWait(timeout, name)
        try receiving.take(wait)
        defer { receiving.end() }
        while true {
            switch try arrival() {
            case .message(let message): return message
            case .finished: return nil
            case .nothingYet: try wait.step(Int16(POLLIN), at: socket)
            }
        }
    }

    /// Receives the next message, for tasks; see the synchronous form.
    public func receive(timeout: Duration? = nil) async throws(AppGroupError) -> [UInt8]? {
        let wait = SocketWait(timeout, name)
        try await receiving.take(wait)
        defer { receiving.end() }
        while true {
            switch try arrival() {
            case .message(let message): return message
            case .finished: return nil
            case .nothingYet: try await wait.step(Int16(POLLIN), at: socket.rawValue)
            }
        }
    }

    private enum Arrival {
        case message([UInt8])
        case finished
        case nothingYet
    }

    /// Returns the next event without waiting.
    private func arrival() throws(AppGroupError) -> Arrival {
        while true {
            switch incoming.withLock({ $0.isFinished ? .finished : $0.assembler.next() }) {
            case .message(let message): return .message(message)
            case .finished:
                incoming.withLock { $0.isFinished = true }
                return .finished
            case .tooLarge(let count):
                close()
                throw tooLarge(count)
            case .needs(let count):
                if try !pull(count) { return .nothingYet }
            }
        }
    }

    /// Reads at most the given number of bytes; returns whether there were any.
    private func pull(_ count: Int) throws(AppGroupError) -> Bool {
        while true {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let result = withUnsafeTemporaryAllocation(byteCount: min(count, 1 << 16), alignment: 1) { space in
                let got = recv(socket.rawValue, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
                let number = errno
                if got > 0 { incoming.withLock { $0.assembler.append(space[..<got]) } }
                return got < 0 ? -Int(number) : got
            }
            switch result {
            case 1...: return true
            case -Int(EAGAIN): return false
            case -Int(EINTR): continue
            default:
                close()
                throw .lost(name, "the other end has closed without having finished")
            }
        }
    }

    private func tooLarge(_ count: Int) -> AppGroupError {
        .ipc(
            .messageTooLarge, "send a message through", name.description,
            "it has \(count) bytes and the limit is \(maximumMessageSize)",
            "Send less at once, or raise maximumMessageSize at both ends.")
    }
}

// MARK: Ending

extension GroupSocketConnection {
    /// Closes the connection: the peer gets `connectionLost`, unless ``finish(timeout:)`` was called before. Releasing
    /// the connection has the same effect.
    public func close() {
        isBroken.store(true, ordering: .releasing)
        // Wakes the waiting calls; the descriptor itself stays open as long as this object exists.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
    }
}
