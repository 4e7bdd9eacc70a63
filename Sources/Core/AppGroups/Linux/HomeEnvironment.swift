internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The variables that decide where a home lies.
package enum HomeEnvironment {
    /// Puts everything below one directory.
    package static let root = "SEALED_GROUPS_HOME"
    /// Puts what belongs to one user, keys and watermarks, below a directory of its own.
    package static let user = "SEALED_USER_HOME"
    static let home = "HOME"
    static let data = "XDG_DATA_HOME"
    static let configuration = "XDG_CONFIG_HOME"
    static let state = "XDG_STATE_HOME"

    /// The variables that name directories of one user.
    static let personal: Set<String> = [home, configuration, state]

    /// Every variable that is looked at.
    package static let names = [root, user, home, data, configuration, state]

    /// The variables that are set in this process.
    ///
    /// Nothing in a program that has more rights than its caller: the caller could otherwise point it at a directory of
    /// the caller's own.
    ///
    /// - Throws: ``AppGroupError`` with `invalidHome` for a value that is not UTF-8. Repairing it would name another
    ///   directory.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        // Asked as well: a program may have changed its ids since it was started.
        guard getuid() == geteuid(), getgid() == getegid() else { return values }
        for name in names {
            guard let pointer = SecureEnvironment.value(name) else {
                // Falling back would put a second home, and a second key, where nobody looks for them.
                if name != home && getenv(name) != nil { throw .untrustedHome(name) }
                continue
            }
            guard let value = String(validatingCString: pointer) else { throw .unreadableHome(name) }
            values[name] = value
        }
        return values
    }
}

/// The owner of a directory in which a home would be.
enum HomeOwner {
    /// Whether a directory exists and belongs to another user than the one this process writes files as.
    static func isAnother(_ path: FilePath) -> Bool { facts(path).map { $0.st_uid != geteuid() } ?? false }

    /// Whether other users than the one this process writes files as can rename what is in a directory, or the directory
    /// itself: it, or a directory on the way to it, belongs to one of them, or they can write it and it is not sticky. A
    /// directory that does not exist is judged by those on the way to it.
    static func isOthersToo(_ path: FilePath) -> Bool {
        if let status = facts(path), status.st_uid != geteuid() || isWritableByOthers(status) { return true }
        let stated = prefixes(of: path)
        let real = stated.lazy.compactMap(realPath).first.map(prefixes) ?? []
        return (stated.dropFirst() + real).contains { prefix in
            facts(prefix).map { !isTrusted($0.st_uid) || isWritableByOthers($0) } ?? false
        } || stated.contains(where: isLinkOfAnother)
    }

    private static func isTrusted(_ owner: uid_t) -> Bool { owner == 0 || owner == geteuid() }

    private static func isWritableByOthers(_ status: stat) -> Bool {
        status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
    }

    /// A link in a sticky directory is replaced by its owner.
    private static func isLinkOfAnother(_ path: FilePath) -> Bool {
        var status = stat()
        return lstat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK && !isTrusted(status.st_uid)
    }

    /// A path and every directory on the way to it, the longest first.
    private static func prefixes(of path: FilePath) -> [FilePath] {
        var prefixes = [path]
        while let last = prefixes.last, case let shorter = last.removingLastComponent(), shorter != last,
            !shorter.isEmpty
        {
            prefixes.append(shorter)
        }
        return prefixes
    }

    /// The path without links; nil where nothing has it.
    private static func realPath(_ path: FilePath) -> FilePath? {
        guard let resolved = realpath(path.string, nil) else { return nil }
        defer { free(resolved) }
        return FilePath(String(cString: resolved))
    }

    private static func facts(_ path: FilePath) -> stat? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status : nil
    }

    /// Whether this process can make a directory, or write in it if it exists.
    static func canMake(_ path: FilePath) -> Bool {
        prefixes(of: path).first { facts($0) != nil }.map { access($0.string, W_OK | X_OK) == 0 } ?? false
    }

    /// Whether a directory has that name.
    static func isDirectory(_ path: FilePath) -> Bool { facts(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
}

/// The home directory that the user database has for a user.
package enum AccountHome {
    private static let largestBuffer = 1 << 20

    /// The real user's directory as the database has it; `nil` where there is no entry, it is not UTF-8, or the lookup fails.
    package static func read() -> String? { read(getuid()) }

    /// The directory of the user that this process writes files as.
    static func ofEffectiveUser() -> String? { read(geteuid()) }

    private static func read(_ user: uid_t) -> String? {
        var size = 1024
        while size <= largestBuffer {
            switch look(user, withBufferOf: size) {
            case .found(let home): return home
            case .none: return nil
            case .bufferTooSmall: size *= 4
            }
        }
        return nil
    }

    private enum Answer {
        case found(String?)
        case none
        case bufferTooSmall
    }

    private static func look(_ user: uid_t, withBufferOf size: Int) -> Answer {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            guard let start = buffer.baseAddress else { return .none }
            var entry = passwd()
            var result: UnsafeMutablePointer<passwd>?
            var status = EINTR
            while status == EINTR {
                status = getpwuid_r(user, &entry, start, size, &result)
            }
            if status == ERANGE { return .bufferTooSmall }
            guard status == 0, result != nil, let directory = entry.pw_dir else { return .none }
            return .found(String(validatingCString: directory))
        }
    }
}

/// The directory that relative paths of this process begin at.
enum WorkingDirectory {
    /// Its path; `nil` where it has been deleted or can't be reached.
    static func path() -> FilePath? {
        // glibc allocates as much as the path needs when it is given no buffer.
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return FilePath(platformString: text)
    }
}
