/// The registry's entry of one group. The group's container has a copy of it.
package struct RegistryEntry: Hashable, Sendable {
    /// The group of the entry.
    package let group: AppGroup
    /// The style of the container, and of the next one.
    package var style: ContainerStyle
    /// The container's name below `Containers`; nil while the group has none.
    package var directory: String?
    /// The number of containers that the group has had, this one included.
    package var generation: Int64
    /// The member programs, by application identifier.
    package var members: [GroupMember]
    /// The quota for the container's files in bytes; nil for no quota.
    package var quota: Int64?
    /// The largest record of the container in bytes of its encoded form; nil for the usual limit.
    package var recordLimit: Int64?
    /// A container that was given up and is on its way to the trash; the next lock holder completes the move.
    package var departure: ContainerDeparture?

    /// The limits that a container may have. The upper one bounds what a member who edits the registry can make readers
    /// allocate for one record; the library's own records fit below the lower one.
    package static let recordLimits: ClosedRange<Int64> = 64 << 10...64 << 20
    /// The same as a part of a sentence.
    static var recordLimitRange: String { "\(recordLimits.lowerBound) to \(recordLimits.upperBound) bytes" }
    /// The maximum number of members.
    static let maximumMembers = 1024
    /// Only an edited file can reach it.
    static let maximumGeneration: Int64 = 1 << 53

    init(
        group: AppGroup, style: ContainerStyle, directory: String? = nil, generation: Int64 = 0,
        members: [GroupMember] = [], quota: Int64? = nil, recordLimit: Int64? = nil,
        departure: ContainerDeparture? = nil
    ) {
        self.group = group
        self.style = style
        self.directory = directory
        self.generation = generation
        self.members = members
        self.quota = quota
        self.recordLimit = recordLimit
        self.departure = departure
    }

    /// Returns the member with that application identifier.
    package func member(_ applicationIdentifier: String) -> GroupMember? {
        members.first { $0.applicationIdentifier == applicationIdentifier }
    }

    /// Counts another container.
    mutating func countContainer() { generation = min(generation + 1, Self.maximumGeneration) }

    /// Adds a member, replacing one with the same name.
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
    /// The name below `Containers`.
    package let directory: String
    /// The name in the trash. While it does not exist, the container has not been moved.
    package let trashName: String
}
