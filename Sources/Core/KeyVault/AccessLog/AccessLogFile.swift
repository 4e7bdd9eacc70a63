internal import Glibc
package import Sealing
internal import SharedFiles
internal import Synchronization

/// The log's file and the rules for appending to it, independent of the meaning of entries.
final class AccessLogFile: Sendable {
    static let leaf = "access.log"
    static let olderLeaf = "access.log.1"
    static let lockLeaf = ".access.lock"

    let directory: Directory
    let mode: mode_t
    let maximumSize: Int64
    private let lock: LockFile
    /// The file of the last append, kept open. Accessed only under `lock`, so this mutex never blocks.
    private let kept = Mutex(OpenAccessLog?.none)

    init(directory: Directory, mode: mode_t, maximumSize: Int64 = AccessLog.maximumSize) {
        self.directory = directory
        self.mode = mode
        self.maximumSize = maximumSize
        lock = LockFile(directory: directory, name: Self.lockLeaf, mode: mode)
    }

    /// Appends an entry to the chain.
    ///
    /// - Parameter passing: The highest key number of earlier entries that the caller has looked up in the vault. A
    ///   keyed entry after one with a higher number would not be authentic.
    /// - Returns: The head with the entry; or the number of a later key, and the log is unchanged.
    func append(
        _ draft: AccessDraft, key: UnsafeRawBufferPointer, number: UInt32, passing: UInt32 = .max, durable: Bool,
        timeLimit: Duration
    ) throws(FileError) -> Appended {
        let held = try lock.acquire(.whole, .exclusive, timeout: timeLimit)
        let (appended, unsynced) = try kept.withLock { kept throws(FileError) in
            let appended = try appendLocked(draft, key, number, max(number, passing), &kept)
            guard case .head = appended, durable else { return (appended, Int32?.none) }
            return (appended, try kept?.duplicate())
        }
        // Other processes append while this one waits for the disk.
        held.unlock()
        if let unsynced {
            // A duplicate of the descriptor, closed here whether or not the sync succeeds.
            let file = Descriptor(owning: unsynced, path: directory.display(Self.leaf))
            try Self.sync(file)
        }
        return appended
    }

    /// The result of appending an entry.
    enum Appended {
        case head(AccessLogHead)
        /// The log contains an entry under a key of this number, later than the writer's.
        case laterKey(UInt32)
    }

    private func appendLocked(
        _ draft: AccessDraft, _ key: UnsafeRawBufferPointer, _ number: UInt32, _ passing: UInt32,
        _ kept: inout OpenAccessLog?
    ) throws(FileError) -> Appended {
        try withUnsafeTemporaryAllocation(byteCount: 2 * AccessEntryLayout.size, alignment: 8) {
            (space: UnsafeMutableRawBufferPointer) throws(FileError) -> Appended in
            var tail = try readTail(&kept, into: space)
            if !key.isEmpty, passing < .max, let last = try kept?.keyNumber(at: tail, in: space), last > passing {
                return .laterKey(last)
            }
            if tail.size + Int64(AccessEntryLayout.size) > maximumSize {
                if !key.isEmpty { rollOver(tail, key, number, space, &kept) }
                tail = try readTail(&kept, into: space)
                try requireRoom(tail)
            }
            let code = draft.write(
                into: space, index: tail.nextIndex, followsTorn: tail.isTorn, key: key, number: number)
            try kept?.add(UnsafeRawBufferPointer(space.part(AccessEntryLayout.size, AccessEntryLayout.size)), at: tail)
            return .head(AccessLogHead(count: tail.nextIndex &+ 1, code: code))
        }
    }

    /// Without a key a writer cannot roll over, and the disk can be too full for it. The file then keeps growing, but
    /// only up to a limit.
    private func requireRoom(_ tail: AccessLogTail) throws(FileError) {
        guard tail.size + Int64(AccessEntryLayout.size) > 2 * maximumSize else { return }
        throw FileError(
            .tooLarge, operation: "append to", path: directory.display(Self.leaf),
            advice: "It rolls over when a program that can open the vault changes or reads it; free some space first.")
    }

