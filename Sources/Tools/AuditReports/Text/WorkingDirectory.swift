internal import Glibc
internal import SystemPackage

/// The directory that relative paths begin at.
package enum WorkingDirectory {
    /// A path that means the same after a change of directory; empty stays empty, for the library to refuse.
    package static func absolute(_ path: String) -> String {
        let path = FilePath(path)
        guard path.isRelative, !path.isEmpty, let here = getcwd(nil, 0) else { return path.string }
        defer { free(here) }
        return FilePath(platformString: here).pushing(path).lexicallyNormalized().string
    }
}
