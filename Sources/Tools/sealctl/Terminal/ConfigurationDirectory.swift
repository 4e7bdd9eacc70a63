internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// Where a configuration file lies: whoever may rename it there may put another in its place.
enum ConfigurationDirectory {
    private static let reading = "trust the configuration in"

    /// Looks at the directory of the name, of the file that a link of that name leads to, and at all that lies above them.
    static func requireSafe(_ path: FilePath) throws(FileError) {
        let above = path.removingLastComponent()
        let named = try real(above.isEmpty ? "." : above.string)
        let file = FilePath(try real(path.string)).removingLastComponent().string
        for directory in Set([named, file]) { try requireSafe(directory: directory) }
    }

    private static func requireSafe(directory path: String) throws(FileError) {
        let directory = try Directory.open(path)
        let facts = try directory.attributes(".")
        guard facts.mode & S_IWOTH == 0 || facts.mode & S_ISVTX != 0 else {
            throw FileError(
                .unsafeMode, operation: reading, path: path,
                advice: "Others may put another file there. As its owner: chmod o-w \(path.shellQuoted)")
        }
        guard facts.uid == geteuid() || facts.uid == 0 else {
            throw FileError(
                .wrongOwner, operation: reading, path: path,
                advice: "The directory has to be this user's own, or root's.")
        }
        do throws(FileError) { try directory.requireSafeAncestors() } catch {
            // The advice for vaults names a variable that has nothing to do with this file.
            guard error.code == .wrongOwner else { throw error }
            throw FileError(
                .wrongOwner, operation: reading, path: error.path,
                advice: "Another user may rename what lies in it: keep the configuration elsewhere.")
        }
    }

    /// The same place by a path without links.
    private static func real(_ path: String) throws(FileError) -> String {
        guard let found = realpath(path, nil) else {
            throw FileError(errno: errno, operation: "look for the configuration", path: path)
        }
        defer { free(found) }
        return String(cString: found)
    }
}
