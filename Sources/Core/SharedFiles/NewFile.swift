internal import CLinux
package import Glibc
internal import Synchronization

/// A value that is being written and has no name yet: it is named when complete, or leaves nothing behind.
///
/// The steps, and the result of a crash after each, are in docs/locking.md. Only a complete file ever gets the pending
/// name `.<leaf>.new`. A crash therefore leaves at most one complete file under it, which the next write of that leaf
/// removes. Two writers that ignore the lock can lose an update but never tear a value: `renameat` always moves a
/// complete one.
package struct NewFile: ~Copyable {
    /// The file to write to, and to read what was written. Its position is where the last write ended.
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
        directory.removeStaleFiles(of: leaf)
        let name = leaf.randomName()
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
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

    /// Gives up the reserved space behind the value, which a reservation has made part of the file.
    package func cut(to count: Int64) throws(FileError) {
        let result = uninterrupted { ftruncate(descriptor.rawValue, off_t(count)) }
        if result < 0 { throw directory.error(-result, "cut", leaf.string) }
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
            if removed < 0 && removed != -ENOENT {
                throw directory.error(-removed, "remove the old temporary file for", pending)
            }
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
        uninterrupted { openat(directory, ".", clinux_o_tmpfile | O_RDWR | O_CLOEXEC, 0o600) }
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

/// A file of this user that reserves space for deletions on a full disk or quota (`docs/locking.md`).
///
/// Its blocks and its inode are allocated in advance. A deletion that finds no space overwrites the file, syncs it and
/// renames it over the file that it replaces, which takes neither a block nor an inode. The next successful write
/// creates it again. Only its user can write it. In a shared directory another member can remove it; the deletion then
/// fails as any write does.
package final class DeletionReserve: Sendable {
    private struct State {
        /// The size that the file should have.
        var wanted: Int64
        /// The size that this process has last seen; 0 if unknown.
        var kept: Int64 = 0
        /// The time of that check, in seconds since boot.
        var seen = 0
    }

    /// More than is needed: a deletion leaves room for the next reserve, minus what it adds to other files, such as a
    /// log.
    package static let slack: Int64 = 2 * blockSize
    /// The number of seconds for which the file is assumed to exist; another program may use it meanwhile.
    private static let patience = 60

    /// The block size of common file systems: the smallest reserve, and more than a tombstone takes.
    package static let blockSize: Int64 = 4096

    private let directory: Directory
    private let name: String
    private let state = Mutex(State(wanted: DeletionReserve.blockSize))

    /// Creates the reserve of the effective user in a directory, without a file yet.
    ///
    /// - Parameter prefix: The name without the user's number.
    package init(in directory: Directory, prefix: String) {
        self.directory = directory
        name = "\(prefix)\(geteuid())"
    }

    /// Records the size of a file that a deletion may have to write, for `keep()`.
    package func expect(_ size: Int, roundedUpTo step: Int64 = DeletionReserve.blockSize) {
        let wanted = (Int64(size) + step - 1) / step * step
        state.withLock { $0.wanted = max($0.wanted, wanted) }
    }

    /// Creates the file if it is missing or too small; call it after a successful write. Makes no system call for a
    /// minute after this process has checked the file. A failure is retried after the next write.
    package func keep() {
        let now = Self.seconds
        let (wanted, isKept) = state.withLock { state in
            (state.wanted, state.kept >= state.wanted && now - state.seen < Self.patience)
        }
        if isKept { return }
        // On a nearly full disk a smaller reserve is better than none.
        for size in [wanted + Self.slack, wanted, wanted / 2, Self.blockSize] where allocate(size) {
            return state.withLock { ($0.kept, $0.seen) = (size, now) }
        }
    }

    /// The time of a clock that is read without a system call and can't be set.
    private static var seconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    /// Replaces a file by a deletion's version: as usual, or with the reserve if there is no space.
    ///
    /// - Parameter relative: The file, below the reserve's directory and on its file system.
    /// - Throws: As `Directory.replace`; if the reserve is missing or too small, the original error.
    package func replace(
        _ relative: String, with bytes: UnsafeRawBufferPointer, mode: mode_t, group: gid_t? = nil,
        durability: Durability
    ) throws(FileError) {
        do throws(FileError) {
            return try directory.replace(relative, with: bytes, mode: mode, group: group, durability: durability)
        } catch {
            guard error.code == .noSpace || error.code == .quotaExceeded else { throw error }
            do throws(FileError) {
                try takeOver(relative, bytes, mode, group, durability)
            } catch let failure {
                throw failure.code == .durabilityUnknown ? failure : error
            }
        }
    }

    /// Frees the space for a deletion that is written into another file; `keep()` reserves it again.
    package func release() {
        guard (try? directory.remove(name, durability: .unsynced)) != nil else { return }
        state.withLock { $0.kept = 0 }
    }

    private func takeOver(
        _ relative: String, _ bytes: UnsafeRawBufferPointer, _ mode: mode_t, _ group: gid_t?, _ durability: Durability
    ) throws(FileError) {
        let (parent, leaf) = try directory.parent(of: relative, "write")
        let file = try lockedFile(O_WRONLY)
        let size = try file.attributes().size
        guard size >= Int64(bytes.count) else {
            throw FileError(.noSpace, operation: "write", path: directory.display(relative))
        }
        expect(Int(size - Self.slack))
        try file.write(bytes)
        func check(_ result: Int32) throws(FileError) {
            if result < 0 { throw directory.error(errno, "write", relative) }
        }
        try check(ftruncate(file.rawValue, bytes.count))
        if let group { try check(fchown(file.rawValue, uid_t.max, group)) }
        try check(fchmod(file.rawValue, mode))
        // Never retried: the kernel may drop the pages that it could not write and then report success.
        if durability == .durable { try check(fdatasync(file.rawValue)) }
        state.withLock { $0.kept = 0 }
        let renamed = uninterrupted { renameat(directory.descriptor.rawValue, name, parent.descriptor.rawValue, leaf) }
        if renamed < 0 { throw directory.error(-renamed, "replace", relative) }
        if durability == .durable { try parent.sync(after: "write", leaf) }
    }

    /// Opens and locks the reserve's file: while the lock is held, no process renames the file or changes its size.
    private func lockedFile(_ flags: Int32) throws(FileError) -> Descriptor {
        let mode: mode_t = flags & O_CREAT == 0 ? 0 : 0o600
        let opened = openBeneath(directory.descriptor.rawValue, name, flags | O_NOFOLLOW | O_NONBLOCK, mode: mode)
        if opened < 0 { throw directory.error(-opened, "open", name) }
        let file = Descriptor(owning: opened, path: directory.display(name))
        guard ByteRangeLock.attempt(file.rawValue, .whole, .exclusive) == 0 else {
            throw FileError(.lockTimeout, operation: "use", path: directory.display(name))
        }
        // After the lock: the previous holder may have renamed this file.
        let facts = try file.attributes()
        guard facts.kind == .regular, facts.uid == geteuid(), facts.nlink == 1,
            try directory.attributes(name).isSameFile(as: facts)
        else { throw FileError(.overtaken, operation: "use", path: directory.display(name)) }
        return file
    }

    /// - Returns: whether the file has that size, with all its blocks.
    private func allocate(_ size: Int64) -> Bool {
        guard let file = try? lockedFile(O_WRONLY | O_CREAT), let facts = try? file.attributes() else { return false }
        // A deletion that was interrupted may have left another mode.
        if facts.mode != 0o600, fchmod(file.rawValue, 0o600) < 0 { return false }
        if facts.size >= size, facts.allocatedSize >= size { return true }
        if posix_fallocate(file.rawValue, 0, Int(size)) == 0 { return true }
        if facts.size == 0 {
            unlinkat(directory.descriptor.rawValue, name, 0)
        } else {
            _ = ftruncate(file.rawValue, Int(facts.size))
        }
        return false
    }
}

extension Directory {
    /// Removes pending and random temporary files of crashed writers of a leaf; a live writer's file stays.
    ///
    /// The caller holds the lock of that leaf: the pending file's content is not checked. Never fails: a writer's
    /// random name does not depend on it, and a file that can't be removed does no harm.
    package func removeStaleFiles(of leaf: LeafName) {
        guard let entries = try? entries() else { return }
        for entry in entries where entry.name == leaf.pendingName || isStaleFile(entry.name, of: leaf) {
            unlinkat(descriptor.rawValue, entry.name, 0)
        }
    }

    /// Returns `false` for a file that cannot be opened; it stays.
    private func isStaleFile(_ name: String, of leaf: LeafName) -> Bool {
        guard leaf.isRandomName(name) else { return false }
        let opened = openBeneath(descriptor.rawValue, name, contentFlags)
        if opened < 0 { return false }
        defer { close(opened) }
        return ByteRangeLock.attempt(opened, .whole, .shared) != -EAGAIN
    }

    /// Removes one temporary file, durably, only if it is still the one that was examined.
    ///
    /// - Parameter seen: The attributes when it was found.
    /// - Throws: `overtaken` if the name belongs to another file by now, or the file was written to; `lockTimeout` if a
    ///   writer holds it; `notRegularFile`, `unsafePath`, `permissionDenied` for a file that cannot be examined;
    ///   `notFound` if it no longer exists; an error of removing it.
    package func removeStaleFiles(_ relative: String, ifStill seen: FileAttributes) throws(FileError) {
        let file = try openForReading(relative)
        let moment = try file.moment()
        let now = moment.attributes
        guard now.kind == .regular, now.isSameFile(as: seen), now.size == seen.size,
            now.modifiedNanoseconds == seen.modifiedNanoseconds
        else {
            throw FileError(
                .overtaken, operation: "remove", path: display(relative),
                advice: "A writer is using it; nothing needs to be done.")
        }
        guard ByteRangeLock.attempt(file.rawValue, .whole, .shared) != -EAGAIN else {
            throw FileError(
                .lockTimeout, operation: "remove", path: display(relative),
                advice: "A writer is using it; try again when it has ended.")
        }
        ByteRangeLock.release(file.rawValue, .whole)
        try remove(relative, ifStill: moment)
    }
}
