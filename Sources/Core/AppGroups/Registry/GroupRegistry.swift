internal import SharedFiles

/// Which programs belong to an app group on this machine, and what becomes of its container with them.
///
/// On Apple's platforms the system keeps this when programs are installed and deleted; here the package of a program does,
/// with `sealctl container register` and `unregister`. Nobody has to be registered to open a container; an opaque container
/// goes to the trash when its last registered member leaves.
///
/// The registry is one property list for each group, in `Registry` beside `Containers`, with a copy in the container. It may
/// be edited by hand; what can't be read is the error `damagedRegistry`, and is left as it is.
public struct GroupRegistry: Sendable {
    /// Whose registry this is.
    public let group: AppGroup
    let home: GroupsHome

    /// The registry of a group. Nothing is read yet.
    public init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
    }

    /// Where its file lies or would lie, for watchers.
    package var path: String { RegistryPlace(group: group, home: home).path }

    /// What is known of the group: from the registry, else from the container's copy; nil where nothing is.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    package func entry() throws(AppGroupError) -> RegistryEntry? {
        if let entry = try RegistryPlace(group: group, home: home).read() { return entry }
        guard let found = try ContainerFinder(group: group, home: home).find() else { return nil }
        if let entry = found.entry { return entry }
        return try ContainerCopy.read(in: found.root, of: group)
    }

    /// The members, by application identifier. Reads the registry each time.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    public func members() throws(AppGroupError) -> [GroupMember] { try entry()?.members ?? [] }

    /// The member whose executable lies at a path; nil where none does.
    ///
    /// - Throws: as ``members()``.
    public func member(executable path: String) throws(AppGroupError) -> GroupMember? {
        try members().first { $0.executablePath.utf8.elementsEqual(path.utf8) }
    }
}
