internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Who coordinates with whom: a directory that holds the lock file and the addresses of presenters.
///
/// Coordinators and presenters meet if, and only if, they use the same directory. Processes of one user meet in `user()`. The
/// members of a group container have one in the container, which other unix users that share it can use as well.
public final class CoordinationDomain: Sendable {
    package let directory: Directory
    let scope: ItemPath?
    let identity: Identity
    /// Mode of every file in it.
    let fileMode: UInt32
    let registrations = RegistrationShelf()
    /// Absolute, so that it stays the same one when the process goes elsewhere.
    private let place: String

    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    static let lockName = ".lock"

    /// A domain in an open directory that the caller has found safe.
    ///
    /// - Parameter scope: Directories above this one are never locked for items below it: nobody of this domain moves those.
    package init(directory: Directory, scope: String? = nil) throws(FileError) {
        let facts = try directory.attributes(".")
        self.directory = directory
        self.scope = if let scope { try ItemPath(scope) } else { nil }
        identity = Identity(device: facts.device, inode: facts.inode)
        fileMode = facts.sharing.fileMode
        place = Self.absolute(directory.path.string)
    }

    /// A domain in a directory, which is made, `0700`, if it is missing.
    ///
    /// - Throws: ``FileError`` with `wrongOwner` or `unsafeMode` where others could change it, unless it is shared with a unix
    ///   group of this process.
    public convenience init(path: String) throws(FileError) {
        let directory = try Directory.create(path, mode: Sharing.ownerOnly.directoryMode)
        try directory.requireTrusted()
        try self.init(directory: directory)
    }

    /// The domain of this unix user's processes: `sealed-coordination` in `XDG_RUNTIME_DIR`, else in `/run/user/UID`, else
    /// `/tmp/sealed-coordination-UID`.
    ///
    /// A program that runs with another `XDG_RUNTIME_DIR`, or while the user is not logged in, is in another place: programs
    /// that must meet then name a directory of their own.
    /// - Throws: ``FileError`` with `wrongOwner` or `unsafeMode` where somebody else made that directory.
    public static func user() throws(FileError) -> CoordinationDomain {
        try users.withLock { (known) throws(FileError) in
            let place = UserRuntimePlace.current()
            if let domain = known[place], domain.isInPlace { return domain }
            let directory = try Directory.createOwn(place)
            guard try directory.attributes(".").uid == geteuid() else {
                throw FileError(.wrongOwner, operation: "trust", path: place)
            }
            let domain = try CoordinationDomain(directory: directory)
            known[place] = domain
            return domain
        }
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }

    /// One open directory for all coordinators that name none.
    private static let users = Mutex<[String: CoordinationDomain]>([:])

    var lockPath: String { directory.display(Self.lockName) }

    /// Whether its path still leads to this directory: whoever comes now would else meet others than we do.
    ///
    /// A path that can't be looked at, such as for lack of rights, counts as yes.
    var isInPlace: Bool {
        var status = stat()
        if lstat(place, &status) < 0 { return errno != ENOENT && errno != ENOTDIR }
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) == identity
    }

    /// - Throws: `lockFileReplaced`.
    func requireInPlace() throws(FileError) {
        if isInPlace { return }
        throw FileError(
            .lockFileReplaced, operation: "coordinate", path: lockPath,
            advice: "The directory was removed or replaced; open the domain again, and add presenters to the new one.")
    }
}

extension CoordinationDomain? {
    /// The user's domain where none was named.
    func orUser() throws(FileError) -> CoordinationDomain {
        if let self { return self }
        return try .user()
    }
}

extension CoordinationDomain {
    /// Opens the lock file, making an empty one when it is missing. Planted things are refused without blocking.
    func openLockFile() throws(FileError) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(Self.lockName, flags, mode: fileMode, "open the lock file")
        let facts = try file.attributes()
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: "use the lock file", path: lockPath)
        }
        // A second name means that somebody chose which file our locks are on.
        guard facts.nlink <= 1 else {
            throw FileError(
                .unsafePath, operation: "use the lock file", path: lockPath,
                advice: "It has a second name; stop its users and remove it: rm \(lockPath.shellQuoted)")
        }
        // Undoes what somebody took from a file that is ours, so that other members can lock it as well.
        if facts.uid == geteuid() && fileMode & ~facts.mode != 0 && fchmod(file.rawValue, facts.mode | fileMode) < 0 {
            throw FileError(errno: errno, operation: "set the mode of", path: lockPath)
        }
        return file
    }
}
