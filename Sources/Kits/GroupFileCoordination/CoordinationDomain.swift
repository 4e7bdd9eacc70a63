internal import Glibc
public import SharedFiles
internal import Synchronization
internal import SystemPackage

/// A directory with the lock file and the addresses of presenters, through which processes coordinate.
///
/// Coordinators and presenters coordinate if, and only if, they use the same directory. Processes of one user share
/// `user()`. The members of a group container have a domain in the container, which other unix users that share it can
/// use as well.
public final class CoordinationDomain: Sendable {
    package let directory: Directory
    let scope: ItemPath?
    let identity: Identity
    /// The mode of every file in the directory.
    let fileMode: UInt32
    let registrations = RegistrationCache()
    /// The absolute path, so that a changed working directory has no effect.
    private let place: String

    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    static let lockName = ".lock"

    /// Creates a domain in an open directory that the caller has checked.
    ///
    /// - Parameter scope: Directories above this one are never locked for items below it, since no member moves them.
    package init(directory: Directory, scope: String? = nil) throws(FileError) {
        let facts = try directory.attributes(".")
        self.directory = directory
        self.scope = if let scope { try ItemPath(scope) } else { nil }
        identity = Identity(device: facts.device, inode: facts.inode)
        fileMode = facts.sharing.fileMode
        place = Self.absolute(directory.path.string)
    }

    /// Creates a domain in a directory; creates the directory with mode `0700` if it is missing.
    ///
    /// - Throws: ``FileError`` with `wrongOwner` or `unsafeMode` if others could change the directory, unless it is
    ///   shared with a unix group of this process.
    public convenience init(path: String) throws(FileError) {
        let directory = try Directory.create(path, mode: Sharing.ownerOnly.directoryMode)
        try directory.requireTrusted()
        try self.init(directory: directory)
    }

    /// Returns the domain of this unix user's processes: `sealed-coordination` in `XDG_RUNTIME_DIR`, else in
    /// `/run/user/UID`, else `/tmp/sealed-coordination-UID`.
    ///
    /// A program with another `XDG_RUNTIME_DIR`, or one that runs while the user is not logged in, uses another
    /// directory. Programs that must coordinate in such cases name a directory of their own.
    /// - Throws: ``FileError`` with `wrongOwner` or `unsafeMode` if another user created that directory.
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

    /// The shared open directories for coordinators without a domain of their own.
    private static let users = Mutex<[String: CoordinationDomain]>([:])

    var lockPath: String { directory.display(Self.lockName) }

    /// `true` if the path still leads to this directory. Otherwise new processes would use another directory than this
    /// one.
    ///
    /// A path that can't be examined, for example for lack of permission, counts as in place.
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
    /// Returns this domain, or the user's domain if it is `nil`.
    func orUser() throws(FileError) -> CoordinationDomain {
        if let self { return self }
        return try .user()
    }
}

extension CoordinationDomain {
    /// Opens the lock file; creates an empty one if it is missing. Rejects planted files without blocking.
    func openLockFile() throws(FileError) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(Self.lockName, flags, mode: fileMode, "open the lock file")
        let facts = try file.attributes()
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: "use the lock file", path: lockPath)
        }
        // A second name means that another program chose the file that the locks are on.
        if facts.nlink > 1 { throw .secondName(ofLockFile: lockPath) }
        // Restores permissions that were removed from this user's file, so that other members can lock it as well.
        if facts.uid == geteuid() && fileMode & ~facts.mode != 0 && fchmod(file.rawValue, facts.mode | fileMode) < 0 {
            throw FileError(errno: errno, operation: "set the mode of", path: lockPath)
        }
        return file
    }
}

/// The directory where processes of one user coordinate: on a local file system that is emptied at every boot.
enum UserRuntimePlace {
    static func current() -> String {
        let user = geteuid()
        let named = SecureEnvironment.value("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        // A relative path counts as unset (XDG Base Directory Specification); another user's directory is not used.
        let runtime = [named, "/run/user/\(user)"].first { $0.hasPrefix("/") && isOwn($0, user) }
        return runtime.map { $0 + "/sealed-coordination" } ?? "/tmp/sealed-coordination-\(user)"
    }

    private static func isOwn(_ path: String, _ user: uid_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
            && status.st_mode & 0o077 == 0
    }
}

/// The registrations of a domain. A registration that has not changed since it was read is not read again.
///
/// Any member can create any number of files there, so reading stops at the time limit and has a maximum of files and
/// bytes.
final class RegistrationCache: Sendable {
    /// The largest total size of a domain's registrations, in bytes.
    static let maximumBytes = 4 << 20
    /// Two versions within one tick of the file system's clock have the same time, so a younger file is read again.
    private static let settledAge: Int64 = 1_000_000_000

    private let known = Mutex<[String: Known]>([:])

    private struct Known {
        let stamp: FileAttributes
        /// `nil` if the file is not a registration.
        let registration: PresenterRegistration?
    }

    /// Returns every registration except that of one process, sorted by name. Skips files that are not registrations.
    ///
    /// - Throws: `cancelled`, `presenterTimeout` if the limit expires first, `presenterFailed` if there are too many.
    func all(
        in domain: CoordinationDomain, except own: String?, _ limit: WaitLimit
    ) throws(FileError) -> [PresenterRegistration] {
        let before = known.withLock { $0 }
        var now: [String: Known] = [:]
        for (index, (name, stamp)) in try Self.stamps(in: domain, except: own, limit).enumerated() {
            // The first few are always read: a search that is instant on an idle machine must not fail on a busy one.
            if index % 8 == 7 { try limit.requireTimeForPresenters(domain.directory.display(".")) }
            let seen = before[name]
            now[name] = seen?.stamp == stamp ? seen : try Self.read(name, stamp, in: domain)
        }
        let age = SystemTime.nanoseconds - Self.settledAge
        known.withLock { $0 = now.filter { $0.value.stamp.modifiedNanoseconds < age } }
        return now.sorted { $0.key < $1.key }.compactMap(\.value.registration)
    }

    /// Returns all files that may be registrations by name, kind and size, sorted by name. Opens none of them.
    private static func stamps(
        in domain: CoordinationDomain, except own: String?, _ limit: WaitLimit
    ) throws(FileError) -> [(name: String, stamp: FileAttributes)] {
        var found: [(name: String, stamp: FileAttributes)] = []
        var size: Int64 = 0
        for name in try RegistrationNames.all(in: domain, limit).sorted() where name != own {
            let file = name + PresenterRegistration.itemsSuffix
            guard let stamp = try? domain.directory.attributes(ofLeaf: file), stamp.kind == .regular,
                stamp.size <= PresenterRegistration.maximumSize
            else { continue }
            size += stamp.size
            if size > maximumBytes { throw .tooManyRegistrations(domain.directory.display(".")) }
            found.append((name, stamp))
        }
        return found
    }

    private static func read(
        _ name: String, _ stamp: FileAttributes, in domain: CoordinationDomain
    ) throws(FileError) -> Known? {
        do throws(FileError) {
            let file = name + PresenterRegistration.itemsSuffix
            let bytes = try domain.directory.read(file, limit: PresenterRegistration.maximumSize)
            return Known(stamp: stamp, registration: PresenterRegistration(name: name, bytes))
        } catch {
            // An error of this process must not make it miss a presenter; an invalid file of another process is
            // skipped.
            if error.code == .tooManyOpenFiles || error.code == .io { throw error }
            return nil
        }
    }
}
