internal import AppGroups

/// What a group's container holds and whose it is, before it goes to the trash.
struct ContainerLoss {
    private let group: AppGroup
    private let members: [GroupMember]
    /// `nil` where the container is not in its place.
    private let container: GroupContainer?

    /// - Returns: `nil` for a group that has neither a container nor a registry.
    /// - Throws: `Failure` for a registry or a container that cannot be used.
    init?(of group: AppGroup, in home: GroupsHome) throws(Failure) {
        let registry = GroupRegistry(group, in: home)
        let entry = try Failure.onGroup { () throws(AppGroupError) in try registry.entry() }
        container = try? GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        if entry == nil && container == nil { return nil }
        self.group = group
        members = entry?.members ?? []
    }

    /// What is lost and for whom.
    var sentences: [String] {
        let who = Affected.list(members.map(\.applicationIdentifier), orElse: "every program of the group")
        guard let container else { return ["The container is not in its place; the registry gives it up for \(who)."] }
        let usage = container.usage()
        return [
            "\(usage.total.files) files with \(usage.total.bytes) bytes in \(container.path) go to the trash.",
            "Affected: \(who).",
        ]
    }

    /// Whether the container goes to the trash when these programs leave.
    func goesToTrash(without leaving: Set<String>) -> Bool {
        container?.style == .opaque && members.allSatisfy { leaving.contains($0.applicationIdentifier) }
    }

    /// The programs whose executable is not there any more.
    var gone: [String] { members.filter { !$0.isInstalled }.map(\.applicationIdentifier) }
}
