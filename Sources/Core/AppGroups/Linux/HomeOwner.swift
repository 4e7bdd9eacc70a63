internal import Glibc
internal import SystemPackage

/// The owner of a directory in which a home would be.
enum HomeOwner {
    /// Whether a directory exists and belongs to another user than the one this process writes files as.
    static func isAnother(_ path: FilePath) -> Bool { facts(path).map { $0.st_uid != geteuid() } ?? false }

    /// Whether a directory exists and other users than the one this process writes files as can rename what is in it: it
    /// belongs to one of them, or they can write it and it is not sticky.
    static func isOthersToo(_ path: FilePath) -> Bool {
        guard let status = facts(path) else { return false }
        return status.st_uid != geteuid() || status.st_mode & 0o022 != 0 && status.st_mode & S_ISVTX == 0
    }

    private static func facts(_ path: FilePath) -> stat? {
        var status = stat()
        return stat(path.string, &status) == 0 ? status : nil
    }
}
