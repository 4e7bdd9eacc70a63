internal import CLinux
package import Glibc

/// Sockets of unix(7) with a name in an open directory, non-blocking and closed on exec.
///
/// The address goes through `/proc/self/fd`, so the full path may be longer than a socket address, and a swapped
/// directory or a link can't redirect it. Names are one segment, of at most 77 bytes.
package enum LocalSocket {
    /// The kind of traffic.
    package enum Kind: Sendable {
        /// Messages: `SOCK_SEQPACKET`.
        case packets
        /// Bytes: `SOCK_STREAM`.
        case stream

        fileprivate var number: UInt32 { self == .packets ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue }
    }

    /// The result of a connect.
    package enum Connection: ~Copyable {
        case open(Descriptor)
        /// The name does not exist, or no process listens: it is dead or has closed the socket.
        case gone
        /// The backlog is full.
        case busy
        /// Not a socket of that kind, or one that this user may not reach.
        case foreign
    }

    /// Returns a listening socket with that name, which replaces an existing file. Clients can connect only when it
    /// listens and has its mode.
    package static func listen(
        at name: String, in directory: Directory, mode: mode_t, _ kind: Kind, backlog: Int32 = 64
    ) throws(FileError) -> Descriptor {
        let place = directory.descriptor.rawValue
        let socket = try make(kind, directory.display(name))
        let temporary = temporaryName(of: name)
        // Removes the file of a process that was killed between the two names.
        unlinkat(place, temporary, 0)
        var number = withAddress("/proc/self/fd/\(place)/\(temporary)") {
            bind(socket.rawValue, $0, $1) < 0 ? errno : 0
        }
        if number == 0 && Glibc.listen(socket.rawValue, backlog) < 0 { number = errno }
        if number == 0 { number = -setMode(mode, of: temporary, in: directory) }
        if number == 0 && renameat(place, temporary, place, name) < 0 { number = errno }
        if number == 0 { return socket }
        unlinkat(place, temporary, 0)
        throw FileError(errno: number, operation: "listen at", path: directory.display(name))
    }

    static func temporaryName(of name: String) -> String { ".\(name).new" }

    /// Uses the open inode: the name may refer to another file of this user meanwhile.
    private static func setMode(_ mode: mode_t, of name: String, in directory: Directory) -> Int32 {
        let opened = openInode(name, in: directory)
        if opened < 0 { return opened }
        defer { close(opened) }
        guard isSocket(opened) else { return -ENOTSOCK }
        return chmod("/proc/self/fd/\(opened)", mode) < 0 ? -errno : 0
    }

    /// - Throws: an error if this process or the system has no free descriptor.
    package static func connect(
        to name: String, in directory: Directory, _ kind: Kind
    ) throws(FileError) -> Connection {
        let opened = openInode(name, in: directory)
        if opened == -ENOENT { return .gone }
        if opened == -EMFILE || opened == -ENFILE { throw directory.error(-opened, "connect to", name) }
        if opened < 0 { return .foreign }
        defer { close(opened) }
        guard isSocket(opened) else { return .foreign }
        let socket = try make(kind, directory.display(name))
        let number = withAddress("/proc/self/fd/\(opened)") { Glibc.connect(socket.rawValue, $0, $1) < 0 ? errno : 0 }
        switch number {
        case 0: return .open(socket)
        case ECONNREFUSED: return .gone
        case EAGAIN, EINTR: return .busy
        default: return .foreign
        }
    }

    /// Returns the next connection, nil if none waits, or the system's error number.
    package static func accept(_ listener: borrowing Descriptor) -> Result<Int32?, ErrnoNumber> {
        while true {
            let accepted = clinux_accept(listener.rawValue)
            if accepted == -EINTR || accepted == -ECONNABORTED { continue }
            if accepted == -EAGAIN { return .success(nil) }
            return accepted < 0 ? .failure(ErrnoNumber(number: -accepted)) : .success(accepted)
        }
    }

    /// Opens the inode of a name, even of a link, without opening its content.
    private static func openInode(_ name: String, in directory: Directory) -> Int32 {
        uninterrupted { openat(directory.descriptor.rawValue, name, handleFlags) }
    }

    private static func isSocket(_ opened: Int32) -> Bool {
        var status = stat()
        return fstat(opened, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func make(_ kind: Kind, _ path: String) throws(FileError) -> Descriptor {
        let made = socket(AF_UNIX, Int32(kind.number | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
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

/// A system error number as an error.
package struct ErrnoNumber: Error, Sendable, Hashable {
    /// The number, positive.
    package let number: Int32

    /// Creates an error from its number.
    package init(number: Int32) { self.number = number }
}

extension LocalSocket {
    /// The peer's identity by the kernel: of the process that connected, or of the one that began to listen.
    package struct Credentials: Sendable, Hashable {
        /// The process that connected or began to listen; the number may be reused by now.
        package let process: Int32
        /// Effective user.
        package let user: UInt32
        /// Effective unix group.
        package let group: UInt32

        package init(process: Int32, user: UInt32, group: UInt32) {
            (self.process, self.user, self.group) = (process, user, group)
        }
    }

    /// Returns the peer's credentials; nil if the kernel has none.
    package static func credentials(of socket: borrowing Descriptor) -> Credentials? {
        var facts: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: facts))
        guard getsockopt(socket.rawValue, SOL_SOCKET, SO_PEERCRED, &facts, &size) == 0 else { return nil }
        return Credentials(process: facts.process, user: facts.user, group: facts.group)
    }

    /// Returns whether the peer may use a directory with that sharing: this user, root, or a member of the unix group.
    package static func mayUse(
        _ sharing: Sharing, _ peer: Credentials, at socket: borrowing Descriptor
    ) -> Bool {
        if peer.user == geteuid() || peer.user == 0 { return true }
        guard case .unixGroup(let group) = sharing else { return false }
        return peer.group == group || otherGroups(of: socket.rawValue).contains(group)
    }

    /// SO_PEERGROUPS of socket(7).
    private static func otherGroups(of socket: Int32) -> [UInt32] {
        var groups = [UInt32](repeating: .max, count: 65_536)
        var size = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket, SOL_SOCKET, 59, &groups, &size) == 0 else { return [] }
        return Array(groups.prefix(Int(size) / MemoryLayout<UInt32>.size))
    }

    /// Waits until a socket is ready or the time is over; nil waits without a limit.
    package static func wait(for events: Int16, at socket: borrowing Descriptor, _ time: Duration?) {
        var request = pollfd(fd: socket.rawValue, events: events, revents: 0)
        guard let time else {
            _ = poll(&request, 1, -1)
            return
        }
        let (seconds, attoseconds) = min(time, .seconds(86_400)).components
        _ = poll(&request, 1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1)
    }
}
