package import SharedFiles

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

extension GroupRegistry {
    /// Whether the copy in the group's container says something else than the registry. Programs that open the container for
    /// writing put it right.
    ///
    /// - Returns: nil where one of the two is missing or cannot be read, which others report.
    package func copyDiffers(in root: Directory) -> Bool? {
        guard let entry = try? RegistryPlace(group: group, home: home).read(),
            let copy = try? ContainerCopy.read(in: root, of: group)
        else { return nil }
        return entry != copy
    }
}

/// Under what kind of name a container lies.
public enum ContainerStyle: String, Hashable, Sendable, CaseIterable {
    /// Under the group's identifier.
    case named
    /// Under random digits, which a group keeps until its last member leaves or it is reset.
    case opaque

    /// The standard directories that every container of this style has, before anything is put there.
    var directories: [GroupContainer.StandardDirectory] {
        switch self {
        case .named: GroupContainer.StandardDirectory.allCases
        case .opaque: [.caches]
        }
    }
}

/// How a group's container comes to be, as one of Apple's two systems documents it.
///
/// It decides what is made where there is no container yet. One that exists keeps the style it was made in, whoever opens
/// it.
public enum ContainerBehavior: String, Hashable, Sendable, CaseIterable {
    /// The container lies under the group's identifier, gets all standard directories and is never removed.
    case macOS
    /// The container lies under a name that says nothing, gets only `Library/Caches`, and goes when the last of its member
    /// programs leaves.
    case iOS

    /// The style of a container that is made this way.
    public var style: ContainerStyle {
        switch self {
        case .macOS: .named
        case .iOS: .opaque
        }
    }
}
