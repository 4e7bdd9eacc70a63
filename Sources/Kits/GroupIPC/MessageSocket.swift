internal import AppGroups
internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// One end of a stream of whole messages, in order, both ways.
///
/// Only one call sends and one receives at a time; others wait for their turn, within their limit. Descriptors that the
/// peer attaches to its bytes are never accepted.
final class MessageSocket: Sendable {
    let name: GroupIPCName
    /// The largest message that is sent here, in bytes.
    let maximumMessageSize: Int

    private let socket: Descriptor
    private let sending = SocketTurn()
    private let receiving = SocketTurn()
    private let incoming: Mutex<Incoming>
    private let isBroken = Atomic(false)
    private let hasFinished = Atomic(false)
    /// The first bytes of this end carry its process's credentials.
    private let owesCredentials: Atomic<Bool>

    private struct Incoming: Sendable {
        var assembler: MessageAssembler
        var isFinished = false
        /// Every received byte must come from the same process.
        var seeksSender: Bool
        var sender: LocalSocket.Credentials?
    }

    /// - Parameters:
    ///   - firstMessageSize: The largest message that is received before `acceptFullMessages`. With it, all bytes until
    ///     then must carry the credentials of one process, and the first ones that are sent here carry this process's.
    init(
        _ socket: consuming Descriptor, _ name: GroupIPCName, _ maximumMessageSize: Int, firstMessageSize: Int? = nil
    ) {
        let exchangingCredentials = firstMessageSize != nil
        // If this fails, no sender becomes known, and the peer is refused.
        if exchangingCredentials { _ = clinux_pass_credentials(socket.rawValue) }
        self.socket = socket
        self.name = name
        self.maximumMessageSize = min(max(0, maximumMessageSize), MessageFrame.largestMessage)
        owesCredentials = Atomic(exchangingCredentials)
        incoming = Mutex(
            Incoming(
                assembler: MessageAssembler(limit: firstMessageSize ?? self.maximumMessageSize),
                seeksSender: exchangingCredentials))
    }

    /// The process that sent all bytes until `acceptFullMessages`; nil before any were received.
    var sender: LocalSocket.Credentials? { incoming.withLock { $0.sender } }
    /// The process that connected, or that began to listen.
    var connected: LocalSocket.Credentials? { LocalSocket.credentials(of: socket) }
    /// Nothing can be sent or received any more.
    var isClosed: Bool { isBroken.load(ordering: .acquiring) }

    /// Ends the restrictions on the first message.
    func acceptFullMessages() {
        incoming.withLock { incoming in
            incoming.seeksSender = false
            incoming.assembler.limit = maximumMessageSize
        }
    }
}

// MARK: Sending

extension MessageSocket {
    /// See ``GroupSocketConnection``, as for the other calls.
    func send(_ message: [UInt8], _ wait: SocketWait) throws(AppGroupError) {
        let frame = try frame(of: message)
        try sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try push(frame, wait)
    }

    func send(_ message: [UInt8], _ wait: SocketWait) async throws(AppGroupError) {
        let frame = try frame(of: message)
        try await sending.take(wait)
        defer { sending.end() }
        try requireUnfinished()
        try await push(frame, wait)
    }

    func finish(_ wait: SocketWait) throws(AppGroupError) {
        try sending.take(wait)
        defer { sending.end() }
        if hasFinished.load(ordering: .acquiring) { return }
        try push(MessageFrame.finishBytes, wait)
        hasFinished.store(true, ordering: .releasing)
        shutdown(socket.rawValue, Int32(SHUT_WR))
    }

