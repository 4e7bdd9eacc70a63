internal import CLinux
package import Glibc
package import SystemPackage

/// An open directory, from which every path below it is resolved.
///
/// Paths given to its methods are relative, `/`-separated, and never cross a symbolic link or leave the directory
/// (`unsafePath`). The value keeps the same directory when its path is renamed or replaced.
package final class Directory: Sendable {
    /// The open directory. Its path is that at which it was opened, for messages.
    package let descriptor: Descriptor
    /// `true` if reading through it keeps access times, where the system allows that.
    package let leavesNoTrace: Bool

    /// The path of the open directory, made for each call: a walk through deep directories needs none.
    package var path: FilePath { FilePath(descriptor.path) }

    init(path: String, owning rawValue: Int32, leavesNoTrace: Bool = false) {
        descriptor = Descriptor(owning: rawValue, path: path)
        self.leavesNoTrace = leavesNoTrace
    }

    /// Opens an existing directory. Links in the parents are followed; the last component must be a real directory.
    package static func open(_ path: FilePath) throws(FileError) -> Directory {
        try open(path, followingLast: false)
    }

    /// Opens an existing directory by its path as text.
    package static func open(_ path: String) throws(FileError) -> Directory {
        try open(FilePath(path))
    }

    /// Opens a directory; creates it and its missing parents first. Safe when many processes do it at once.
    ///
    /// - Parameter mode: exact permission bits of the last component if this call creates it, regardless of the umask;
    ///   parents get `0700`. Existing directories keep their modes.
    package static func create(_ path: FilePath, mode: mode_t) throws(FileError) -> Directory {
        do { return try open(path) } catch { if error.code != .notFound { throw error } }
        let leaf = try lastName(of: path)
        let parent = try openParent(of: path) { (above) throws(FileError) in try create(above, mode: 0o700) }
        return try parent.makeDirectory(leaf, mode: mode)
    }

    /// Opens a directory by its path as text; creates missing components.
    package static func create(_ path: String, mode: mode_t) throws(FileError) -> Directory {
        try create(FilePath(path), mode: mode)
    }

    static func lastName(of path: FilePath) throws(FileError) -> String {
        guard let leaf = path.lastComponent, leaf.kind == .regular else {
            throw FileError(.invalidName, operation: "create the directory", path: path.string)
        }
        return leaf.string
    }

    /// Opens the parent of a path. Links in it are followed: the library owns only what is below.
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
        let text = path.string
        let opened = uninterrupted { openat(AT_FDCWD, text, flags | O_CLOEXEC, 0) }
        if opened >= 0 { return Directory(path: text, owning: opened) }
        // For a link as the last component the kernel returns ENOTDIR; report it as a link.
        var status = stat()
        let isLink = opened == -ENOTDIR && lstat(text, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        throw FileError(errno: isLink ? ELOOP : -opened, operation: "open the directory", path: text)
    }
}

extension Directory {
    /// Opens an existing directory below this one; `.` reopens this one.
    package func directory(_ relative: String) throws(FileError) -> Directory {
        let operation = "open the directory"
        if relative != "." { try RelativePath.check(relative, operation, in: self) }
        let opened = openToRead(relative, directoryFlags)
        if opened < 0 { throw error(-opened, operation, relative) }
        return Directory(path: display(relative), owning: opened, leavesNoTrace: leavesNoTrace)
    }

    /// Opens a directory below this one and creates every missing segment.
    ///
    /// Each directory that this call creates gets exactly `mode`, regardless of the umask, and its name is synced.
    /// Existing ones stay unchanged. A crash before the mode is set leaves a narrower mode, never a wider one.
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

    /// Syncs the names in this directory. Never retried, since a failed sync discards the pages that it failed to
    /// write.
    func sync(after operation: String, _ relative: String) throws(FileError) {
        if fsync(descriptor.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: operation, path: display(relative), errno: errno)
        }
    }
}

extension Directory {
    /// Returns the full path of an item below this directory, for messages only.
    package func display(_ relative: String) -> String {
        let path = descriptor.path
        return relative == "." ? path : path + (path.hasSuffix("/") ? "" : "/") + relative
    }

    package func error(_ number: Int32, _ operation: String, _ relative: String) -> FileError {
        FileError(errno: number, operation: operation, path: display(relative))
    }

    /// Returns the directory of a relative path's last segment, and that segment. The directory is open, so a parent
    /// that is later swapped for a link does not redirect the operation.
    package func parent(
        of relative: String, _ operation: String
    ) throws(FileError) -> (directory: Directory, leaf: String) {
        try RelativePath.check(relative, operation, in: self)
        let (parent, leaf) = RelativePath.split(relative)
        guard let parent else { return (self, leaf) }
        return (try directory(parent), leaf)
    }
}

