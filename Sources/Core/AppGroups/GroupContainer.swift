internal import Glibc
public import SharedFiles
package import SystemPackage

/// An app group's shared directory, open and checked.
///
/// The directory is located below the home's `Containers`, with mode `0700`, or `2770` if it is shared with a unix
/// group, and has the standard subdirectories of its style. The value keeps the same directory even if its path
/// changes.
public final class GroupContainer: Sendable {
    /// The group of the container.
    public let group: AppGroup

    /// The path at which the container was found, for people and messages.
    ///
    /// Files are accessed through the open directory, never through this path, which may have changed since.
    public var path: String { root.path.string }

    /// The users of the container, as recorded by its directory when it was opened.
    public let sharing: Sharing

    /// The container's directory: the anchor of every path below it.
    package let root: Directory

    /// The kind of the container's name.
    public let style: ContainerStyle

    /// The home in which the container was found, to find it again.
    package let home: GroupsHome

    /// The largest record in bytes of its encoded form, by the registry, else by the container's copy of it, when the
    /// container was opened; nil for the usual limit.
    package let recordLimit: Int?

    /// The check whether the container may grow.
    package let quotaGate: QuotaGate

    private let isCreating: Bool

    private init(
        group: AppGroup, home: GroupsHome, root: Directory, style: ContainerStyle, sharing: Sharing, isCreating: Bool,
        recordLimit: Int64? = nil
    ) {
        self.group = group
        self.home = home
        self.root = root
        self.style = style
        self.sharing = sharing
        self.isCreating = isCreating
        self.recordLimit = recordLimit.map { Int(clamping: $0) }
        quotaGate = QuotaGate(group: group, root: root)
    }

    /// Creates a value for a container that is being removed, for cleanup before. Checks and creates nothing.
    convenience init(leaving root: Directory, of group: AppGroup, in home: GroupsHome) {
        self.init(
            group: group, home: home, root: root, style: .opaque, sharing: ContainerManager.sharing(of: root),
            isCreating: false)
    }

    /// Best effort: kernel objects can't be moved to the trash.
    func removeKernelObjectsIfPossible() { _ = try? removeKernelObjects() }
}

