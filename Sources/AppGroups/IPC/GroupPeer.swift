internal import SharedFiles

/// Who is at the other end of a connection, by the kernel's word.
public struct GroupPeer: Sendable, Hashable {
    /// The process that connected, or that began to listen. Another process may have its number by now.
    public let processID: Int32
    /// Effective user that it had.
    public let userID: UInt32
    /// Effective unix group that it had.
    public let groupID: UInt32
    /// The program that the process runs; nil where it has ended, or may not be looked at.
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

    /// Programs with these absolute paths, links in them resolved. One that was replaced or removed while it ran is refused.
    public static func programs(_ paths: some Sequence<String> & Sendable) -> PeerRule {
        let known = Set(paths.map { PeerProgram.resolved($0) ?? $0 })
        return PeerRule { peer in peer.executablePath.map(known.contains) ?? false }
    }

    /// Whoever both rules accept.
    public func and(_ other: PeerRule) -> PeerRule { PeerRule { accepts($0) && other.accepts($0) } }
}

extension GroupPeer {
    /// The peer of a connection; nil where it may not use the container, or the rule refuses it.
    init?(of socket: borrowing Descriptor, _ sharing: Sharing, _ rule: PeerRule) {
        guard let facts = LocalSocket.credentials(of: socket), LocalSocket.mayUse(sharing, facts, at: socket) else {
            return nil
        }
        processID = facts.process
        userID = facts.user
        groupID = facts.group
        executablePath = PeerProgram.path(ofProcess: facts.process, at: socket)
        guard rule.accepts(self) else { return nil }
    }
}
