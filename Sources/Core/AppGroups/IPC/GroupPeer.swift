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