extension GroupContainer {
    /// Opens an app group's container and checks, every time, that no untrusted user may change it.
    ///
    /// - Parameters:
    ///   - home: The home of the containers.
    ///   - creating: Whether to create the container and missing standard directories. Safe when many processes do so
    ///     at once. With `false` nothing is written, and missing standard directories are left out.
    ///   - sharing: The users of a container that this call creates. An existing one keeps its users: see ``sharing``.
    ///     A registered group's next container is shared like its last one, unless a unix group is stated.
    ///   - behavior: The behaviour for creating a group's first container. An existing one keeps its ``style``.
    ///   - entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` with `notEntitled` for a group that the entitlements do not contain;
    ///   `containerMissing`; `containerAway` if a registered container is not there, for an opaque one also if
    ///   `creating`; `damagedRegistry`; `ambiguousContainer`; `registryBusy`, if `creating`; `notADirectory` for a link
    ///   or a file under the container's or a standard directory's name; `unsafeContainer`, with the command that fixes
    ///   it, if one of them may be written by others or belongs neither to the effective user nor to root, or if a
    ///   directory above is world-writable without the sticky bit; `notShared` if members of the unix group could not
    ///   use all of a shared container; `file` for every other failure.
    public static func open(
        _ group: AppGroup, in home: GroupsHome, creating: Bool = true, sharing: Sharing = .ownerOnly,
        behavior: ContainerBehavior = .macOS, entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) -> GroupContainer {
        try entitlements.require(group)
        let (root, style, entry) = try directory(of: group, in: home, creating: creating, behavior, sharing)
        do throws(FileError) {
            let sharing = try root.requireTrusted()
            // A copy that cannot be read is reported by the first write.
            let known = entry ?? (try? ContainerCopy.read(in: root, of: group))
            let container = GroupContainer(
                group: group, home: home, root: root, style: style, sharing: sharing, isCreating: creating,
                recordLimit: known?.recordLimit)
            try container.examineStandardDirectories()
            return container
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private static func directory(
        of group: AppGroup, in home: GroupsHome, creating: Bool, _ behavior: ContainerBehavior, _ sharing: Sharing
    ) throws(AppGroupError) -> (Directory, ContainerStyle, RegistryEntry?) {
        let manager = ContainerManager(group: group, home: home)
        let finder = ContainerFinder(group: group, home: home)
        var found = try finder.find()
        if creating, let known = found, let entry = known.entry, ContainerCopy.differs(from: entry, in: known.root) {
            // A failure to write it, for example on a read-only disk, must not prevent opening the container.
            try? manager.change { _, _ in }
            // The container may have been on its way to the trash.
            found = try finder.find()
        }
        if let found { return (found.root, found.style, found.entry) }
        guard creating else { throw try missing(group, in: home) }
        do throws(AppGroupError) {
            return try manager.change(sharing: sharing) { held, state throws(AppGroupError) in
                let style = state.entry?.style ?? behavior.style
                if let root = state.root { return (root, style, state.entry) }
                return (try manager.make(held, &state, style: style, sharing: sharing), style, state.entry)
            }
        } catch {
            guard behavior == .macOS, let root = try manager.makeWithoutRegistry(sharing, after: error) else {
                throw error
            }
            return (root, .named, nil)
        }
    }

    private static func missing(_ group: AppGroup, in home: GroupsHome) throws(AppGroupError) -> AppGroupError {
        let entry = try GroupRegistry(group, in: home).entry()
        if let departure = entry?.departure { return .leaving(departure, of: group) }
        // A named container: for opaque ones the search itself throws this.
        if let directory = entry?.directory {
            return .containerAway(home.containersPath.appending(directory).string, of: group)
        }
        let path = home.containersPath.appending(group.identifier).string
        return AppGroupError(
            FileError(errno: ENOENT, operation: "open the directory", path: path), openingContainerOf: group)
    }

    /// Returns the path of the group's container, existing or not: the registry's path, unchecked, else the group's
    /// identifier below `Containers`.
    ///
    /// - Parameter isStrict: Whether to reject a registry and a directory that others may change; `false` for
    ///   diagnosis.
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    package static func place(
        of group: AppGroup, in home: GroupsHome, isStrict: Bool = true
    ) throws(AppGroupError) -> FilePath {
        let named = home.containersPath.appending(group.identifier)
        do throws(AppGroupError) {
            let finder = ContainerFinder(group: group, home: home, isStrict: isStrict)
            return try finder.find()?.root.path ?? named
        } catch {
            // A registered container that no longer exists.
            if error.meansNoContainer { return FilePath(error.subject) }
            throw error
        }
    }

    /// Opens one of the standard directories and checks it as ``open(_:in:creating:sharing:)`` does.
    ///
    /// Other programs may remove these directories; a missing one is created again if the container was opened with
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
            for place in style.directories {
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
    /// Opens a directory of a container; throws if it is not as private, or shared, as the container.
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

extension GroupContainer {
    /// Returns the space that the container's files use. Walks the whole container.
    public func usage() -> ContainerUsage { ContainerUsage(of: root) }

    /// Returns the quota for the container's files in bytes, by the container's copy of the registry; nil for no quota.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `file`.
    public func quota() throws(AppGroupError) -> Int64? { try ContainerCopy.read(in: root, of: group)?.quota }
}

extension GroupContainer {
    /// The subdirectories of every container, as on macOS.
    public enum StandardDirectory: CaseIterable, Hashable, Sendable {
        /// Files that the group's programs need to work: records, databases.
        case applicationSupport
        /// Files that can be recreated and may vanish at any time.
        case caches
        /// Settings.
        case preferences

        /// The path below the container, for example `Library/Application Support`.
        public var relativePath: String { "\(Self.parent)/\(name)" }

        /// The parent directory of all of them.
        static let parent = "Library"

        var name: String {
            switch self {
            case .applicationSupport: "Application Support"
            case .caches: "Caches"
            case .preferences: "Preferences"
            }
        }
    }
}

/// The paths below a container's root; no other type names them.
package enum ContainerLayout {
    /// Sealed records, one file each, in directories by the segments of their names.
    package static let records = "Library/Application Support/Records"
    /// The manifests of sealed files, in directories by the segments of their names.
    package static let files = "Files"
    /// The directory of the contents of sealed files, below that of the manifests; no file has such a name.
    package static let contentsName = ".contents"
    /// The contents of sealed files, one file for each version.
    package static let contents = files + "/" + contentsName
    /// The messages of mailboxes: a directory for each, with segments of each producer.
    package static let mailboxes = "Mailboxes"
    /// The suffix of every sealed record's file name.
    package static let recordSuffix = ".sealed"
    /// Copies of rejected blobs, kept for diagnosis.
    package static let quarantine = "Quarantine"
    /// The container's lock file.
    package static let lockFile = ".sealedstate.lock"
    /// The lock file of leases. A separate file: a lease is held for as long as its work takes, and a rotation waits
    /// for every lock of the other file.
    package static let leaseFile = ".sealedstate.leases"
    /// A copy of the container's registry entry: its group, members and quota. If the registry is lost, the container
    /// is found by this copy.
    package static let metadata = ".sealedstate.container"
    /// The signed list of the group's writers, readable by every member (docs/spec/writers.md).
    package static let roster = ".sealedstate.roster"
    /// The name of the backend of the records; missing for files.
    package static let backend = ".sealedstate.backend"
    /// The database of the records, for that backend.
    package static let database = "Library/Application Support/Records.sqlite"
    /// Its path in the last step of a move of its records into files.
    package static let movedDatabase = database + ".moved"
    /// The database and the files beside it.
    package static let databaseFiles =
        [database] + ["-wal", "-shm", "-journal"].map { database + $0 } + [movedDatabase]

    /// Returns whether a path below the container is a file of the database, or of one that was not finished. Only SQLite
    /// may open them in a process: closing any descriptor of one ends the process's locks on it.
    package static func isDatabase(_ path: some StringProtocol) -> Bool {
        databaseFiles.contains { path == $0 } || path.hasPrefix(database + ".new.")
    }

    /// The prefix of the reserves for deletions, one per user, followed by the user's number.
    package static let reservePrefix = ".sealedstate.reserve."

    /// Returns whether a path below the container is that of a reserve.
    package static func isReserve(_ path: some StringProtocol) -> Bool {
        guard path.hasPrefix(reservePrefix) else { return false }
        let user = path.utf8.dropFirst(reservePrefix.utf8.count)
        return (1...10).contains(user.count)
            && user.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    /// The files of notifications, one for each name that was ever posted.
    package static let notifications = ".notifications"
    /// The lock file of coordinated accesses, and the addresses of processes with presenters.
    package static let coordination = ".coordination"
    /// The records of the group's semaphores and shared memory, and their lock file.
    package static let ipc = ".ipc"
    /// The group's UNIX domain sockets, and their lock file.
    package static let sockets = ".sockets"
}

/// The kind of a container's name.
public enum ContainerStyle: String, Hashable, Sendable, CaseIterable {
    /// The group's identifier.
    case named
    /// Random digits, which a group keeps until its last member is removed or it is reset.
    case opaque

    /// The standard directories of every new container of this style.
    var directories: [GroupContainer.StandardDirectory] {
        switch self {
        case .named: GroupContainer.StandardDirectory.allCases
        case .opaque: [.caches]
        }
    }
}

/// The creation of a group's container, as one of Apple's two systems documents it.
///
/// The behaviour applies only if there is no container yet. An existing one keeps its style for every caller.
public enum ContainerBehavior: String, Hashable, Sendable, CaseIterable {
    /// The container has the group's identifier as its name, gets all standard directories and is never removed.
    case macOS
    /// The container has a random name, gets only `Library/Caches`, and is removed with the last of its member
    /// programs.
    case iOS

    /// The style of a container created with this behaviour.
    public var style: ContainerStyle {
        switch self {
        case .macOS: .named
        case .iOS: .opaque
        }
    }
}
