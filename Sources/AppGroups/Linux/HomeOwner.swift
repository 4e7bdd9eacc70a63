internal import Glibc
internal import SystemPackage

/// The owner of a directory in which a home would be.
enum HomeOwner {
    /// Whether a directory exists and belongs to another user than the one this process writes files as.
    static func isAnother(_ path: FilePath) -> Bool {
        var status = stat()
        return stat(path.string, &status) == 0 && status.st_uid != geteuid()
    }
}
