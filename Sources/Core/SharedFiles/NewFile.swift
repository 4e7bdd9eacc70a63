internal import CLinux
package import Glibc

/// A value that is being written and has no name yet: it is named when complete, or leaves nothing behind.
///
/// The steps, and the result of a crash after each, are in docs/locking.md. Only a complete file ever gets the pending
/// name `.<leaf>.new`. A crash therefore leaves at most one complete file under it, which the next write of that leaf
/// removes. Two writers that ignore the lock can lose an update but never tear a value: `renameat` always moves a
/// complete one.
package struct NewFile: ~Copyable {
    /// The file to write to. Its position is where the last write ended.
    package let descriptor: Descriptor
    private let directory: Directory
    private let leaf: LeafName
    /// The name to remove when this value ends without a commit.
    private var temporary: String?

    /// Starts a new value for a name in a directory. The name does not show it before `commit`.
    ///
    /// - Parameters:
    ///   - mode: exact permission bits of the result, regardless of the umask.
    ///   - group: unix group of the result; nil for the directory's default.
    package static func create(
        in directory: Directory, leaf: String, mode: mode_t, group: gid_t? = nil,
        strategy: TemporaryStrategy = .automatic
    ) throws(FileError) -> NewFile {
        let leaf = try LeafName(leaf)
        let anonymous = strategy == .anonymous || (strategy == .automatic && AnonymousFile.canBeNamed)
        let opened = anonymous ? AnonymousFile.open(in: directory.descriptor.rawValue) : -EOPNOTSUPP
        let file: NewFile
        if opened >= 0 {
            let descriptor = Descriptor(owning: opened, path: directory.display(leaf.string))
            file = NewFile(descriptor: descriptor, directory: directory, leaf: leaf, temporary: nil)
        } else if strategy != .anonymous && AnonymousFile.isUnsupported(opened) {
            file = try named(in: directory, leaf)
        } else {
            throw directory.error(-opened, "create", leaf.string)
        }
        // Before the mode: until then only its writer may read the file.
        if let group, fchown(file.descriptor.rawValue, uid_t.max, group) < 0 {
            throw directory.error(errno, "set the unix group of", leaf.string)
        }
        if fchmod(file.descriptor.rawValue, mode) < 0 { throw directory.error(errno, "set the mode of", leaf.string) }
        return file
    }

    private static func named(in directory: Directory, _ leaf: LeafName) throws(FileError) -> NewFile {
        directory.removeLitter(of: leaf)
        let name = leaf.randomName()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let opened = openBeneath(directory.descriptor.rawValue, name, flags, mode: 0o600)
        if opened < 0 { throw directory.error(-opened, "create", name) }
        // Shows other writers that this file is in use; ends with the descriptor, so also when this process is killed.
        _ = ByteRangeLock.attempt(opened, .whole, .exclusive)
        let descriptor = Descriptor(owning: opened, path: directory.display(leaf.string))
        return NewFile(descriptor: descriptor, directory: directory, leaf: leaf, temporary: name)
    }

    init(descriptor: consuming Descriptor, directory: Directory, leaf: LeafName, temporary: String?) {
        self.descriptor = descriptor
        self.directory = directory
        self.leaf = leaf
        self.temporary = temporary
    }

    deinit {
        if let temporary { unlinkat(directory.descriptor.rawValue, temporary, 0) }
    }
}

extension NewFile {
    /// Reserves space for the whole value, so that a full disk is reported before anything is written.
    package func reserve(_ count: Int64) throws(FileError) {
        let result = reserveSpace(descriptor.rawValue, count)
        if result < 0 { throw directory.error(-result, "reserve space for", leaf.string) }
    }

