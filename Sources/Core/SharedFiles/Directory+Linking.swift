internal import Glibc

extension Directory {
    /// Gives a file a second name below this directory, without reading or copying it.
    ///
    /// A symbolic link is given the second name itself, never what it points to.
    /// - Throws: `FileError`, `.alreadyExists` where the second name is taken, `.permissionDenied` where the system
    ///   protects links to files of others (`fs.protected_hardlinks`).
    package func link(_ relative: String, as second: String) throws(FileError) {
        let (source, name) = try parent(of: relative, "link")
        let (target, leaf) = try parent(of: second, "link")
        if linkat(source.descriptor.rawValue, name, target.descriptor.rawValue, leaf, 0) < 0 {
            throw error(errno, "link", second)
        }
    }
}
