internal import Glibc
internal import SharedFiles

/// The end of the chain.
struct AccessLogTail {
    /// The number of bytes up to the end of the last whole entry.
    var size: Int64 = 0
    var nextIndex: UInt64 = 0
    /// `true` if the remains of a torn entry follow it.
    var isTorn = false
}

/// A log file that is open for appending.
struct OpenAccessLog: ~Copyable, Sendable {
    private let file: Descriptor
    private let facts: FileAttributes

    /// Opens the file in a directory, or creates it.
    static func open(in directory: Directory, mode: mode_t) throws(FileError) -> OpenAccessLog {
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(AccessLogFile.leaf, flags, mode: mode, "open")
        let facts = try file.attributes()
        try requireLog(facts, in: directory)
        try widenMode(of: file, facts, mode)
        if facts.size == 0 { try syncName(of: file, in: directory) }
        return OpenAccessLog(file: file, facts: facts)
    }

    private init(file: consuming Descriptor, facts: FileAttributes) {
        self.file = file
        self.facts = facts
    }

    /// Restores permissions that were removed from a file of this user, so that other members can write it as well.
    private static func widenMode(
        of file: borrowing Descriptor, _ facts: FileAttributes, _ mode: mode_t
    ) throws(FileError) {
        if mode & ~facts.mode != 0 && facts.uid == geteuid() && fchmod(file.rawValue, facts.mode | mode) < 0 {
            throw FileError(errno: errno, operation: "set the mode of", path: file.path)
        }
    }

    /// Syncs the directory, so that a new file's name survives a power loss.
    private static func syncName(of file: borrowing Descriptor, in directory: Directory) throws(FileError) {
        if fsync(directory.descriptor.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "create", path: file.path, errno: errno)
        }
    }

    /// Refuses a planted FIFO, and a file with a second name: another user could then choose the file that grows. An
    /// interrupted roll-over may have given it its second name.
    private static func requireLog(_ facts: FileAttributes, in directory: Directory) throws(FileError) {
        let path = directory.display(AccessLogFile.leaf)
        guard facts.kind == .regular else { throw FileError(.notRegularFile, operation: "append to", path: path) }
        guard facts.nlink > 1 else { return }
        for leaf in [AccessLogFile.olderLeaf, AccessLogFile.passingLeaf] {
            if let other = try? directory.attributes(leaf), other.isSameFile(as: facts) { return }
        }
        throw FileError(
            .unsafePath, operation: "append to", path: path,
            advice: "It has a second name; see whose it is and move it away: ls -l \(path.shellQuoted)")
    }

    var sizeAtOpening: Int64 { facts.size }

    func isSameFile(as other: FileAttributes) -> Bool { facts.isSameFile(as: other) }

    /// Finds the end of the chain, and reads the last entry, or zeros if there is no entry.
    ///
    /// A size that is no multiple of an entry's is a torn write. Entries of only zeros result from a power loss after
    /// the size had reached the disk and before the content had.
    ///
    /// - Parameter size: The caller has checked that it is within a log's limit, because this may read that many bytes.
    func tail(size: Int64, into last: UnsafeMutableRawBufferPointer) throws(FileError) -> AccessLogTail {
        let step = Int64(AccessEntryLayout.size)
        var tail = AccessLogTail(size: size - size % step, isTorn: size % step != 0)
        while tail.size > 0 {
            let count = try file.pread(into: last, at: tail.size - step)
            if count == last.count && last.contains(where: { $0 != 0 }) {
                tail.nextIndex = UnsafeRawBufferPointer(last).number(at: AccessEntryLayout.index, as: UInt64.self) &+ 1
                return tail
            }
            tail.size -= step
            tail.isTorn = true
        }
        last.initializeMemory(as: UInt8.self, repeating: 0)
        return tail
    }

    /// Returns the key number of the last keyed entry, or 0 if no entry is keyed. A file that continues another one
    /// begins with a keyed entry, so the older file need not be read.
    ///
    /// - Parameter space: The last entry, and room for another one.
    func keyNumber(at tail: AccessLogTail, in space: UnsafeMutableRawBufferPointer) throws(FileError) -> UInt32 {
        let step = AccessEntryLayout.size
        let before = space.part(step, step)
        var number = UnsafeRawBufferPointer(space).number(at: AccessEntryLayout.keyNumber, as: UInt32.self)
        var end = tail.size - Int64(step)
        while number == 0, end > 0 {
            end -= Int64(step)
            guard try file.pread(into: before, at: end) == step else { return 0 }
            number = UnsafeRawBufferPointer(before).number(at: AccessEntryLayout.keyNumber)
        }
        return number
    }

    /// Appends whole entries after the last whole one and removes torn remains first. On an error no part of them
    /// remains.
    func add(_ entries: UnsafeRawBufferPointer, at tail: AccessLogTail) throws(FileError) {
        if tail.isTorn { try cut(to: tail.size) }
        do throws(FileError) {
            try file.write(entries)
        } catch {
            // Best effort: the next append treats remaining bytes as a torn write.
            try? cut(to: tail.size)
            throw error
        }
    }

    private func cut(to size: Int64) throws(FileError) {
        if ftruncate(file.rawValue, Int(size)) < 0 {
            throw FileError(errno: errno, operation: "remove a torn entry from", path: file.path)
        }
    }

    /// Syncs the file to the disk.
    func sync() throws(FileError) { try AccessLogFile.sync(file) }

    /// Returns a duplicate of the descriptor, which the caller closes.
    func duplicate() throws(FileError) -> Int32 {
        let number = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        if number < 0 {
            throw FileError(.durabilityUnknown, operation: "append to", path: file.path, errno: errno)
        }
        return number
    }
}
