internal import Glibc
internal import SystemPackage

/// The base directory of relative paths.
package enum WorkingDirectory {
    /// Returns a path that stays valid after a change of directory; empty stays empty, and the library refuses it.
    package static func absolute(_ path: String) -> String {
        let path = FilePath(path)
        guard path.isRelative, !path.isEmpty, let here = getcwd(nil, 0) else { return path.string }
        defer { free(here) }
        return FilePath(platformString: here).pushing(path).lexicallyNormalized().string
    }
}
