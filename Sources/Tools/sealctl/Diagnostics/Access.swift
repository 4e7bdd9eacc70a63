internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// What the system would let this user do, asked without doing it.
enum Access {
    /// Why a name in a directory may not be used so; nil where it may, or where nothing has the name.
    static func refusal(_ directory: Directory, _ name: String, _ wanted: Int32, _ what: String) -> FileError? {
        guard faccessat(directory.descriptor.rawValue, name, wanted, AT_EACCESS) != 0, errno != ENOENT else {
            return nil
        }
        return FileError(errno: errno, operation: what, path: directory.display(name))
    }

    /// Why nothing can be made under a path, or in it where it is there; nil where it can.
    static func refusal(making path: FilePath) -> FileError? {
        var current = path
        while true {
            if faccessat(AT_FDCWD, current.string, W_OK | X_OK, AT_EACCESS) == 0 { return nil }
            let reason = errno
            guard reason == ENOENT, !current.removingLastComponent().isEmpty, current.removeLastComponent() else {
                return FileError(errno: reason, operation: "write to", path: current.string)
            }
        }
    }
}
