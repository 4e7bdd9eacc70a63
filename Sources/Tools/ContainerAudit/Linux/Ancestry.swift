internal import Glibc

/// The directories above a container.
enum Ancestry {
    /// Whether a user of no rights gets as far as a path. A directory that cannot be examined lets nobody through.
    ///
    /// - Parameter path: Absolute, free of links; what lies there is not judged.
    static func letsOthersThrough(to path: String) -> Bool {
        var above = path[...]
        while let slash = above.lastIndex(of: "/") {
            above = above[..<slash]
            var facts = stat()
            guard stat(above.isEmpty ? "/" : String(above), &facts) == 0, facts.st_mode & S_IXOTH != 0 else {
                return false
            }
        }
        return true
    }
}
