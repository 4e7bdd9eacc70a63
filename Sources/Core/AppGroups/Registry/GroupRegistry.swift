package import SharedFiles

/// The programs that belong to an app group on this machine, and the lifetime of its container.
///
/// On Apple's platforms the system records this when programs are installed and deleted; here a program's package does,
/// with `sealctl container register` and `unregister`. Opening a container requires no registration. An opaque
/// container moves to the trash when its last registered member is removed.
///
/// The registry is one property list for each group, in `Registry` beside `Containers`, with a copy in the container.
/// It may be edited by hand; an unreadable one causes the error `damagedRegistry`, and stays unchanged.
public struct GroupRegistry: Sendable {
    /// The group of the registry.
    public let group: AppGroup
    let home: GroupsHome

    /// Creates the registry of a group, without reading it yet.
    public init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
    }

    /// The path of its file, existing or not, for watchers.
    package var path: String { RegistryPlace(group: group, home: home).path }

    /// Returns the group's entry: from the registry, else from the container's copy; nil if both are missing.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    package func entry() throws(AppGroupError) -> RegistryEntry? {
        if let entry = try RegistryPlace(group: group, home: home).read() { return entry }
        guard let found = try ContainerFinder(group: group, home: home).find() else { return nil }
        if let entry = found.entry { return entry }
        return try ContainerCopy.read(in: found.root, of: group)
    }

    /// Returns the members, by application identifier. Reads the registry each time.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    public func members() throws(AppGroupError) -> [GroupMember] { try entry()?.members ?? [] }

    /// Returns the member with an executable at a path; nil if there is no such member.
    ///
    /// - Throws: as ``members()``.
    public func member(executable path: String) throws(AppGroupError) -> GroupMember? {
        try members().first { $0.executablePath.utf8.elementsEqual(path.utf8) }
    }
}

extension GroupRegistry {
    /// Returns whether the copy in the group's container differs from the registry. Programs that open the container
    /// for writing update it.
    ///
    /// - Returns: nil if one of the two is missing or cannot be read, which other calls report.
    package func copyDiffers(in root: Directory) -> Bool? {
        guard let entry = try? RegistryPlace(group: group, home: home).read(),
            let copy = try? ContainerCopy.read(in: root, of: group)
        else { return nil }
        return entry != copy
    }
}
