/// What the registry knows of one group. A copy of it lies in the group's container.
package struct RegistryEntry: Hashable, Sendable {
    /// Whose it is.
    package let group: AppGroup
    /// The style of the container, and of the next one.
    package var style: ContainerStyle
    /// The container's name below `Containers`; nil while the group has none.
    package var directory: String?
    /// How many containers the group has had, this one included.
    package var generation: Int64
    /// The member programs, by application identifier.
    package var members: [GroupMember]
    /// The most bytes that the container's files may have; nil for any number.
    package var quota: Int64?
    /// A container that has been given up and is on its way to the trash; whoever holds the lock next completes it.
    package var departure: ContainerDeparture?

    /// More members than a registry has.
    static let maximumMembers = 1024
    /// No group gets there; who edits the file may.
    static let maximumGeneration: Int64 = 1 << 53

    init(
        group: AppGroup, style: ContainerStyle, directory: String? = nil, generation: Int64 = 0,
        members: [GroupMember] = [], quota: Int64? = nil, departure: ContainerDeparture? = nil
    ) {
        self.group = group
        self.style = style
        self.directory = directory
        self.generation = generation
        self.members = members
        self.quota = quota
        self.departure = departure
    }

    /// The member of that application identifier.
    package func member(_ applicationIdentifier: String) -> GroupMember? {
        members.first { $0.applicationIdentifier == applicationIdentifier }
    }

    /// Counts one more container.
    mutating func countContainer() { generation = min(generation + 1, Self.maximumGeneration) }

    /// Takes a member in, in place of one of the same name.
    mutating func insert(_ member: GroupMember) {
        remove(member.applicationIdentifier)
        members.append(member)
        members.sort { $0.applicationIdentifier < $1.applicationIdentifier }
    }

    mutating func remove(_ applicationIdentifier: String) {
        members.removeAll { $0.applicationIdentifier == applicationIdentifier }
    }
}

/// A container on its way to the trash.
package struct ContainerDeparture: Hashable, Sendable {
    /// Its name below `Containers`.
    package let directory: String
    /// Its name in the trash. While nothing has that name, it has not gone yet.
    package let trashName: String
}
