internal import Glibc
internal import SystemPackage

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

    /// Whether a directory has that name.
    static func isDirectory(_ path: FilePath) -> Bool { facts(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }
}