extension Directory {
    /// Opens a file; creates an empty one if it is missing.
    ///
    /// Not by `O_CREAT`: until its mode is set, a file that the umask has narrowed would refuse the other members of a
    /// shared directory, and would stay so if its creator were killed.
    /// - Parameters:
    ///   - flags: of open(2), without `O_CREAT`.
    ///   - mode: exact permission bits if this call creates it, regardless of the umask.
    package func openOrMake(
        _ relative: String, _ flags: Int32, mode: mode_t, _ operation: String
    ) throws(FileError) -> Descriptor {
        // Only a member that keeps removing the file can cause another round.
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
        // Some file systems report a removed directory with other error numbers.
        if try parent.attributes(".").nlink == 0 { throw error(ENOENT, operation, relative) }
        do throws(FileError) {
            try NewFile.create(in: parent, leaf: leaf, mode: mode).commit(replacing: false, durability: .unsynced)
        } catch {
            // Another process was first; its file is used.
            if error.code != .alreadyExists { throw error }
        }
    }
}

/// Opens a path below a directory so that no link and no `..` can lead out of it, even if the tree changes meanwhile.
///
/// Uses openat2(2) with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`. Returns the descriptor or
/// -errno; a refused step returns `ELOOP` or `EXDEV`.
package func openBeneath(_ directory: Int32, _ path: String, _ flags: Int32, mode: mode_t = 0) -> Int32 {
    let resolve = clinux_resolve_beneath | clinux_resolve_no_symlinks | clinux_resolve_no_magiclinks
    var attempts = 0
    while true {
        // Not passed directly: that conversion copies the string twice.
        let result = path.withCString {
            clinux_openat2(directory, $0, flags | O_CLOEXEC | O_NOCTTY, UInt32(mode), resolve)
        }
        if result == -EINTR { continue }
        // The kernel returns EAGAIN when a rename raced with the walk; bounded, since a member can keep renaming.
        attempts += 1
        if result != -EAGAIN || attempts > 32 { return result }
    }
}

/// Flags for a directory that is listed, synced and used as an anchor. Without `O_NOFOLLOW`, which would turn `ELOOP`
/// for a refused link into `ENOTDIR`: `RESOLVE_NO_SYMLINKS` refuses it anyway.
package let directoryFlags = O_RDONLY | O_DIRECTORY

/// Flags for reading content: a FIFO must not block the open, a terminal must not become the controlling one.
let contentFlags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW

/// Flags for a descriptor that denotes a file without reading it; for a link, the link itself.
package let handleFlags = clinux_o_path | O_NOFOLLOW | O_CLOEXEC

extension Directory {
    /// Gives a file a second name below this directory, without reading or copying it.
    ///
    /// For a symbolic link, the link itself gets the second name, never its target.
    /// - Throws: `FileError`, `.alreadyExists` if the second name is taken, `.permissionDenied` if the system protects
    ///   links to files of others (`fs.protected_hardlinks`).
    package func link(_ relative: String, as second: String) throws(FileError) {
        let (source, name) = try parent(of: relative, "link")
        let (target, leaf) = try parent(of: second, "link")
        if linkat(source.descriptor.rawValue, name, target.descriptor.rawValue, leaf, 0) < 0 {
            throw error(errno, "link", second)
        }
    }
}

extension Directory {
    /// Moves an entry of this directory to another directory of the same file system under a new name, durably.
    ///
    /// Open descriptors of a moved directory stay valid. The new name must be free; an empty directory of that name is
    /// replaced.
    /// - Throws: `FileError`, `.unsupported` if the two directories are on different file systems, `.durabilityUnknown`
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
                    "Both must be on one file system: move it by hand, to \(target.display(newName).shellQuoted)")
        }
        if moved < 0 { throw error(-moved, "move", name) }
        // The new name first: a power loss may then leave both names, never neither.
        try target.sync(after: "move", newName)
        try sync(after: "move", name)
    }
}

extension Directory {
    /// Renames an entry below this directory, durably; both directories exist. The new name must be free.
    ///
    /// - Throws: As `move`.
    package func rename(_ relative: String, to target: String) throws(FileError) {
        let (source, leaf) = try parent(of: relative, "move")
        let (directory, name) = try parent(of: target, "move")
        try source.move(leaf, to: directory, as: name)
    }

