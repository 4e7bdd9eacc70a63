internal import Dispatch
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A connection between two programs of an app group: whole messages, in order, both ways.
///
/// One call sends and one receives at a time; others wait for their turn, within their limit. It may be used from any thread.
/// Descriptors that the other end attaches to its bytes are never taken.
public final class GroupSocketConnection: Sendable {
    /// Bytes of the largest message unless stated: 1 MiB.
    public static let defaultMessageSize = 1 << 20

    /// The name that the listener has.
    public let name: GroupIPCName
    /// Who is at the other end: the process that connected, or the one that began to listen.
    public let peer: GroupPeer
    /// Bytes of the largest message that is sent or received here.
    public let maximumMessageSize: Int

    private let socket: Descriptor
    private let sending = DispatchSemaphore(value: 1)
    private let receiving = DispatchSemaphore(value: 1)
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
    ///   - peers: Which listeners it talks to.
    ///   - timeout: How long to wait while too many others wait to be accepted.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `nobodyListens`; `peerRefused` where whoever listens may not use the
    ///   container or is not one of `peers`; `timeout`; `file` where something else has the name; those of
    ///   `GroupContainer.open`.
    public convenience init(
        to name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = defaultMessageSize, timeout: Duration = .seconds(10)
    ) throws(AppGroupError) {
        try self.init(name, container, peers, maximumMessageSize, timeout) { false }
    }

    /// Connects, for tasks; see the form without `async`.
    public static func connect(
        to name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = defaultMessageSize, timeout: Duration = .seconds(10)
    ) async throws(AppGroupError) -> GroupSocketConnection {
        let checked = try GroupIPCName(name, in: container.group)
        return try await IPCThreads.run(timeout, "connect to", checked) { (call) throws(AppGroupError) in
            try GroupSocketConnection(name, container, peers, maximumMessageSize, call.remaining ?? .zero) {
                call.isCancelled
            }
        }
    }

    private convenience init(
        _ name: String, _ container: GroupContainer, _ peers: PeerRule, _ maximumMessageSize: Int, _ timeout: Duration,
        _ isCancelled: () -> Bool
    ) throws(AppGroupError) {
        let name = try GroupIPCName(name, in: container.group)
        let place = try SocketPlace(name, in: container, creating: false)
        let socket = try place.connect(timeout, isCancelled: isCancelled)
        guard let peer = GroupPeer(of: socket, place.sharing, peers) else {
            throw .ipc(
                .peerRefused, "connect to", name.description, "whoever listens there is not one to talk to",
                "See who it is: ss -xlp")
        }
        self.init(socket, peer, name, maximumMessageSize)
    }
}

// MARK: Sending

extension GroupSocketConnection {
    /// Sends a message. It returns when the system has all of it, which is not when the other end has received it.
    ///
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, and nothing was sent; `timeout` where the other end does not receive:
    ///   the connection is over if a part was sent; `connectionLost`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        try send(message, SocketWait(timeout, name, isCancelled: nil))
    }

    /// Sends a message, for tasks; see the form without `async`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        try await IPCThreads.run(timeout, "send to", name) { (call) throws(AppGroupError) in
            try self.send(message, SocketWait(call.remaining, self.name) { call.isCancelled })
        }
    }

    /// Says that nothing more will be sent: the other end's `receive` gets nil after the last message.
    ///
    /// - Throws: ``AppGroupError`` as ``send(_:timeout:)-7z0m8``.
    public func finish(timeout: Duration = .seconds(10)) throws(AppGroupError) {
        if hasFinished.exchange(true, ordering: .acquiringAndReleasing) { return }
        let wait = SocketWait(timeout, name, isCancelled: nil)
        try takingTurn(sending, wait) { () throws(AppGroupError) in try push(MessageFrame.finishBytes, wait) }
        shutdown(socket.rawValue, Int32(SHUT_WR))
    }

    private func send(_ message: [UInt8], _ wait: SocketWait) throws(AppGroupError) {
        guard message.count <= maximumMessageSize else { throw tooLarge(message.count) }
        try takingTurn(sending, wait) { () throws(AppGroupError) in
            if hasFinished.load(ordering: .acquiring) { throw .lost(name, "this end has finished") }
            try push(MessageFrame.bytes(of: message), wait)
        }
    }

    private func push(_ bytes: [UInt8], _ wait: SocketWait) throws(AppGroupError) {
        var sent = 0
        while sent < bytes.count {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            let number = errno
            if count >= 0 {
                sent += count
            } else if number == EAGAIN {
                do throws(AppGroupError) { try wait.step(Int16(POLLOUT), at: socket) } catch {
                    // Whoever receives the next bytes would take them for the rest of this message.
                    if sent > 0 { close() }
                    throw error
                }
            } else if number != EINTR {
                close()
                throw .lost(name, "the other end is gone")
            }
        }
    }
}

