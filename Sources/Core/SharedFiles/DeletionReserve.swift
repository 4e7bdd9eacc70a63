package import Glibc
internal import Synchronization

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
