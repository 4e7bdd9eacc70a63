internal import CLinux
internal import Glibc
package import SystemPackage

extension Directory {
    /// Opens a directory below the home; creates it and the two above it (`Containers` or `Vaults`, and the home
    /// itself) if they are missing. Safe when many processes do it at once.
    ///
    /// Created directories have exactly the modes and the unix group of `sharing`, regardless of the umask, before
    /// other users can see them. Existing ones keep their modes and are not checked: see `requireTrusted`.
    /// - Throws: `notShared` or `unsafeMode` if the group's members could not reach or would not trust it;
    ///   `permissionDenied` if this process may not give a directory to that group; `notFound` if a shared home's own
    ///   parent is missing.
    package static func create(_ path: FilePath, sharing: Sharing) throws(FileError) -> Directory {
        try create(path, sharing, mode: sharing.directoryMode, parents: 2)
    }

    /// Does the same for a path as text.
    package static func create(_ path: String, sharing: Sharing) throws(FileError) -> Directory {
        try create(FilePath(path), sharing: sharing)
    }

    /// Does the same for a directory of such directories, which has only the home above it.
    package static func createParent(_ path: FilePath, sharing: Sharing) throws(FileError) -> Directory {
        try create(path, sharing, mode: sharing.parentMode, parents: 1)
    }

    /// - Parameter parents: the number of missing parents of a shared directory that are created. Directories further
    ///   up are not this library's to share.
    private static func create(
        _ path: FilePath, _ sharing: Sharing, mode: mode_t, parents: Int
    ) throws(FileError) -> Directory {
        guard case .unixGroup(let group) = sharing else { return try create(path, mode: mode) }
        do { return try open(path) } catch { if error.code != .notFound { throw error } }
        let leaf = try lastName(of: path)
        let parent = try openParent(of: path) { (above) throws(FileError) in
            guard parents > 0 else { throw missing(above) }
            return try create(above, sharing, mode: sharing.parentMode, parents: parents - 1)
        }
        try parent.requireShareable(with: group)
        return try parent.makeShared(leaf, mode: mode, group: group)
    }

    private static func missing(_ path: FilePath) -> FileError {
        FileError(
            .notFound, operation: "share the contents of", path: path.string,
            advice: "Create it first, so that the group's members can reach it: "
                + "mkdir -p \(path.string.shellQuoted) && chmod 755 \(path.string.shellQuoted)")
    }
}

extension Directory {
    /// Opens a directory below this one and creates every missing segment with the modes of `sharing`.
    ///
    /// A shared new directory becomes visible only with its mode and unix group.
    package func makeDirectory(_ relative: String, sharing: Sharing) throws(FileError) -> Directory {
        guard case .unixGroup(let group) = sharing else {
            return try makeDirectory(relative, mode: sharing.directoryMode)
        }
        try RelativePath.check(relative, "create the directory", in: self)
        var current = self
        for segment in relative.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.makeShared(String(Substring(segment)), mode: sharing.directoryMode, group: group)
        }
        return current
    }

    /// Creates the directory under a temporary name and renames it: other members must neither find a directory that is
    /// still closed to them, nor keep one if its creator is killed. A crash leaves at most an empty directory under
    /// that name.
    private func makeShared(_ name: String, mode: mode_t, group: gid_t) throws(FileError) -> Directory {
        do { return try directory(name) } catch { if error.code != .notFound { throw error } }
        let temporary = try LeafName(name).randomName()
        let made = uninterrupted { mkdirat(descriptor.rawValue, temporary, 0o700) }
        if made < 0 { throw error(-made, "create the directory", name) }
        let renamed: Int32
        do throws(FileError) {
            try give(directory(temporary), mode: mode, group: group, name)
            renamed = clinux_rename_new(descriptor.rawValue, temporary, name)
        } catch {
            unlinkat(descriptor.rawValue, temporary, AT_REMOVEDIR)
            throw error
        }
        if renamed < 0 { unlinkat(descriptor.rawValue, temporary, AT_REMOVEDIR) }
        switch -renamed {
        case 0: try sync(after: "create the directory", name)
        case EEXIST: break
        case EINVAL, ENOSYS: return try makeSharedInPlace(name, mode: mode, group: group)
        default: throw error(-renamed, "create the directory", name)
        }
        return try directory(name)
    }

    /// For file systems that cannot rename without replacing: for a moment other members are refused there.
    private func makeSharedInPlace(_ name: String, mode: mode_t, group: gid_t) throws(FileError) -> Directory {
        let made = uninterrupted { mkdirat(descriptor.rawValue, name, 0o700) }
        if made == -EEXIST { return try directory(name) }
        if made < 0 { throw error(-made, "create the directory", name) }
        let child = try directory(name)
        try give(child, mode: mode, group: group, name)
        try sync(after: "create the directory", name)
        return child
    }

    private func give(_ child: Directory, mode: mode_t, group: gid_t, _ name: String) throws(FileError) {
        let file = child.descriptor.rawValue
        var number: Int32 = 0
        if fchown(file, uid_t.max, group) < 0 || fchmod(file, mode) < 0 { number = errno }
        // A process outside the group loses the set-group-ID bit without an error (chmod(2)).
        if number == 0, try child.attributes(".").mode != mode { number = EPERM }
        if number != 0 {
            throw FileError(
                errno: number, operation: "share", path: display(name),
                advice:
                    "Only root and members of the unix group with the number \(group) can do that; see your groups: id"
            )
        }
    }
}
