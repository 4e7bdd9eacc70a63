package import Glibc

extension Directory {
    /// Opens a file, making an empty one when it is missing.
    ///
    /// Not by `O_CREAT`: until its mode is set, a file that the umask has narrowed would refuse the other members of a
    /// shared directory, and would stay so if its maker were killed.
    /// - Parameters:
    ///   - flags: of open(2), without `O_CREAT`.
    ///   - mode: exact permission bits if this call makes it, whatever the umask.
    package func openOrMake(
        _ relative: String, _ flags: Int32, mode: mode_t, _ operation: String
    ) throws(FileError) -> Descriptor {
        // Only a member who keeps removing the file can make one round follow another.
        for _ in 0..<32 {
            let opened = openBeneath(descriptor.rawValue, relative, flags)
            if opened >= 0 { return Descriptor(owning: opened, path: display(relative)) }
            if opened != -ENOENT { throw error(-opened, operation, relative) }
            try makeEmpty(relative, mode: mode, operation)
        }
        throw error(ENOENT, operation, relative)
    }

    private func makeEmpty(_ relative: String, mode: mode_t, _ operation: String) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, operation)
        // Some file systems refuse a name in a removed directory in words of their own.
        if try parent.attributes(".").nlink == 0 { throw error(ENOENT, operation, relative) }
        do throws(FileError) {
            try NewFile.create(in: parent, leaf: leaf, mode: mode).commit(replacing: false, durability: .unsynced)
        } catch {
            // Another process was first: its file is the file.
            if error.code != .alreadyExists { throw error }
        }
    }
}
