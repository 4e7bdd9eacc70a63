public import SharedFiles
internal import SystemPackage

/// An app group's shared directory, open and found safe.
///
/// It is the group's directory below the home's `Containers`, `0700`, or `2770` where it is shared with a unix group, with
/// the standard subdirectories. Once open it stays the same directory, whatever happens to its path.
public final class GroupContainer: Sendable {
    /// The group whose container this is.
    public let group: AppGroup

    /// Where the container was found, for people and messages.
    ///
    /// Files are reached through its open directory, never through this path, which somebody may have changed since.
    public var path: String { root.path.string }

    /// Who may use the container, as its directory said when it was opened.
    public let sharing: Sharing

    /// The container itself: the anchor of every path below it.
    package let root: Directory

    private let isCreating: Bool

    private init(group: AppGroup, root: Directory, sharing: Sharing, isCreating: Bool) {
        self.group = group
        self.root = root
        self.sharing = sharing
        self.isCreating = isCreating
    }
}

extension GroupContainer {
    /// Opens an app group's container and checks, every time, that nobody else may change it.
    ///
    /// - Parameters:
    ///   - home: Where containers lie.
    ///   - creating: Whether to make the container and whatever is missing of its standard directories. Safe when
    ///     many processes do so at once. With `false` nothing is written, and missing standard directories are left out.
    ///   - sharing: Who may use a container that this call makes. One that exists keeps what it has: see ``sharing``.
    ///   - entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` with `notEntitled` for a group that the entitlements do not hold; `containerMissing`; `notADirectory` for a link or a file under the container's
    ///   or a standard directory's name; `unsafeContainer`, with the command that mends it, where one of them may be
    ///   written by others or belongs neither to the effective user nor to root, or where a directory above may be
    ///   written by everybody without the sticky bit; `notShared` where members of the unix group could not use
    ///   all of a shared container; `file` for every other failure.
    public static func open(
        _ group: AppGroup, in home: GroupsHome, creating: Bool = true, sharing: Sharing = .ownerOnly,
        entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) -> GroupContainer {
        try entitlements.require(group)
        do throws(FileError) {
            let root =
                try creating ? make(group, in: home.containersPath, sharing) : find(group, in: home.containersPath)
            let container = GroupContainer(
                group: group, root: root, sharing: try root.requireTrusted(), isCreating: creating)
            try container.examineStandardDirectories()
            return container
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private static func make(
        _ group: AppGroup, in place: FilePath, _ sharing: Sharing
    ) throws(FileError) -> Directory {
        let containers = try Directory.createParent(place, sharing: sharing)
        // Who may rename the container may put another one in its place.
        try containers.requirePrivateOrShared()
        do throws(FileError) {
            return try containers.directory(group.identifier)
        } catch {
            guard error.code == .notFound else { throw error }
            if let members = sharing.groupID { try containers.requireShareable(with: members) }
            return try containers.makeDirectory(group.identifier, sharing: sharing)
        }
    }

    private static func find(_ group: AppGroup, in place: FilePath) throws(FileError) -> Directory {
        let containers = try Directory.open(place)
        try containers.requirePrivateOrShared()
        return try containers.directory(group.identifier)
    }

    /// Opens one of the standard directories and checks it as ``open(_:in:creating:sharing:)`` does.
    ///
    /// Other programs may remove these directories; one that is gone is made again if the container was opened with
    /// creation.
    package func directory(_ place: StandardDirectory) throws(AppGroupError) -> Directory {
        do throws(FileError) {
            return try library().child(place.name, sharing, creating: isCreating)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private func examineStandardDirectories() throws(FileError) {
        do throws(FileError) {
            let library = try library()
            for place in StandardDirectory.allCases {
                try library.examineChild(place.name, sharing, creating: isCreating)
            }
        } catch {
            if isCreating || error.code != .notFound { throw error }
        }
    }

    private func library() throws(FileError) -> Directory {
        try root.child(StandardDirectory.parent, sharing, creating: isCreating)
    }
}

extension Directory {
    /// Opens a directory of a container and refuses it where it is not as private, or shared, as the container.
    fileprivate func child(_ name: String, _ sharing: Sharing, creating: Bool) throws(FileError) -> Directory {
        let found = try openOrMake(name, sharing, creating: creating)
        try found.requireSharing(sharing)
        return found
    }

    private func openOrMake(_ name: String, _ sharing: Sharing, creating: Bool) throws(FileError) -> Directory {
        do throws(FileError) {
            return try directory(name)
        } catch {
            guard creating, error.code == .notFound else { throw error }
            return try makeDirectory(name, sharing: sharing)
        }
    }

    fileprivate func examineChild(_ name: String, _ sharing: Sharing, creating: Bool) throws(FileError) {
        do throws(FileError) {
            _ = try child(name, sharing, creating: creating)
        } catch {
            if creating || error.code != .notFound { throw error }
        }
    }
}