// MARK: Receiving

extension GroupSocketConnection {
    /// The next message; nil when the other end has finished.
    ///
    /// What has come of a message when the time is over is kept for the next call.
    /// - Parameter timeout: nil waits for as long as it takes.
    /// - Throws: ``AppGroupError`` with `timeout`; `connectionLost` where the other end is gone without having finished;
    ///   `messageTooLarge`, after which the connection is over.
    public func receive(timeout: Duration? = nil) throws(AppGroupError) -> [UInt8]? {
        try receive(SocketWait(timeout, name, isCancelled: nil))
    }

    /// The next message, for tasks; see the form without `async`.
    public func receive(timeout: Duration? = nil) async throws(AppGroupError) -> [UInt8]? {
        try await IPCThreads.run(timeout, "receive from", name) { (call) throws(AppGroupError) in
            try self.receive(SocketWait(timeout == nil ? nil : call.remaining, self.name) { call.isCancelled })
        }
    }

    private func receive(_ wait: SocketWait) throws(AppGroupError) -> [UInt8]? {
        try takingTurn(receiving, wait) { () throws(AppGroupError) in
            while true {
                switch incoming.withLock({ $0.isFinished ? .finished : $0.assembler.next() }) {
                case .message(let message): return message
                case .finished:
                    incoming.withLock { $0.isFinished = true }
                    return nil
                case .tooLarge(let count):
                    close()
                    throw tooLarge(count)
                case .needs(let count): try pull(count, wait)
                }
            }
        }
    }

    private func pull(_ count: Int, _ wait: SocketWait) throws(AppGroupError) {
        while true {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let result = withUnsafeTemporaryAllocation(byteCount: min(count, 1 << 16), alignment: 1) { space in
                let got = recv(socket.rawValue, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
                let number = errno
                if got > 0 { incoming.withLock { $0.assembler.append(space[..<got]) } }
                return got < 0 ? -Int(number) : got
            }
            switch result {
            case 1...: return
            case -Int(EAGAIN): try wait.step(Int16(POLLIN), at: socket)
            case -Int(EINTR): continue
            default:
                close()
                throw .lost(name, "the other end is gone without having finished")
            }
        }
    }

    private func tooLarge(_ count: Int) -> AppGroupError {
        .ipc(
            .messageTooLarge, "pass a message through", name.description,
            "it has \(count) bytes and the limit is \(maximumMessageSize)",
            "Send less at once, or raise maximumMessageSize at both ends.")
    }
}

// MARK: Ending

extension GroupSocketConnection {
    /// Ends the connection at once: the other end is told `connectionLost`, unless ``finish(timeout:)`` came before. Letting go of
    /// the connection does the same.
    public func close() {
        isBroken.store(true, ordering: .releasing)
        // Whoever waits here is woken; the descriptor itself lives as long as this object.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
    }

    private func takingTurn<Result>(
        _ turn: DispatchSemaphore, _ wait: SocketWait, _ body: () throws(AppGroupError) -> Result
    ) throws(AppGroupError) -> Result {
        let limit = wait.remaining.map { DispatchTime.now() + .nanoseconds($0.clampedNanoseconds) } ?? .distantFuture
        guard turn.wait(timeout: limit) == .success else { throw .waiting(.timeout, name) }
        defer { turn.signal() }
        return try body()
    }
}

extension Duration {
    fileprivate var clampedNanoseconds: Int {
        let part = min(self, .seconds(1 << 31)).components
        return Int(part.seconds) * 1_000_000_000 + Int(part.attoseconds / 1_000_000_000)
    }
}