    /// - Throws: `AppGroupError` `messageTooLarge`.
    func frame(of message: [UInt8]) throws(AppGroupError) -> [UInt8] {
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
    ///
    /// - Throws: `AppGroupError` `connectionLost`.
    func sendSome(of rest: inout ArraySlice<UInt8>) throws(AppGroupError) -> Bool {
        while !rest.isEmpty {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let count = rest.withUnsafeBytes(push)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if count == -Int(EAGAIN) {
                return false
            } else if count != -Int(EINTR) {
                close()
                throw .lost(name, "the other end has closed")
            }
        }
        return true
    }

    /// Returns the number of bytes that were sent, or -errno.
    private func push(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard owesCredentials.load(ordering: .acquiring) else {
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = Glibc.send(socket.rawValue, bytes.baseAddress, bytes.count, flags)
            return count < 0 ? -Int(errno) : count
        }
        let count = Int(clinux_send_credentials(socket.rawValue, bytes.baseAddress, UInt64(bytes.count)))
        if count > 0 { owesCredentials.store(false, ordering: .releasing) }
        return count
    }
}

// MARK: Receiving

extension MessageSocket {
    func receive(_ wait: SocketWait) throws(AppGroupError) -> [UInt8]? {
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

    func receive(_ wait: SocketWait) async throws(AppGroupError) -> [UInt8]? {
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

    enum Arrival: Sendable {
        case message([UInt8])
        case finished
        case nothingYet
    }

    /// Returns the next event without waiting.
    ///
    /// - Parameter reads: The number of times that the socket may still be read.
    /// - Throws: `AppGroupError` with `messageTooLarge`, `connectionLost`.
    func arrival(_ reads: inout Int) throws(AppGroupError) -> Arrival {
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
                guard reads > 0, try pull(count) else { return .nothingYet }
                reads -= 1
            }
        }
    }

    private func arrival() throws(AppGroupError) -> Arrival {
        var reads = Int.max
        return try arrival(&reads)
    }

    /// Reads bytes, at most 65,536; returns whether there were any.
    ///
    /// - Parameter count: The bytes of the present message that are missing. No others are read while all bytes have to
    ///   come from one process.
    private func pull(_ count: Int) throws(AppGroupError) -> Bool {
        let least = incoming.withLock { $0.seeksSender } ? 0 : Self.smallestRead
        while true {
            if isBroken.load(ordering: .acquiring) { throw .lost(name, "it was closed") }
            let size = min(max(count, least), 1 << 16)
            let result = withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { space in
                let got = take(into: space)
                if got > 0 { incoming.withLock { $0.assembler.append(space[..<got]) } }
                return got
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

    /// A read gets the header of a small message with its rest, and the messages behind it, on the stack.
    private static let smallestRead = 1024

    /// Returns the number of bytes that were received, or -errno.
    private func take(into space: UnsafeMutableRawBufferPointer) -> Int {
        guard incoming.withLock({ $0.seeksSender }) else {
            let count = recv(socket.rawValue, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            return count < 0 ? -Int(errno) : count
        }
        var facts = clinux_sender()
        let count = clinux_receive_credentials(socket.rawValue, space.baseAddress, UInt64(space.count), &facts)
        guard count > 0 else { return Int(count) }
        let sender =
            facts.is_known == 0
            ? nil : LocalSocket.Credentials(process: facts.process, user: facts.user, group: facts.group)
        // The kernel never joins the bytes of two processes. A process could have another one write the first bytes of
        // a message, to be taken for it.
        let isTheSame = incoming.withLock { incoming in
            defer { incoming.sender = sender }
            return sender != nil && (incoming.sender == nil || incoming.sender == sender)
        }
        return isTheSame ? Int(count) : 0
    }

    private func tooLarge(_ count: Int) -> AppGroupError {
        .ipc(
            .messageTooLarge, "send a message through", name.description,
            "it has \(count) bytes and the limit is \(incoming.withLock { $0.assembler.limit })",
            "Send less at once, or raise maximumMessageSize at both ends.")
    }
}

// MARK: Ending

extension MessageSocket {
    /// Calls a closure once when bytes can be received or sent, the other end has closed, or the time is over.
    func whenReady(
        _ events: Int16, until deadline: SuspendingClock.Instant? = nil,
        _ done: @escaping @Sendable (SocketPoll.Outcome) -> Void
    ) {
        SocketPoll.shared.watch(for: events, at: socket.rawValue, until: deadline) { [self] outcome in
            // The descriptor stays open until then.
            withExtendedLifetime(self) { done(outcome) }
        }
    }

    func close() {
        isBroken.store(true, ordering: .releasing)
        // Wakes the waiting calls; the descriptor itself stays open as long as this object exists.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
    }
}