    /// Reads the last entry of the file that has the name now into the first half of `space`.
    private func readTail(
        _ kept: inout OpenAccessLog?, into space: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> AccessLogTail {
        let size = try refresh(&kept)
        try requireBearable(size: size, Self.leaf, "append to")
        return try kept?.tail(size: size, into: space.part(0, AccessEntryLayout.size)) ?? AccessLogTail()
    }

    /// Refuses a file larger than twice the roll-over size and the remains of one entry. Appending cannot produce such
    /// a file, and reading it, including holes, could take hours under the lock.
    func requireBearable(size: Int64, _ leaf: String, _ operation: String) throws(FileError) {
        guard size > largestSize else { return }
        let path = directory.display(leaf)
        throw FileError(
            .tooLarge, operation: operation, path: path,
            advice: "It is larger than any access log; find the program that wrote it, and move the file away: "
                + "mv \(path.shellQuoted) \((path + ".oversized").shellQuoted)")
    }

    private var largestSize: Int64 { 2 * maximumSize + Int64(AccessEntryLayout.size) }

    /// Opens the file that has the name now unless it is the open one; returns its size.
    private func refresh(_ kept: inout OpenAccessLog?) throws(FileError) -> Int64 {
        do throws(FileError) {
            let facts = try directory.attributes(Self.leaf)
            if kept?.isSameFile(as: facts) == true { return facts.size }
        } catch {
            guard error.code == .notFound else { throw error }
        }
        // Close the old file only now: while it was open, no new file could get its inode number.
        kept = nil
        let file = try OpenAccessLog.open(in: directory, mode: mode)
        let size = file.sizeAtOpening
        kept = consume file
        return size
    }

    /// Syncs once: a second try could succeed although the data is lost.
    static func sync(_ file: borrowing Descriptor) throws(FileError) {
        if fdatasync(file.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "append to", path: file.path, errno: errno)
        }
    }
}

extension AccessLogFile {
    /// The temporary name of the older file.
    static let passingLeaf = ".access.log.1.new"

    /// Renames the file to its older name and starts a new one, whose first entry contains the last code.
    ///
    /// The name `access.log` exists at every moment: the old file gets a second name, then the new one replaces the
    /// first. A crash in between leaves one file with both names, and the next append rolls over again. Best effort:
    /// the caller then checks which file has the name.
    func rollOver(
        _ tail: AccessLogTail, _ key: UnsafeRawBufferPointer, _ number: UInt32,
        _ space: UnsafeMutableRawBufferPointer, _ kept: inout OpenAccessLog?
    ) {
        let size = AccessEntryLayout.size
        _ = AccessDraft(event: .continued)
            .write(into: space, index: tail.nextIndex, followsTorn: tail.isTorn, key: key, number: number)
        let first = UnsafeRawBufferPointer(space.part(size, size))
        do throws(FileError) {
            // The new file's first entry must not survive entries before it.
            try kept?.sync()
            try nameOlder()
            try directory.replace(Self.leaf, with: first, mode: mode, durability: .durable)
        } catch {
            return
        }
    }

    private func nameOlder() throws(FileError) {
        let at = directory.descriptor.rawValue
        unlinkat(at, Self.passingLeaf, 0)
        try directory.link(Self.leaf, as: Self.passingLeaf)
        let result = renameat(at, Self.passingLeaf, at, Self.olderLeaf)
        let number = errno
        // rename(2) does nothing if both names already refer to one file.
        unlinkat(at, Self.passingLeaf, 0)
        if result < 0 { throw FileError(errno: number, operation: "roll over", path: directory.display(Self.leaf)) }
    }
}

/// The state of an access log: the number of entries and the code of the last one.
///
/// If the head is noted elsewhere, `AccessLog.verify(noted:)` detects a log that was truncated or replaced.
package struct AccessLogHead: Hashable, Sendable {
    package static let encodedSize = 40
    /// The head of a log without entries.
    package static let empty = AccessLogHead(count: 0, code: .zero)

    /// The number of entries since the vault was created, including those in files already removed.
    package let count: UInt64
    /// The last entry's code.
    package let code: Bytes32

    package init(count: UInt64, code: Bytes32) {
        self.count = count
        self.code = code
    }

    /// 40 bytes: the count, little-endian, and the code.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(count)
        code.withUnsafeBytes { writer.append($0) }
        return writer.bytes
    }

    /// Decodes the result of `encoded`; `nil` for another size, and for a code without entries.
    package init?(decoding bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.encodedSize else { return nil }
        self = bytes.withUnsafeBytes { bytes in
            AccessLogHead(
                count: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                code: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[8...])))
        }
        if count == 0 && code != .zero { return nil }
    }
}

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
            advice: "It has a second name; see its owner and move it away: ls -l \(path.shellQuoted)")
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
            throw FileError(errno: errno, operation: "remove an incomplete entry from", path: file.path)
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
