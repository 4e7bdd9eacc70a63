internal import Glibc
public import SharedFiles
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

/// Where processes of one user meet: a file system that is emptied at every start of the machine, and local.
enum UserRuntimePlace {
    static func current() -> String {
        let user = geteuid()
        let named = SecureEnvironment.value("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        // As the XDG base directory specification has it, a relative one counts as unset; another user's is no place for us.
        let runtime = [named, "/run/user/\(user)"].first { $0.hasPrefix("/") && isOwn($0, user) }
        return runtime.map { $0 + "/sealed-coordination" } ?? "/tmp/sealed-coordination-\(user)"
    }

    private static func isOwn(_ path: String, _ user: uid_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
            && status.st_mode & 0o077 == 0
    }
}

/// The registrations of a domain. One that was seen before and has not changed since is not read again.
///
/// Any member can put any number of files there, so nothing here goes on past the limit, and there are most files and bytes.
final class RegistrationShelf: Sendable {
    /// The most registrations that a domain may hold together, in bytes.
    static let maximumBytes = 4 << 20
    /// Two versions within one tick of the file system's clock have one time, so what is younger than this is read again.
    private static let settledAge: Int64 = 1_000_000_000

    private let known = Mutex<[String: Known]>([:])

    private struct Known {
        let stamp: FileAttributes
        /// Nil for what is no registration.
        let registration: PresenterRegistration?
    }

    /// Every process's registration but one, in the order of their names. What is not one is passed over.
    ///
    /// - Throws: `cancelled`, `presenterTimeout` where the limit was over first, `presenterFailed` where there are too many.
    func all(
        in domain: CoordinationDomain, except own: String?, _ limit: WaitLimit
    ) throws(FileError) -> [PresenterRegistration] {
        let before = known.withLock { $0 }
        var now: [String: Known] = [:]
        for (index, (name, stamp)) in try Self.stamps(in: domain, except: own, limit).enumerated() {
            // The first few are always read: what an idle machine does at once must not fail on a busy one.
            if index % 8 == 7 { try limit.requireTimeForPresenters(domain.directory.display(".")) }
            let seen = before[name]
            now[name] = seen?.stamp == stamp ? seen : try Self.read(name, stamp, in: domain)
        }
        let age = SystemTime.nanoseconds - Self.settledAge
        known.withLock { $0 = now.filter { $0.value.stamp.modifiedNanoseconds < age } }
        return now.sorted { $0.key < $1.key }.compactMap(\.value.registration)
    }

    /// All that may be registrations by name, kind and size, in the order of their names. Nothing is opened for it.
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
            // This process's own trouble must not make it overlook a presenter; another's file may.
            if error.code == .tooManyOpenFiles || error.code == .io { throw error }
            return nil
        }
    }
}
