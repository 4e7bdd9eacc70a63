public import AppGroups
internal import CLinux
internal import Glibc
internal import SharedFiles

/// Who is at the other end of a connection, by the kernel's word.
public struct GroupPeer: Sendable, Hashable {
    /// The process that connected, or that began to listen. Another process may have its number by now.
    public let processID: Int32
    /// Effective user that it had.
    public let userID: UInt32
    /// Effective unix group that it had.
    public let groupID: UInt32
    /// The program that the process runs; nil where it has ended, or may not be looked at: the kernel shows it to root, and to
    /// processes of the same user that have no more rights (`/proc/PID/exe`, ptrace(2)).
    ///
    /// A process may hand its end to another one, or run another program afterwards. So this tells which program it is among
    /// those that mean well; it keeps no process of the same user out.
    public let executablePath: String?
}

/// Which peers a listener or a connector talks to, of those who may use the container. Others never count: processes of other
/// users that are not root and not in the container's unix group are refused whatever the rule.
public struct PeerRule: Sendable {
    let accepts: @Sendable (GroupPeer) -> Bool

    /// A rule of one's own. It is called on the thread that accepts or connects, once for each connection.
    public init(_ accepts: @escaping @Sendable (GroupPeer) -> Bool) { self.accepts = accepts }

    /// Everybody who may use the container.
    public static let anyMember = PeerRule { _ in true }

    /// Programs with these absolute paths, links in them resolved. One that was replaced or removed while it ran is refused,
    /// and so is every program of another user, unless this process is root's: which it is cannot be told.
    public static func programs(_ paths: some Sequence<String> & Sendable) -> PeerRule {
        let known = Set(paths.map { PeerProgram.resolved($0) ?? $0 })
        return PeerRule { peer in peer.executablePath.map(known.contains) ?? false }
    }

    /// Whoever both rules accept.
    public func and(_ other: PeerRule) -> PeerRule { PeerRule { accepts($0) && other.accepts($0) } }
}

extension GroupPeer {
    /// The peer of a connection.
    init(of socket: borrowing Descriptor, _ sharing: Sharing, _ rule: PeerRule) throws(PeerRefusal) {
        guard let facts = LocalSocket.credentials(of: socket), LocalSocket.mayUse(sharing, facts, at: socket) else {
            throw .stranger
        }
        processID = facts.process
        userID = facts.user
        groupID = facts.group
        executablePath = PeerProgram.path(ofProcess: facts.process, at: socket)
        if !rule.accepts(self) { throw executablePath == nil ? .unknownProgram : .rule }
    }
}

/// Why a peer is not talked to.
enum PeerRefusal: Error {
    /// It may not use the container.
    case stranger
    case rule
    /// The rule refuses it, and which program it runs could not be told.
    case unknownProgram

    var code: AppGroupError.Code { self == .unknownProgram ? .peerUnknown : .peerRefused }

    var words: String {
        switch self {
        case .stranger: "may not use the container"
        case .rule: "is not one of those to talk to"
        case .unknownProgram: "runs a program that cannot be told: it has ended, or is another user's"
        }
    }
}

/// Which program a process runs.
enum PeerProgram {
    /// The executable of the process at the other end; nil where that cannot be told.
    ///
    /// Where the kernel hands out the process itself (Linux 6.5), its number cannot have become another one's before the path
    /// was read. Before that it can, if the process has ended.
    static func path(ofProcess number: Int32, at socket: borrowing Descriptor) -> String? {
        let process = clinux_peer_pidfd(socket.rawValue)
        guard process >= 0 else { return process == -ENOPROTOOPT ? target(of: "/proc/\(number)/exe") : nil }
        let held = Descriptor(owning: process, path: "a process")
        let path = target(of: "/proc/\(number)/exe")
        return hasEnded(held) ? nil : path
    }

    /// A path with its links resolved; nil where nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(validatingCString: text)
    }

    /// A pidfd can be read from when its process has ended (pidfd_open(2)).
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
    /// The programs that are registered as members, as the registry has them when a peer is looked at.
    ///
    /// Where the registry can't be read nobody is accepted.
    public static func members(of registry: GroupRegistry) -> PeerRule {
        PeerRule { peer in
            guard let path = peer.executablePath, let members = try? registry.members() else { return false }
            return members.contains { $0.executablePath.utf8.elementsEqual(path.utf8) }
        }
    }
}
