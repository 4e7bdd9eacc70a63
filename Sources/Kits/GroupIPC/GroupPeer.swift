public import AppGroups
internal import CLinux
internal import Glibc
internal import SharedFiles

/// The process at the other end of a connection, identified by the kernel.
public struct GroupPeer: Sendable, Hashable {
    /// The process that connected, or that began to listen. The number may be reused by now.
    public let processID: Int32
    /// The effective user of the process at that time.
    public let userID: UInt32
    /// The effective unix group of the process at that time.
    public let groupID: UInt32
    /// The program of the process; nil if the process has ended or may not be examined. The kernel shows it to root,
    /// and to processes of the same user that have no more rights (`/proc/PID/exe`, ptrace(2)).
    ///
    /// A process may pass its end to another one, or run another program afterwards. The path therefore identifies
    /// well-behaved programs only, and excludes no process of the same user.
    public let executablePath: String?
    /// The label of the writer whose key the process has, by the group's roster; nil without a key or a roster, and for
    /// every peer of a plain socket. Only a peer of a ``SealedChannel`` proves it.
    public internal(set) var writer: String?
}

/// A rule for the peers of a listener or a connector. Others are always refused: at a plain socket, processes of users
/// that are neither this user nor root nor in the container's unix group; at a channel, processes that do not hold the
/// group's keys.
public struct PeerRule: Sendable {
    let accepts: @Sendable (GroupPeer) -> Bool

    /// Creates a custom rule. It is called on the thread that accepts or connects, once for each connection.
    public init(_ accepts: @escaping @Sendable (GroupPeer) -> Bool) { self.accepts = accepts }

    /// All processes that may use the container.
    public static let anyMember = PeerRule { _ in true }

    /// Returns a rule for programs with these absolute paths, links in them resolved. A program that was replaced or
    /// removed while it ran is refused, and so is every program of another user unless this process is root's, since it
    /// cannot be determined.
    public static func programs(_ paths: some Sequence<String> & Sendable) -> PeerRule {
        let known = Set(paths.map { PeerProgram.resolved($0) ?? $0 })
        return PeerRule { peer in peer.executablePath.map(known.contains) ?? false }
    }

    /// Returns a rule for the peers of a ``SealedChannel`` that have the key of one of these writers of the group's
    /// roster, by their labels.
    public static func writers(_ labels: some Sequence<String> & Sendable) -> PeerRule {
        let known = Set(labels)
        return PeerRule { peer in peer.writer.map(known.contains) ?? false }
    }

    /// Returns a rule that accepts the peers that both rules accept.
    public func and(_ other: PeerRule) -> PeerRule { PeerRule { accepts($0) && other.accepts($0) } }
}

extension GroupPeer {
    /// Creates the peer of a connection.
    init(of socket: borrowing Descriptor, _ sharing: Sharing, _ rule: PeerRule) throws(PeerRefusal) {
        guard let facts = LocalSocket.credentials(of: socket), LocalSocket.mayUse(sharing, facts, at: socket) else {
            throw .notMember
        }
        processID = facts.process
        userID = facts.user
        groupID = facts.group
        executablePath = PeerProgram.path(ofProcess: facts.process, at: socket)
        try require(rule)
    }

    /// Creates the peer that sent bytes with its credentials: the process that serves, if another one began to listen.
    init(sender facts: LocalSocket.Credentials) {
        processID = facts.process
        userID = facts.user
        groupID = facts.group
        executablePath = PeerProgram.path(ofSender: facts.process)
    }

    func require(_ rule: PeerRule) throws(PeerRefusal) {
        if !rule.accepts(self) { throw executablePath == nil ? .unknownProgram : .rule }
    }
}

/// The reason for refusing a peer.
enum PeerRefusal: Error {
    /// The peer may not use the container.
    case notMember
    case rule
    /// The rule refuses the peer, and its program could not be determined.
    case unknownProgram

    var code: AppGroupError.Code { self == .unknownProgram ? .peerUnknown : .peerRefused }

    var words: String {
        switch self {
        case .notMember: "may not use the container"
        case .rule: "is not an accepted peer"
        case .unknownProgram: "runs a program that cannot be identified: it has ended, or belongs to another user"
        }
    }
}

/// The program of a process.
enum PeerProgram {
    /// Returns the executable of the process at the other end; nil if it cannot be determined.
    ///
    /// If the kernel provides a pidfd (Linux 6.5), the process number cannot have been reused before the path was read.
    /// On older kernels it can, if the process has ended.
    static func path(ofProcess number: Int32, at socket: borrowing Descriptor) -> String? {
        let process = clinux_peer_pidfd(socket.rawValue)
        guard process >= 0 else { return process == -ENOPROTOOPT ? target(of: "/proc/\(number)/exe") : nil }
        let held = Descriptor(owning: process, path: "a process")
        let path = target(of: "/proc/\(number)/exe")
        return hasEnded(held) ? nil : path
    }

    /// Returns the executable of a process that sent a message; nil if it has ended, or is in another PID namespace. Its
    /// number may have been reused if it ended before this call.
    static func path(ofSender number: Int32) -> String? {
        let process = number > 0 ? clinux_pidfd_open(number) : -1
        guard process >= 0 else { return nil }
        let held = Descriptor(owning: process, path: "a process")
        let path = target(of: "/proc/\(number)/exe")
        return hasEnded(held) ? nil : path
    }

    /// Returns a path with its links resolved; nil if it does not exist.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(validatingCString: text)
    }

    /// A pidfd becomes readable when its process has ended (pidfd_open(2)).
    private static func hasEnded(_ process: borrowing Descriptor) -> Bool {
        var request = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) != 0
    }

    private static func target(of link: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(link, start, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(validating: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}

extension PeerRule {
    /// Returns a rule for the registered members, by the registry at the time of each check.
    ///
    /// If the registry can't be read, every peer is refused.
    public static func members(of registry: GroupRegistry) -> PeerRule {
        PeerRule { peer in
            guard let path = peer.executablePath, let members = try? registry.members() else { return false }
            return members.contains { $0.executablePath.utf8.elementsEqual(path.utf8) }
        }
    }
}
