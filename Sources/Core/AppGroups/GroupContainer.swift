internal import Glibc
public import SharedFiles
package import SystemPackage

/// An app group's shared directory, open and found safe.
///
/// It is the group's directory below the home's `Containers`, `0700`, or `2770` where it is shared with a unix group, with
/// the standard subdirectories of its style. Once open it stays the same directory, whatever happens to its path.
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

    /// Under what kind of name it lies.
    public let style: ContainerStyle

    /// Where it was looked for, to look again.
    package let home: GroupsHome

    /// What says whether the container may grow.
    package let quotaGate: QuotaGate

    private let isCreating: Bool

    private init(
        group: AppGroup, home: GroupsHome, root: Directory, style: ContainerStyle, sharing: Sharing, isCreating: Bool
    ) {
        self.group = group
        self.home = home
        self.root = root
        self.style = style
        self.sharing = sharing
        self.isCreating = isCreating
        quotaGate = QuotaGate(group: group, root: root)
    }

    /// A container that is about to leave, for what has to end before. Nothing is checked and nothing is made.
    convenience init(leaving root: Directory, of group: AppGroup, in home: GroupsHome) {
        self.init(
            group: group, home: home, root: root, style: .opaque, sharing: ContainerKeeper.sharing(of: root),
            isCreating: false)
    }

    /// Best effort: what is in the kernel can't be moved to the trash.
    func removeKernelObjectsIfPossible() { _ = try? removeKernelObjects() }
}

