package import Glibc
internal import Synchronization

/// A file of this user that keeps space for deletions where a disk or a quota is full (`docs/locking.md`).
///
/// Its blocks and its inode are allocated beforehand. A deletion that finds no space overwrites the file, syncs it and renames
/// it over the file that it replaces, which takes neither a block nor an inode. The next write that succeeds makes it again.
/// Only its user can write it. In a shared directory another member can remove it; then the deletion fails as any write does.
package final class DeletionReserve: Sendable {
    private struct State {
        /// The size that the file should have.
        var wanted: Int64
        /// The size that this process has seen it to have; 0 while that is unknown.
        var kept: Int64 = 0
        /// When it was seen, in seconds since the machine was started.
        var seen = 0
    }

    /// More than is needed: a deletion leaves room for the next reserve, less what it adds to other files, such as a log.
    package static let slack: Int64 = 2 * blockSize
    /// For so many seconds a file is taken to be there that another program may have used meanwhile.
    private static let patience = 60

    /// File systems allocate blocks of this size; the smallest reserve, and more than a tombstone takes.
    package static let blockSize: Int64 = 4096

    private let directory: Directory
    private let name: String
    private let state = Mutex(State(wanted: DeletionReserve.blockSize))

    /// The reserve of the effective user in a directory. Nothing is made yet.
    ///
    /// - Parameter prefix: The name without the user's number.
    package init(in directory: Directory, prefix: String) {
        self.directory = directory
        name = "\(prefix)\(geteuid())"
    }

    /// Notes how large a file a deletion may have to write. `keep()` sees to it.
    package func expect(_ size: Int, roundedUpTo step: Int64 = DeletionReserve.blockSize) {
        let wanted = (Int64(size) + step - 1) / step * step
        state.withLock { $0.wanted = max($0.wanted, wanted) }
    }

    /// Makes the file where it is missing or too small; to be called after a write that succeeded. Costs no system call for a
    /// minute after this process has seen the file. What fails is tried again after the next write.
    package func keep() {
        let now = Self.seconds
        let (wanted, isKept) = state.withLock { state in
            (state.wanted, state.kept >= state.wanted && now - state.seen < Self.patience)
        }
        if isKept { return }
        // On a disk that is nearly full a smaller one is better than none.
        for size in [wanted + Self.slack, wanted, wanted / 2, Self.blockSize] where allocate(size) {
            return state.withLock { ($0.kept, $0.seen) = (size, now) }
        }
    }

    /// A clock that is read without a call of the system, and that nobody sets.
    private static var seconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    /// Replaces a file by a deletion's: in the ordinary way, and with the reserve where that finds no space.
    ///
    /// - Parameter relative: The file, below the reserve's directory and on its file system.
    /// - Throws: As `Directory.replace`; where the reserve is missing or too small, the error of the ordinary way.
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
        // Never tried twice: the kernel may drop the pages that it could not write and then report success.
        if durability == .durable { try check(fdatasync(file.rawValue)) }
        state.withLock { $0.kept = 0 }
        let renamed = uninterrupted { renameat(directory.descriptor.rawValue, name, parent.descriptor.rawValue, leaf) }
        if renamed < 0 { throw directory.error(-renamed, "replace", relative) }
        if durability == .durable { try parent.sync(after: "write", leaf) }
    }

    /// The reserve's file, under its lock: while it is held, nobody renames the file or changes its size.
    private func lockedFile(_ flags: Int32) throws(FileError) -> Descriptor {
        let mode: mode_t = flags & O_CREAT == 0 ? 0 : 0o600
        let opened = openBeneath(directory.descriptor.rawValue, name, flags | O_NOFOLLOW | O_NONBLOCK, mode: mode)
        if opened < 0 { throw directory.error(-opened, "open", name) }
        let file = Descriptor(owning: opened, path: directory.display(name))
        guard ByteRangeLock.attempt(file.rawValue, .whole, .exclusive) == 0 else {
            throw FileError(.lockTimeout, operation: "use", path: directory.display(name))
        }
        // After the lock: the holder before may have given this file another name.
        let facts = try file.attributes()
        guard facts.kind == .regular, facts.uid == geteuid(), facts.nlink == 1,
            try directory.attributes(name).isSameFile(as: facts)
        else { throw FileError(.overtaken, operation: "use", path: directory.display(name)) }
        return file
    }

    /// - Returns: Whether the file has that size, with all its blocks.
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