    /// Appends to the value.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try descriptor.write(bytes)
    }

    /// Gives the complete value its name.
    ///
    /// On every error but `durabilityUnknown` the old value remains and no file is left behind. A link or any other
    /// non-directory under the name is itself replaced, never its target; a directory is rejected.
    /// - Parameter replacing: `false` rejects a taken name as `alreadyExists`, atomically.
    package consuming func commit(replacing: Bool, durability: Durability) throws(FileError) {
        if replacing {
            try takePendingName()
            try syncContent(durability)
            try rename()
        } else {
            try syncContent(durability)
            try linkExclusively()
        }
        if durability == .durable { try directory.sync(after: "write", leaf.string) }
    }

    /// Discards the value without a trace. Dropping it has the same effect.
    package consuming func discard() {}

    /// Before the content is synced, so that this one sync also covers the name: some file systems log nothing for a
    /// file without a name.
    private mutating func takePendingName() throws(FileError) {
        guard temporary == nil else { return }
        let pending = leaf.pendingName
        var result = link(as: pending)
        if result == -EEXIST {
            // A crashed writer's complete value, or a planted file. Only the name is removed, never a link's target.
            let removed = uninterrupted { unlinkat(directory.descriptor.rawValue, pending, 0) }
            if removed < 0 && removed != -ENOENT { throw directory.error(-removed, "clear the way for", pending) }
            result = link(as: pending)
        }
        if result < 0 { throw directory.error(-result, "name", pending) }
        temporary = pending
    }

    private func link(as name: String) -> Int32 {
        AnonymousFile.link(descriptor.rawValue, as: name, in: directory.descriptor.rawValue)
    }

    /// Never retried: the kernel may drop the pages that it could not write and then report success.
    private func syncContent(_ durability: Durability) throws(FileError) {
        if durability == .durable && fdatasync(descriptor.rawValue) < 0 {
            throw directory.error(errno, "sync", leaf.string)
        }
    }

    private mutating func rename() throws(FileError) {
        guard let name = temporary else { return }
        let at = directory.descriptor.rawValue
        let result = uninterrupted { renameat(at, name, at, leaf.string) }
        if result == -ENOENT { throw FileError(.overtaken, operation: "replace", path: directory.display(leaf.string)) }
        if result < 0 { throw directory.error(-result, "replace", leaf.string) }
        temporary = nil
    }

    private mutating func linkExclusively() throws(FileError) {
        let at = directory.descriptor.rawValue
        let result =
            if let temporary {
                uninterrupted { linkat(at, temporary, at, leaf.string, 0) }
            } else {
                link(as: leaf.string)
            }
        if result < 0 { throw directory.error(-result, "create", leaf.string) }
        // The temporary name is a second link now; if it remains, the next write of this leaf removes it.
        if let temporary { unlinkat(at, temporary, 0) }
        temporary = nil
    }
}

/// Files without a name, `O_TMPFILE` of open(2), which are named when their content is complete.
enum AnonymousFile {
    /// Naming such a file needs /proc; a process without it (a bare chroot) uses named files.
    static let canBeNamed = access("/proc/self/fd", X_OK) == 0

    /// Opens a file in a directory; returns the descriptor or -errno.
    static func open(in directory: Int32) -> Int32 {
        uninterrupted { openat(directory, ".", clinux_o_tmpfile | O_WRONLY | O_CLOEXEC, 0o600) }
    }

    /// Returns whether a result of `open` means that the file system or the kernel has no such files.
    ///
    /// `EISDIR` and `ENOENT` come from kernels that do not know the flag and see a directory opened for writing.
    static func isUnsupported(_ result: Int32) -> Bool {
        [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(-result)
    }

    /// Gives the file a name, which must be free; returns 0 or -errno.
    static func link(_ file: Int32, as name: String, in directory: Int32) -> Int32 {
        uninterrupted { linkat(AT_FDCWD, "/proc/self/fd/\(file)", directory, name, AT_SYMLINK_FOLLOW) }
    }
}

/// Reserves space for the whole file, so that a full disk is detected before anything is written; returns 0 or -errno.
///
/// For a file system without reservations it returns 0 as well; a full disk is then detected when writing and handled
/// alike.
func reserveSpace(_ file: Int32, _ count: Int64) -> Int32 {
    guard count > 0 else { return 0 }
    while true {
        let result = clinux_reserve(file, count)
        if result == -EOPNOTSUPP || result == -ENOSYS { return 0 }
        if result != -EINTR { return result }
    }
}
