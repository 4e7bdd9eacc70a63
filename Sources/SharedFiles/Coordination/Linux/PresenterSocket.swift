internal import CLinux
internal import Glibc

/// An open connection between two processes, and who is at the other end.
final class PresenterLink: Sendable {
    let socket: Descriptor
    let peer: PresenterSocket.Peer

    init(_ socket: consuming Descriptor, _ peer: PresenterSocket.Peer) {
        self.socket = socket
        self.peer = peer
    }

    /// Whether it could be sent; never waits, since a packet of ours fits in an empty buffer.
    func send(_ message: PresenterMessage) -> Bool { PresenterSocket.send(message, to: socket.rawValue) }

    func receive() -> PresenterSocket.Receipt { PresenterSocket.receive(from: socket.rawValue) }
}

/// The sockets by which processes reach each other's presenters: `SOCK_SEQPACKET` of unix(7), non-blocking.
///
/// A name that is longer than a socket address can hold is reached through `/proc/self/fd`, which also keeps a directory
/// that was swapped, or a link, from leading elsewhere.
enum PresenterSocket {
    enum Connection {
        case open(PresenterLink)
        /// Nobody listens any more: its process is dead, or has closed it.
        case gone
        /// Too many others wait to be accepted.
        case busy
        /// Not a socket, or of somebody who has no say in this domain.
        case foreign
    }

    struct Peer: Sendable, Hashable {
        let process: Int32
        let user: UInt32
    }

    /// A listening socket under that name. Nobody can connect before it listens and has its mode.
    static func listen(at name: String, in domain: CoordinationDomain) throws(FileError) -> Descriptor {
        let place = domain.directory.descriptor.rawValue
        let socket = try make(domain.directory.display(name))
        let temporary = ".\(name).new"
        var number = withAddress("/proc/self/fd/\(place)/\(temporary)") {
            bind(socket.rawValue, $0, $1) < 0 ? errno : 0
        }
        if number == 0 && Glibc.listen(socket.rawValue, 64) < 0 { number = errno }
        if number == 0 { number = -setMode(of: temporary, in: domain) }
        if number == 0 && renameat(place, temporary, place, name) < 0 { number = errno }
        if number == 0 { return socket }
        unlinkat(place, temporary, 0)
        throw FileError(errno: number, operation: "listen at", path: domain.directory.display(name))
    }

    /// Through the open inode: under the name somebody may have put a file of ours meanwhile.
    private static func setMode(of name: String, in domain: CoordinationDomain) -> Int32 {
        let opened = openInode(name, in: domain)
        if opened < 0 { return opened }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return -ENOTSOCK }
        return chmod("/proc/self/fd/\(opened)", domain.fileMode) < 0 ? -errno : 0
    }

    static func connect(to name: String, in domain: CoordinationDomain) throws(FileError) -> Connection {
        let opened = openInode(name, in: domain)
        if opened == -ENOENT { return .gone }
        if opened == -EMFILE || opened == -ENFILE { throw domain.directory.error(-opened, "connect to", name) }
        if opened < 0 { return .foreign }
        defer { close(opened) }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return .foreign }
        let socket = try make(domain.directory.display(name))
        let number = withAddress("/proc/self/fd/\(opened)") { Glibc.connect(socket.rawValue, $0, $1) < 0 ? errno : 0 }
        switch number {
        case 0:
            guard let peer = trustedPeer(of: socket.rawValue, in: domain) else { return .foreign }
            return .open(PresenterLink(socket, peer))
        case ECONNREFUSED: return .gone
        case EAGAIN, EINTR: return .busy
        default: return .foreign
        }
    }

    /// What has that name, be it a link; opens nothing behind it. The name is one segment.
    private static func openInode(_ name: String, in domain: CoordinationDomain) -> Int32 {
        let flags = clinux_o_path | O_NOFOLLOW | O_CLOEXEC
        return uninterrupted { openat(domain.directory.descriptor.rawValue, name, flags) }
    }

    enum Arrival {
        case open(PresenterLink)
        case foreign
        case nobody
        /// Somebody waits, and this process or the system has no descriptor or memory for it now.
        case exhausted
    }

    static func accept(_ listener: Int32, in domain: CoordinationDomain) -> Arrival {
        while true {
            let accepted = clinux_accept(listener)
            if accepted == -EINTR || accepted == -ECONNABORTED { continue }
            if accepted == -EAGAIN { return .nobody }
            if accepted < 0 { return .exhausted }
            let socket = Descriptor(owning: accepted, path: "a presenter's socket")
            guard let peer = trustedPeer(of: accepted, in: domain) else { return .foreign }
            return .open(PresenterLink(socket, peer))
        }
    }

    private static func make(_ path: String) throws(FileError) -> Descriptor {
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let made = socket(AF_UNIX, kind, 0)
        if made < 0 { throw FileError(errno: errno, operation: "open a socket for", path: path) }
        return Descriptor(owning: made, path: path)
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

extension PresenterSocket {
    /// Who is at the other end, by the kernel's word: this user, root, or a member of the unix group that shares the domain.
    static func trustedPeer(of socket: Int32, in domain: CoordinationDomain) -> Peer? {
        var facts: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: facts))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &facts, &size) == 0 else { return nil }
        let peer = Peer(process: facts.process, user: facts.user)
        if facts.user == geteuid() || facts.user == 0 { return peer }
        guard case .unixGroup(let group)? = try? domain.directory.sharing else { return nil }
        return facts.group == group || otherGroups(of: socket).contains(group) ? peer : nil
    }

    /// SO_PEERGROUPS of socket(7).
    private static func otherGroups(of socket: Int32) -> [UInt32] {
        var groups = [UInt32](repeating: .max, count: 65_536)
        var size = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket, SOL_SOCKET, 59, &groups, &size) == 0 else { return [] }
        return Array(groups.prefix(Int(size) / MemoryLayout<UInt32>.size))
    }

    static func send(_ message: PresenterMessage, to socket: Int32) -> Bool {
        let bytes = message.bytes
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        return uninterruptedCount { Glibc.send(socket, bytes, bytes.count, flags) } == bytes.count
    }

    enum Receipt {
        case message(PresenterMessage)
        case nothingYet
        /// The other end has closed, or said what is no message.
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

    /// Waits until there is something to receive, or the time is over.
    static func awaitMessage(_ socket: Int32, _ time: Duration) {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let (seconds, attoseconds) = time.components
        _ = poll(&request, 1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1)
    }
}
