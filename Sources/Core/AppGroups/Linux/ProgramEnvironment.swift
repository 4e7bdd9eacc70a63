internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The variables that determine the location of a home.
package enum HomeEnvironment {
    /// The directory above all others.
    package static let root = "SEALED_GROUPS_HOME"
    /// The directory of one user's own files: keys and watermarks.
    package static let user = "SEALED_USER_HOME"
    static let home = "HOME"
    static let data = "XDG_DATA_HOME"
    static let configuration = "XDG_CONFIG_HOME"
    static let state = "XDG_STATE_HOME"

    /// The variables that name directories of one user.
    static let personal: Set<String> = [home, configuration, state]

    /// Every variable that is read.
    package static let names = [root, user, home, data, configuration, state]

    /// Returns the variables that are set in this process.
    ///
    /// Returns none in a program with more rights than its caller, who could otherwise redirect it to a directory of
    /// the caller's own.
    ///
    /// - Throws: ``AppGroupError`` with `invalidHome` for a value that is not UTF-8. A repaired value would name
    ///   another directory.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        // Checked as well: a program may have changed its ids after its start.
        guard getuid() == geteuid(), getgid() == getegid() else { return values }
        for name in names {
            guard let pointer = SecureEnvironment.value(name) else {
                // A fallback would create a second home, and a second key, in an unexpected place.
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
    /// Returns whether a directory exists and belongs to a user other than the effective one.
    static func isAnother(_ path: FilePath) -> Bool { facts(path).map { $0.st_uid != geteuid() } ?? false }

    /// Returns whether other users than the effective one can rename a directory or its entries: the directory, or one
    /// above it, belongs to another user, or is writable for others without the sticky bit. A missing directory is
    /// judged by the ones above it.
    static func isChangeableByOthers(_ path: FilePath) -> Bool {
        if let status = facts(path), status.st_uid != geteuid() || isWritableByOthers(status) { return true }
        let stated = prefixes(of: path)
        let real = stated.lazy.compactMap(realPath).first.map(prefixes) ?? []
        return (stated.dropFirst() + real).contains { prefix in
            facts(prefix).map { !isTrusted($0.st_uid) || isWritableByOthers($0) } ?? false
        } || stated.contains(where: isLinkOfAnother)
    }

    /// Returns whether two paths lead to one directory.
    static func isSame(_ path: FilePath, _ other: FilePath) -> Bool {
        if path == other { return true }
        guard let first = facts(path), let second = facts(other) else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func isTrusted(_ owner: uid_t) -> Bool { owner == 0 || owner == geteuid() }

    private static func isWritableByOthers(_ status: stat) -> Bool {
        status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
    }

    /// Returns whether the path is another user's link, which its owner can replace even in a sticky directory.
    private static func isLinkOfAnother(_ path: FilePath) -> Bool {
        var status = stat()
        return lstat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK && !isTrusted(status.st_uid)
    }

    /// Returns a path and every directory above it, the longest first.
    private static func prefixes(of path: FilePath) -> [FilePath] {
        var prefixes = [path]
        while let last = prefixes.last, case let shorter = last.removingLastComponent(), shorter != last,
            !shorter.isEmpty
        {
            prefixes.append(shorter)
        }
        return prefixes
    }

    /// Returns the path without links; nil if it does not exist.
    private static func realPath(_ path: FilePath) -> FilePath? {
        guard let resolved = realpath(path.string, nil) else { return nil }
        defer { free(resolved) }
        return FilePath(String(cString: resolved))
    }

    private static func facts(_ path: FilePath) -> stat? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status : nil
    }

    /// Returns whether this process can create a directory, or write in it if it exists.
    static func canMake(_ path: FilePath) -> Bool {
        prefixes(of: path).first { facts($0) != nil }.map { access($0.string, W_OK | X_OK) == 0 } ?? false
    }

    /// Returns whether the path is a directory.
    static func isDirectory(_ path: FilePath) -> Bool { facts(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
}

/// The home directory of a user in the user database.
package enum AccountHome {
    private static let largestBuffer = 1 << 20

    /// Returns the real user's directory; `nil` if there is no entry, it is not UTF-8, or the lookup fails.
    package static func read() -> String? { read(getuid()) }

    /// Returns the effective user's directory.
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

/// The directory from which this process resolves relative paths.
enum WorkingDirectory {
    /// Returns the path; `nil` if the directory was deleted or can't be reached.
    static func path() -> FilePath? {
        // glibc allocates a buffer of the needed size if it gets none.
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return FilePath(platformString: text)
    }
}

/// An entitlements file at a path.
struct EntitlementsFile {
    static let largest = 1 << 20

    let path: String

    /// Returns the file's bytes, with any owner.
    ///
    /// Links in the parents are followed; the file itself must be regular and not a link. The call does not wait for a
    /// FIFO.
    /// - Throws: `FileError`, `tooLarge` above ``largest``; `notRegularFile`; `unsafePath` for a link.
    func read() throws(FileError) -> [UInt8] {
        let file = try open()
        return try readAll(of: file, size: try file.attributes().size)
    }

    /// Returns the file's bytes if only the effective user and root may write it.
    ///
    /// The directories above are not checked: a user who may write those may replace the program itself.
    /// - Throws: as ``read()``; `wrongOwner`, `unsafeMode`.
    func readTrusted() throws(FileError) -> [UInt8] {
        let file = try open()
        // Of the open file: the name may refer to another one by now.
        let facts = try file.attributes()
        try requireOnlyWrittenByUser(facts)
        return try readAll(of: file, size: facts.size)
    }

    /// Not through an open directory: the user may have search but not read permission on the program's directory.
    private func open() throws(FileError) -> Descriptor {
        guard !path.utf8.contains(0) else { throw FileError(.invalidName, operation: "open", path: path) }
        let opened = openForReading(path)
        guard opened >= 0 else { throw FileError(errno: -opened, operation: "open", path: path) }
        let file = Descriptor(owning: opened, path: path)
        guard try file.attributes().kind == .regular else {
            throw FileError(.notRegularFile, operation: "open", path: path)
        }
        return file
    }

    private func openForReading(_ path: String) -> Int32 {
        while true {
            let opened = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
            if opened >= 0 { return opened }
            if errno != EINTR { return -errno }
        }
    }

    private func readAll(of file: borrowing Descriptor, size: Int64) throws(FileError) -> [UInt8] {
        guard size <= Self.largest else { throw FileError(.tooLarge, operation: "read", path: path) }
        var fault: FileError?
        // The limit, not the size, so that a file that grows meanwhile is read to its end. Only filled bytes take
        // memory.
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.largest + 1) { buffer, count in
            do throws(FileError) { count = try file.read(into: UnsafeMutableRawBufferPointer(buffer)) } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        guard bytes.count <= Self.largest else { throw FileError(.tooLarge, operation: "read", path: path) }
        return bytes
    }

    private func requireOnlyWrittenByUser(_ facts: FileAttributes) throws(FileError) {
        guard facts.uid == geteuid() || facts.uid == 0 else {
            throw FileError(
                .wrongOwner, operation: "trust", path: path,
                advice: "Its owner must be the user who runs the program, or root: ls -l \(path.shellQuoted)")
        }
        guard facts.mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw FileError(
                .unsafeMode, operation: "trust", path: path,
                advice: "As its owner, remove the write permission of other users: chmod go-w \(path.shellQuoted)")
        }
    }
}

/// The variables that select this program's entitlements.
enum EntitlementEnvironment {
    /// The path of an entitlements file; absolute.
    static let file = "SEALED_ENTITLEMENTS"
    /// Whether the program is refused if it has no entitlements.
    static let required = "SEALED_ENTITLEMENTS_REQUIRED"
    /// The value of the team identifier for build settings in the file.
    static let team = "SEALED_TEAM_ID"
    /// The value of the bundle identifier for build settings in the file.
    static let bundle = "SEALED_BUNDLE_ID"

    /// Returns the variables of the entitlements that are set in this process; the requirement, which concerns only
    /// programs without any, is read on its own.
    ///
    /// Returns none in a program with more rights than its caller, who could otherwise choose its groups.
    /// - Throws: as ``value(_:)``.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        for name in [file, team, bundle] { values[name] = try value(name) }
        return values
    }

    /// Returns the value of a variable; nil if it is not set, or in a program with more rights than its caller.
    ///
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a value that is not UTF-8.
    static func value(_ name: String) throws(AppGroupError) -> String? {
        // Checked as well: a program may have changed its ids after its start.
        guard getuid() == geteuid(), getgid() == getegid(), let pointer = SecureEnvironment.value(name) else {
            return nil
        }
        guard let value = String(validatingCString: pointer) else { throw .unreadableVariable(name) }
        return value
    }
}
