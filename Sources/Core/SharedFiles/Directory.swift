package import Glibc
package import SystemPackage

/// An open directory: the anchor from which every path below it is walked.
///
/// Paths given to its methods are relative, `/`-separated, and never cross a symbolic link or leave the directory
/// (`unsafePath`). The directory stays the same one when its path is renamed or replaced.
package final class Directory: Sendable {
    /// Where it was opened, for messages.
    package let path: FilePath
    /// The open directory.
    package let descriptor: Descriptor
    /// Whether reading through it leaves access times as they are, where the system allows that.
    let leavesNoTrace: Bool

    init(path: FilePath, owning rawValue: Int32, leavesNoTrace: Bool = false) {
        self.path = path
        descriptor = Descriptor(owning: rawValue, path: path.string)
        self.leavesNoTrace = leavesNoTrace
    }

    /// Opens an existing directory. Links on the way are followed, the last component must be a real directory.
    package static func open(_ path: FilePath) throws(FileError) -> Directory {
        try open(path, followingLast: false)
    }

    /// Opens an existing directory by its path as text.
    package static func open(_ path: String) throws(FileError) -> Directory {
        try open(FilePath(path))
    }

    /// Opens a directory, making it and its missing parents first. Safe when many processes do it at once.
    ///
    /// - Parameter mode: exact permission bits of the last component if this call makes it, whatever the umask; parents
    ///   get `0700`. What exists keeps its mode.
    package static func create(_ path: FilePath, mode: mode_t) throws(FileError) -> Directory {
        do { return try open(path) } catch { if error.code != .notFound { throw error } }
        let leaf = try lastName(of: path)
        let parent = try openParent(of: path) { (above) throws(FileError) in try create(above, mode: 0o700) }
        return try parent.makeDirectory(leaf, mode: mode)
    }

    /// Opens a directory by its path as text, making what is missing.
    package static func create(_ path: String, mode: mode_t) throws(FileError) -> Directory {
        try create(FilePath(path), mode: mode)
    }

    static func lastName(of path: FilePath) throws(FileError) -> String {
        guard let leaf = path.lastComponent, leaf.kind == .regular else {
            throw FileError(.invalidName, operation: "create the directory", path: path.string)
        }
        return leaf.string
    }

    /// Links are followed on the way to it: only what lies below is ours.
    static func openParent(
        of path: FilePath, orMake make: (FilePath) throws(FileError) -> Directory
    ) throws(FileError) -> Directory {
        let above = path.removingLastComponent()
        let parent = above.isEmpty ? FilePath(".") : above
        do { return try open(parent, followingLast: true) } catch { if error.code != .notFound { throw error } }
        return try make(parent)
    }

    private static func open(_ path: FilePath, followingLast: Bool) throws(FileError) -> Directory {
        let flags = followingLast ? directoryFlags : directoryFlags | O_NOFOLLOW
        let opened = uninterrupted { openat(AT_FDCWD, path.string, flags | O_CLOEXEC, 0) }
        if opened >= 0 { return Directory(path: path, owning: opened) }
        // A link as the last component answers ENOTDIR here; say what it is.
        var status = stat()
        let isLink = opened == -ENOTDIR && lstat(path.string, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        throw FileError(errno: isLink ? ELOOP : -opened, operation: "open the directory", path: path.string)
    }
}

extension Directory {
    /// Opens an existing directory below this one; `.` opens this one again.
    package func directory(_ relative: String) throws(FileError) -> Directory {
        let operation = "open the directory"
        if relative != "." { try RelativePath.check(relative, operation, in: self) }
        let opened = openToRead(relative, directoryFlags)
        if opened < 0 { throw error(-opened, operation, relative) }
        return Directory(
            path: relative == "." ? path : path.appending(relative), owning: opened, leavesNoTrace: leavesNoTrace)
    }

    /// Opens a directory below this one, making every missing segment.
    ///
    /// Each directory that this call makes gets exactly `mode`, whatever the umask, and its name is synced. One that
    /// exists is taken as it is. A crash between making and setting the mode leaves a narrower one, never a wider one.
    package func makeDirectory(_ relative: String, mode: mode_t) throws(FileError) -> Directory {
        try RelativePath.check(relative, "create the directory", in: self)
        var current = self
        for segment in relative.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.makeChild(String(Substring(segment)), mode: mode)
        }
        return current
    }

    private func makeChild(_ name: String, mode: mode_t) throws(FileError) -> Directory {
        let made = uninterrupted { mkdirat(descriptor.rawValue, name, mode) }
        if made == -EEXIST { return try directory(name) }
        if made < 0 { throw error(-made, "create the directory", name) }
        let child = try directory(name)
        if fchmod(child.descriptor.rawValue, mode) < 0 { throw error(errno, "set the mode of", name) }
        try sync(after: "create the directory", name)
        return child
    }

    /// Syncs the names in this directory; asked once, since a failed sync forgets what it failed to write.
    func sync(after operation: String, _ relative: String) throws(FileError) {
        if fsync(descriptor.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: operation, path: display(relative), errno: errno)
        }
    }
}

extension Directory {
    /// The full path of something below this directory, for messages only.
    package func display(_ relative: String) -> String {
        relative == "." ? path.string : path.string + (path.string.hasSuffix("/") ? "" : "/") + relative
    }

    func error(_ number: Int32, _ operation: String, _ relative: String) -> FileError {
        FileError(errno: number, operation: operation, path: display(relative))
    }

    /// The directory that holds a relative path's last segment, and that segment; opened safely, so that a parent that
    /// is swapped for a link later does not redirect what follows.
    func parent(of relative: String, _ operation: String) throws(FileError) -> (directory: Directory, leaf: String) {
        try RelativePath.check(relative, operation, in: self)
        let (parent, leaf) = RelativePath.split(relative)
        guard let parent else { return (self, leaf) }
        return (try directory(parent), leaf)
    }
}