    /// Removes an entry of this directory, with everything below it. Links are removed, never followed.
    ///
    /// The call holds one descriptor per level. It fails with `io` (`ENOTEMPTY`) if another process adds files
    /// meanwhile.
    /// - Throws: `FileError` for the first item that could not be removed; items before it are removed. `.tooDeep`
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
        // For a directory Linux returns EISDIR, POSIX EPERM; for other files the number is the refusal itself.
        guard try attributes(ofName: name).kind == .directory else { throw error(-unlinked, "remove", shown) }
        let child = try openToRemove(path, shown)
        for entry in try child.entries() { try child.removeTree(entry.nameBytes, depth: depth + 1) }
        let removed = uninterrupted { unlinkat(descriptor.rawValue, path, AT_REMOVEDIR) }
        if removed < 0 && removed != -ENOENT { throw error(-removed, "remove", shown) }
    }

    /// By bytes: names in a user's tree need not be valid text.
    private func openToRemove(_ path: [CChar], _ shown: String) throws(FileError) -> Directory {
        let opened = uninterrupted {
            openat(descriptor.rawValue, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        }
        if opened < 0 { throw error(-opened, "remove", shown) }
        return Directory(path: display(shown), owning: opened)
    }
}

/// The rules for paths below a directory, checked before the kernel resolves them.
///
/// The kernel would refuse most of these as well. Checked here: NUL, which would cut the C string short, and the empty
/// and `.` segments, which would give one file several names (and so several locks).
enum RelativePath {
    /// Rejects absolute paths and `..` as `unsafePath`; empty and `.` segments and NUL as `invalidName`.
    static func check(_ path: String, _ operation: String, in directory: Directory) throws(FileError) {
        switch path.withBytes(fault) {
        case .none: return
        case .absolute:
            throw FileError(
                .unsafePath, operation: operation, path: path, advice: "Use a path relative to its directory.")
        case .upward: throw FileError(.unsafePath, operation: operation, path: directory.display(path))
        case .malformed: throw FileError(.invalidName, operation: operation, path: directory.display(path))
        }
    }

    private enum Fault {
        case none, absolute, upward, malformed
    }

    private static func fault(in path: UnsafeBufferPointer<UInt8>) -> Fault {
        var start = 0
        for index in 0..<path.count {
            let byte = path[index]
            // Letters and digits are above both.
            guard byte <= UInt8(ascii: "/") else { continue }
            if byte == 0 { return .malformed }
            guard byte == UInt8(ascii: "/") else { continue }
            if index == 0 { return .absolute }
            let fault = fault(ofSegment: start..<index, of: path)
            if fault != .none { return fault }
            start = index + 1
        }
        return fault(ofSegment: start..<path.count, of: path)
    }

    /// Rejects the segments that are empty, `.` and `..`.
    private static func fault(ofSegment range: Range<Int>, of path: UnsafeBufferPointer<UInt8>) -> Fault {
        guard range.count <= 2, range.allSatisfy({ path[$0] == UInt8(ascii: ".") }) else { return .none }
        return range.count == 2 ? .upward : .malformed
    }

    /// Returns the part before the last `/`, if any, and the part after it.
    static func split(_ path: String) -> (parent: String?, leaf: String) {
        let count = path.withBytes { bytes in
            var count = bytes.count
            while count > 0, bytes[count - 1] != UInt8(ascii: "/") { count -= 1 }
            return count
        }
        if count == 0 { return (nil, path) }
        let leaf = path.utf8.index(path.startIndex, offsetBy: count)
        return (String(path[..<path.utf8.index(before: leaf)]), String(path[leaf...]))
    }
}

extension String {
    /// Runs a closure with the bytes, which are read directly: every call with a path comes through here.
    fileprivate func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}

/// A name within one directory that is safe to create: one segment, with room for the affixes of temporary files.
package struct LeafName: Sendable, Hashable {
    /// The name.
    package let string: String

    /// Longest name in bytes: 255 of the file system less the `.`, `.`, 16 hex digits and `.new` of a temporary name.
    package static let maximumLength = 255 - 22

    /// Checks a name. Rejected as `invalidName`: empty, `.`, `..`, with `/` or NUL, or too long.
    package init(_ string: String) throws(FileError) {
        let bytes = string.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength, string != ".", string != "..",
            !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
        else { throw FileError(.invalidName, operation: "use the name", path: string) }
        self.string = string
    }

    /// The name of a complete new value between `linkat` and `renameat`. Fixed, so a crash leaves at most one.
    var pendingName: String { ".\(string).new" }

    /// Returns a new name for an incomplete value, for file systems without `O_TMPFILE`.
    func randomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return ".\(string).\(String(repeating: "0", count: 16 - digits.count))\(digits).new"
    }

    /// Returns whether a name has the form that `randomName` makes for this leaf.
    func isRandomName(_ name: String) -> Bool {
        guard name.hasPrefix(".\(string)."), name.hasSuffix(".new"), name.utf8.count == string.utf8.count + 22 else {
            return false
        }
        return name.utf8.dropFirst(string.utf8.count + 2).dropLast(4).allSatisfy(\.isLowerHexDigit)
    }
}

extension UInt8 {
    /// The byte is a hexadecimal digit as this package writes them in names: `0` to `9`, `a` to `f`.
    package var isLowerHexDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
