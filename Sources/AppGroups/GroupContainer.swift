package import SharedFiles
internal import SystemPackage

/// An app group's shared directory, open and found safe.
///
/// It is the group's directory below the home's `Containers`, `0700`, with the standard subdirectories. Once open it
/// stays the same directory, whatever happens to its path.
public final class GroupContainer: Sendable {
    /// The group whose container this is.
    public let group: AppGroup

    /// Where the container was found, for people and messages.
    ///
    /// Files are reached through its open directory, never through this path, which somebody may have changed since.
    public var path: String { root.path.string }

    /// The container itself: the anchor of every path below it.
    package let root: Directory

    private let isCreating: Bool

    private init(group: AppGroup, root: Directory, isCreating: Bool) {
        self.group = group
        self.root = root
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
    /// - Throws: ``AppGroupError`` with `containerMissing`; `notADirectory` for a link or a file under the container's
    ///   or a standard directory's name; `unsafeContainer`, with the command that mends it, where one of them may be
    ///   written by others or belongs neither to the effective user nor to root, or where a directory above may be
    ///   written by everybody without the sticky bit; `file` for every other failure.
    public static func open(
        _ group: AppGroup, in home: GroupsHome, creating: Bool = true
    ) throws(AppGroupError) -> GroupContainer {
        do throws(FileError) {
            let place = home.containersPath
            let containers = try creating ? Directory.create(place, mode: mode) : Directory.open(place)
            // Who may rename the container may put another one in its place.
            try containers.requirePrivate(allowGroup: false)
            let root = try containers.subdirectory(group.identifier, creating: creating)
            try root.requireSafeAncestors()
            let container = GroupContainer(group: group, root: root, isCreating: creating)
            try container.examineStandardDirectories()
            return container
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    /// Opens one of the standard directories and checks it as ``open(_:in:creating:)`` does.
    ///
    /// Other programs may remove these directories; one that is gone is made again if the container was opened with
    /// creation.
    package func directory(_ place: StandardDirectory) throws(AppGroupError) -> Directory {
        do throws(FileError) {
            return try library(creating: isCreating).subdirectory(place.name, creating: isCreating)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private func examineStandardDirectories() throws(FileError) {
        do throws(FileError) {
            let library = try library(creating: isCreating)
            for place in StandardDirectory.allCases {
                try library.examine(place.name, creating: isCreating)
            }
        } catch {
            if isCreating || error.code != .notFound { throw error }
        }
    }

    private func library(creating: Bool) throws(FileError) -> Directory {
        try root.subdirectory(StandardDirectory.parent, creating: creating)
    }
}

/// Of the container and of everything that this module makes in it or above it.
private let mode: UInt32 = 0o700

extension Directory {
    /// Opens a directory of this one and refuses it where others may change it.
    fileprivate func subdirectory(_ name: String, creating: Bool) throws(FileError) -> Directory {
        let found = try openOrMake(name, creating: creating)
        try found.requirePrivate(allowGroup: false)
        return found
    }

    private func openOrMake(_ name: String, creating: Bool) throws(FileError) -> Directory {
        do throws(FileError) {
            return try directory(name)
        } catch {
            guard creating, error.code == .notFound else { throw error }
            return try makeDirectory(name, mode: mode)
        }
    }

    fileprivate func examine(_ name: String, creating: Bool) throws(FileError) {
        do throws(FileError) {
            _ = try subdirectory(name, creating: creating)
        } catch {
            if creating || error.code != .notFound { throw error }
        }
    }
}
