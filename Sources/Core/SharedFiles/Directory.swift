internal import CLinux
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

    package func error(_ number: Int32, _ operation: String, _ relative: String) -> FileError {
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

/// Opens below a directory so that no link and no `..` can lead out of it, however the tree changes meanwhile.
///
/// openat2(2) with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`. The answer is the descriptor or
/// -errno; a refused step shows as `ELOOP` or `EXDEV`.
package func openBeneath(_ directory: Int32, _ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let resolve = clinux_resolve_beneath | clinux_resolve_no_symlinks | clinux_resolve_no_magiclinks
    var attempts = 0
    while true {
        // Not handed over as it is: that conversion copies the string twice.
        let result = path.withCString {
            clinux_openat2(directory, $0, flags | O_CLOEXEC | O_NOCTTY, UInt32(mode), resolve)
        }
        if result == -EINTR { continue }
        // The kernel asks for another try when a rename raced with the walk; bounded, since a member can go on.
        attempts += 1
        if result != -EAGAIN || attempts > 32 { return result }
    }
}

/// Flags for a directory that is listed, synced and used as an anchor. Without `O_NOFOLLOW`, which would turn a refused
/// link from `ELOOP` into `ENOTDIR`: `RESOLVE_NO_SYMLINKS` refuses it anyway.
package let directoryFlags = O_RDONLY | O_DIRECTORY

/// Flags for reading content: a FIFO must not block the open, a terminal must not become ours.
let contentFlags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW

/// Flags for a descriptor that stands for a file and reads nothing of it; of a link, for the link.
package let handleFlags = clinux_o_path | O_NOFOLLOW | O_CLOEXEC

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

extension Directory {
    /// Removes what has a name in this directory, with everything below it. Links are removed, never followed.
    ///
    /// It holds one descriptor per level. What another process adds meanwhile makes it fail with `io` (`ENOTEMPTY`).
    /// - Throws: `FileError`: the first thing that could not be removed; what was removed before it is gone. `.tooDeep`
    ///   below 256 levels.
    package func removeTree(_ name: String) throws(FileError) {
        _ = try LeafName(name)
        try removeTree(Array(name.utf8), depth: 0)
        try sync(after: "remove", name)
    }

    private func removeTree(_ name: [UInt8], depth: Int) throws(FileError) {
        let shown = String(decoding: name, as: UTF8.self)
        if depth > 256 { throw FileError(.tooDeep, operation: "remove", path: display(shown)) }
        let path = (name + [0]).map { CChar(bitPattern: $0) }
        let unlinked = uninterrupted { unlinkat(descriptor.rawValue, path, 0) }
        if unlinked == 0 || unlinked == -ENOENT { return }
        // A directory answers EISDIR on Linux, EPERM by POSIX; of anything else that is the refusal itself.
        guard try attributes(ofName: name).kind == .directory else { throw error(-unlinked, "remove", shown) }
        let child = try openToRemove(path, shown)
        for entry in try child.entries() { try child.removeTree(entry.nameBytes, depth: depth + 1) }
        let removed = uninterrupted { unlinkat(descriptor.rawValue, path, AT_REMOVEDIR) }
        if removed < 0 && removed != -ENOENT { throw error(-removed, "remove", shown) }
    }

    /// By its bytes: in somebody's tree names need not be text.
    private func openToRemove(_ path: [CChar], _ shown: String) throws(FileError) -> Directory {
        let opened = uninterrupted {
            openat(descriptor.rawValue, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        }
        if opened < 0 { throw error(-opened, "remove", shown) }
        return Directory(path: self.path.appending(shown), owning: opened)
    }
}
