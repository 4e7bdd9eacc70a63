public import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A connection between two programs of an app group: whole messages, in order, both ways.
///
/// One call sends and one receives at a time; others wait for their turn, within their limit. It may be used from any thread.
/// Calls of tasks wait without a thread, however many connections there are, and end when their task is cancelled.
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
    ///   - peers: Which listeners it talks to.
    ///   - timeout: How long to wait while too many others wait to be accepted.
    /// - Throws: ``AppGroupError`` with `invalidIPCName`; `nobodyListens`; `peerRefused` where whoever listens may not use the
    ///   container or is not one of `peers`, `peerUnknown` where that cannot be told; `timeout`; `file` where something else has the name; those of
    ///   `GroupContainer.open`.
    public convenience init(
        to name: String, in container: GroupContainer, peers: PeerRule = .anyMember,
        maximumMessageSize: Int = defaultMessageSize, timeout: Duration = .seconds(10)
    ) throws(AppGroupError) {
        let checked = try GroupIPCName(name, in: container.group)
        let place = try SocketPlace(checked, in: container, creating: false)
        try self.init(try place.connect(SocketWait(timeout, checked)), at: place, peers, maximumMessageSize)
    }

    /// Connects, for tasks; see the form without `async`.
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
                error.code, "connect to", place.name.description, "whoever listens there \(error.words)",
                "See who it is: ss -xlp")
        }
        self.init(socket, peer, place.name, maximumMessageSize)
    }
}

// MARK: Sending

extension GroupSocketConnection {
    /// Sends a message. It returns when the system has all of it, which is not when the other end has received it.
    ///
    /// - Throws: ``AppGroupError`` with `messageTooLarge`, and nothing was sent; `timeout` where the other end does not receive:
    ///   the connection is over if a part was sent; `connectionLost`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) throws(AppGroupError) {
        let wait = SocketWait(timeout, name)
        let frame = try frame(of: message)
        try sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try push(frame, wait)
    }

    /// Sends a message, for tasks; see the form without `async`.
    public func send(_ message: [UInt8], timeout: Duration = .seconds(10)) async throws(AppGroupError) {
        let wait = SocketWait(timeout, name)
        let frame = try frame(of: message)
        try await sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try await push(frame, wait)
    }

    /// Says that nothing more will be sent: the other end's `receive` gets nil after the last message. Calling it again does
    /// nothing, once it has been said.
    ///
    /// Blocks the calling thread where the other end does not receive.
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

    /// Whoever receives what follows a part of a message would take it for the rest of that.
    private func giveUp(_ wasSentInPart: Bool) {
        if wasSentInPart { close() }
    }

    /// Sends what the system takes now; whether that was all.
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
                throw .lost(name, "the other end is gone")
            }
        }
        return true
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

    /// The next message, for tasks; see the form without `async`.
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

    /// What has come, without waiting.
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

    /// Takes what is there of so many bytes; whether anything was.
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
}
