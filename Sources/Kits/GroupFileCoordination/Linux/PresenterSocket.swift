internal import Glibc
internal import SharedFiles

/// An open connection between two processes, with the peer's identity.
final class PresenterLink: Sendable {
    let socket: Descriptor
    let peer: PresenterSocket.Peer

    init(_ socket: consuming Descriptor, _ peer: PresenterSocket.Peer) {
        self.socket = socket
        self.peer = peer
    }

    /// Sends a message. Never waits, since a packet fits in an empty buffer. Returns `false` on failure.
    func send(_ message: PresenterMessage) -> Bool { PresenterSocket.send(message, to: socket.rawValue) }

    func receive() -> PresenterSocket.Receipt { PresenterSocket.receive(from: socket.rawValue) }
}

/// The sockets that connect processes to each other's presenters: packets between users of the domain.
enum PresenterSocket {
    enum Connection {
        case open(PresenterLink)
        /// No process listens: it is dead or has closed the socket.
        case gone
        /// The backlog is full.
        case busy
        /// Not a socket, or the peer may not use this domain.
        case foreign
    }

    struct Peer: Sendable, Hashable {
        let process: Int32
        let user: UInt32
    }

    /// Returns a listening socket with that name.
    static func listen(at name: String, in domain: CoordinationDomain) throws(FileError) -> Descriptor {
        try LocalSocket.listen(at: name, in: domain.directory, mode: domain.fileMode, .packets)
    }

    static func connect(to name: String, in domain: CoordinationDomain) throws(FileError) -> Connection {
        switch try LocalSocket.connect(to: name, in: domain.directory, .packets) {
        case .open(let socket): link(socket, in: domain).map { .open($0) } ?? .foreign
        case .gone: .gone
        case .busy: .busy
        case .foreign: .foreign
        }
    }

    enum Arrival {
        case open(PresenterLink)
        case foreign
        case noConnection
        /// A connection waits, but this process or the system has no descriptor or memory for it now.
        case exhausted
    }

    static func accept(_ listener: borrowing Descriptor, in domain: CoordinationDomain) -> Arrival {
        switch LocalSocket.accept(listener) {
        case .success(let accepted?):
            link(Descriptor(owning: accepted, path: "a presenter's socket"), in: domain).map { .open($0) } ?? .foreign
        case .success(nil): .noConnection
        case .failure: .exhausted
        }
    }

    private static func link(_ socket: consuming Descriptor, in domain: CoordinationDomain) -> PresenterLink? {
        guard let peer = trustedPeer(of: socket, in: domain) else { return nil }
        return PresenterLink(socket, peer)
    }
}

extension PresenterSocket {
    /// Returns the peer by the kernel's credentials if it is this user, root, or a member of the unix group of the
    /// domain.
    private static func trustedPeer(of socket: borrowing Descriptor, in domain: CoordinationDomain) -> Peer? {
        guard let facts = LocalSocket.credentials(of: socket) else { return nil }
        let sharing = (try? domain.directory.sharing) ?? .ownerOnly
        guard LocalSocket.mayUse(sharing, facts, at: socket) else { return nil }
        return Peer(process: facts.process, user: facts.user)
    }

    static func send(_ message: PresenterMessage, to socket: Int32) -> Bool {
        let bytes = message.bytes
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        return uninterruptedCount { Glibc.send(socket, bytes, bytes.count, flags) } == bytes.count
    }

    enum Receipt {
        case message(PresenterMessage)
        case nothingYet
        /// The peer has closed the connection or sent an invalid message.
        case ended
    }

    static func receive(from socket: Int32) -> Receipt {
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: PresenterMessage.maximumSize + 1) { buffer, count in
            result = uninterruptedCount {
                recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
            count = max(result, 0)
        }
        if result == -Int(EAGAIN) { return .nothingYet }
        return PresenterMessage(bytes).map { .message($0) } ?? .ended
    }

    /// Waits until a message can be received or the time is over.
    static func awaitMessage(_ socket: Int32, _ time: Duration) {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let (seconds, attoseconds) = time.components
        _ = poll(&request, 1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1)
    }
}
