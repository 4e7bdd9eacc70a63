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
            advice: "It is larger than an access log becomes; see who made it so, and move it away: "
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
