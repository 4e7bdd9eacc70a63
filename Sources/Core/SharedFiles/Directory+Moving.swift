internal import Glibc

extension Directory {
    /// Gives what has a name in this directory another name in another directory of the same file system, durably.
    ///
    /// A directory that is open somewhere stays open there. The new name must be free: where it is an empty directory's,
    /// that one is replaced.
    /// - Throws: `FileError`, `.unsupported` where the two directories lie on different file systems, `.durabilityUnknown`
    ///   when it has moved but one of the two directories could not be synced.
    package func move(_ name: String, to target: Directory, as newName: String) throws(FileError) {
        _ = try LeafName(newName)
        let moved = uninterrupted {
            renameat(descriptor.rawValue, name, target.descriptor.rawValue, newName)
        }
        if moved == -EXDEV {
            throw FileError(
                .unsupported, operation: "move", path: display(name), errno: EXDEV,
                advice:
                    "Both have to lie on one file system: move it by hand, to \(target.display(newName).shellQuoted)")
        }
        if moved < 0 { throw error(-moved, "move", name) }
        // The new name first: a power loss may then leave both, and never none.
        try target.sync(after: "move", newName)
        try sync(after: "move", name)
    }
}
