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