extension GroupContainer {
    /// Opens an app group's container and checks, every time, that nobody else may change it.
    ///
    /// - Parameters:
    ///   - home: Where containers lie.
    ///   - creating: Whether to make the container and whatever is missing of its standard directories. Safe when
    ///     many processes do so at once. With `false` nothing is written, and missing standard directories are left out.
    ///   - sharing: Who may use a container that this call makes. One that exists keeps what it has: see ``sharing``; and a
    ///     registered group's next container is shared as its last one was, unless a unix group is stated.
    ///   - behavior: How a container is made that the group never had. One that exists keeps its ``style``.
    ///   - entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` with `notEntitled` for a group that the entitlements do not hold; `containerMissing`;
    ///   `containerAway` where the registry has one that is not there, for an opaque one also if `creating`; `damagedRegistry`;
    ///   `ambiguousContainer`; `registryBusy`, if `creating`; `notADirectory` for a link or a file under the container's
    ///   or a standard directory's name; `unsafeContainer`, with the command that mends it, where one of them may be
    ///   written by others or belongs neither to the effective user nor to root, or where a directory above may be
    ///   written by everybody without the sticky bit; `notShared` where members of the unix group could not use
    ///   all of a shared container; `file` for every other failure.
    public static func open(
        _ group: AppGroup, in home: GroupsHome, creating: Bool = true, sharing: Sharing = .ownerOnly,
        behavior: ContainerBehavior = .macOS, entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) -> GroupContainer {
        try entitlements.require(group)
        let (root, style) = try directory(of: group, in: home, creating: creating, behavior, sharing)
        do throws(FileError) {
            let container = GroupContainer(
                group: group, home: home, root: root, style: style, sharing: try root.requireTrusted(),
                isCreating: creating)
            try container.examineStandardDirectories()
            return container
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private static func directory(
        of group: AppGroup, in home: GroupsHome, creating: Bool, _ behavior: ContainerBehavior, _ sharing: Sharing
    ) throws(AppGroupError) -> (Directory, ContainerStyle) {
        let keeper = ContainerKeeper(group: group, home: home)
        let finder = ContainerFinder(group: group, home: home)
        var found = try finder.find()
        if creating, let known = found, let entry = known.entry, ContainerCopy.differs(from: entry, in: known.root) {
            // What keeps it from being written, a read-only disk say, keeps nobody from the container.
            try? keeper.change { _, _ in }
            // It may have been on its way to the trash.
            found = try finder.find()
        }
        if let found { return (found.root, found.style) }
        guard creating else { throw try missing(group, in: home) }
        do throws(AppGroupError) {
            return try keeper.change(sharing: sharing) { held, state throws(AppGroupError) in
                let style = state.entry?.style ?? behavior.style
                if let root = state.root { return (root, style) }
                return (try keeper.make(held, &state, style: style, sharing: sharing), style)
            }
        } catch {
            guard behavior == .macOS, let root = try keeper.makeWithoutRegistry(sharing, after: error) else {
                throw error
            }
            return (root, .named)
        }
    }

    private static func missing(_ group: AppGroup, in home: GroupsHome) throws(AppGroupError) -> AppGroupError {
        let entry = try GroupRegistry(group, in: home).entry()
        if let departure = entry?.departure { return .leaving(departure, of: group) }
        // A named one: of opaque ones the search itself says so.
        if let directory = entry?.directory {
            return .containerAway(home.containersPath.appending(directory).string, of: group)
        }
        let path = home.containersPath.appending(group.identifier).string
        return AppGroupError(
            FileError(errno: ENOENT, operation: "open the directory", path: path), openingContainerOf: group)
    }

    /// Where the group's container lies, or would lie: the registry's answer, unchecked, else the group's identifier below
    /// `Containers`.
    ///
    /// - Parameter isStrict: Whether a registry and a place are refused that others may change; not by who says what is wrong.
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `ambiguousContainer`, `notADirectory`, `unsafeContainer`, `file`.
    package static func place(
        of group: AppGroup, in home: GroupsHome, isStrict: Bool = true
    ) throws(AppGroupError) -> FilePath {
        let named = home.containersPath.appending(group.identifier)
        do throws(AppGroupError) {
            let finder = ContainerFinder(group: group, home: home, isStrict: isStrict)
            return try finder.find()?.root.path ?? named
        } catch {
            // One that the registry has and that is gone.
            if error.meansNoContainer { return FilePath(error.subject) }
            throw error
        }
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

extension GroupContainer {
    /// What its files take up now. Walks the whole container.
    public func usage() -> ContainerUsage { ContainerUsage(of: root) }

    /// The most bytes that its files may have, by the container's copy of the registry; nil for any number.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `file`.
    public func quota() throws(AppGroupError) -> Int64? { try ContainerCopy.read(in: root, of: group)?.quota }
}

extension GroupContainer {
    /// The subdirectories that every container has, as on macOS.
    public enum StandardDirectory: CaseIterable, Hashable, Sendable {
        /// What the programs of the group need to work: records, databases.
        case applicationSupport
        /// What can be made again, and may vanish at any time.
        case caches
        /// Settings.
        case preferences

        /// The path below the container, for example `Library/Application Support`.
        public var relativePath: String { "\(Self.parent)/\(name)" }

        /// The directory that holds all of them.
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

/// Where things lie below a container's root; the one place that names them.
package enum ContainerLayout {
    /// Sealed records, one file each, in directories by the segments of their names.
    package static let records = "Library/Application Support/Records"
    /// Ends the file name of every sealed record.
    package static let recordSuffix = ".sealed"
    /// Copies of blobs that were refused, kept for whoever wants to know why.
    package static let quarantine = "Quarantine"
    /// The one lock file of the container.
    package static let lockFile = ".sealedstate.lock"
    /// Where holders of leases show that they live. A file of its own: a lease is held for as long as its work takes, and
    /// a rotation waits for every lock of the other one.
    package static let leaseFile = ".sealedstate.leases"
    /// A copy of what the registry knows of the container: its group, members and quota. Where the registry is lost, the
    /// container is found by it.
    package static let metadata = ".sealedstate.container"
    /// The signed list of the group's writers, readable by every member (docs/writers.md).
    package static let roster = ".sealedstate.roster"
    /// Begins the names of the reserves for deletions, one for each user; the user's number ends it.
    package static let reservePrefix = ".sealedstate.reserve."

    /// Whether a path below the container is that of a reserve.
    package static func isReserve(_ path: some StringProtocol) -> Bool {
        guard path.hasPrefix(reservePrefix) else { return false }
        let user = path.utf8.dropFirst(reservePrefix.utf8.count)
        return (1...10).contains(user.count)
            && user.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    /// One file for each notification that was ever posted.
    package static let notifications = ".notifications"
    /// The lock file of coordinated accesses, and the addresses of processes with presenters.
    package static let coordination = ".coordination"
    /// What stands for the group's semaphores and shared memory, and their lock file.
    package static let ipc = ".ipc"
    /// The group's UNIX domain sockets, and their lock file.
    package static let sockets = ".sockets"
}
