internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// What this user's readers have accepted, on disk: an append-only file of authenticated entries.
///
/// Appending is one write of 128 bytes, without lock and without sync, and only when something advanced: cheap enough to
/// be done at once, so that a program that is killed forgets nothing. Entries are merged by maximum on reading, so their
/// order and their repetition do not matter (`docs/decisions/0003-watermarks-are-a-log.md`).
final class WatermarkLog: Sendable {
    /// Larger files are compacted, so that no file ever nears the size that is refused.
    static let compactionSize: Int64 = 64 * 1024
    /// No more than that is read at once.
    static let maximumSize: Int64 = 64 << 20

    /// How far the file was read. A compaction puts another file in its place, and then everything is new.
    struct Position: ~Copyable {
        /// Held open, so that no later file gets its inode and passes for this one.
        var file: Descriptor?
        var inode: UInt64 = 0
        /// Behind the last entry that was read.
        var offset: Int64 = 0
        /// The file's size at the last look.
        var size: Int64 = 0
        /// The size from which on an append tries to compact.
        var compaction = WatermarkLog.compactionSize
        /// Whether the note for a lost file was seen or left.
        var isMarked = false
    }

    let directoryPath: FilePath
    let leaf: String
    let key: SecretBytes
    let marker: WatermarkMarker?
    /// The file in the other directory of memories, whose entries count as well and which is only read.
    let other: WatermarkLog?
    let position = Mutex(Position())

    /// - Parameter marker: What tells a lost file from a first contact; with nil nothing does.
    init(
        directoryPath: FilePath, leaf: String, key: consuming SecretBytes, marker: WatermarkMarker? = nil,
        other: WatermarkLog? = nil
    ) {
        self.directoryPath = directoryPath
        self.leaf = leaf
        self.key = key
        self.marker = marker
        self.other = other
    }

    /// A public name of a key, to tell the notes of two roots apart.
    static func identifier(of key: borrowing SecretBytes) -> String {
        key.withUnsafeBytes { key in
            Bytes16(filling: {
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .watermarkIdentifier,
                    into: $0)
            }).hexadecimal
        }
    }

    /// What was read: the states that hold now, and what is wrong with the file, if anything.
    struct Contents {
        var floors: [NameTag: AcceptedState] = [:]
        var condition = WatermarkCondition.firstContact
        /// Whether there are entries and none is authentic: as after damage, or under another vault's key.
        var isForeign = false

        /// Adds what the other directory's file has. One that cannot be read says nothing: other users may be able to put
        /// anything there.
        fileprivate mutating func merge(_ other: Contents) {
            for (name, floor) in other.floors { floors[name, default: floor].merge(floor) }
            switch (condition, other.condition) {
            case (_, .firstContact), (_, .unreadable), (_, .notPersisted): return
            case (.firstContact, _), (.intact, .damaged): condition = other.condition
            default: break
            }
            isForeign = isForeign && floors.isEmpty
        }
    }

    /// Reads the file from its beginning. A damaged one is reported; its intact entries count.
    ///
    /// - Parameter compacts: Whether a large one is made smaller on the way.
    func load(compacts: Bool = true) -> Contents {
        var contents = loadOwn(compacts: compacts)
        if let other { contents.merge(other.load(compacts: false)) }
        return contents
    }

    private func loadOwn(compacts: Bool) -> Contents {
        position.withLock { position in
            do throws(FileError) {
                position.offset = 0
                position.size = 0
                let directory = try Directory.openOwn(directoryPath)
                let (scan, others) = try readOn(in: directory, from: &position)
                let entries = scan.entries + others
                let condition = condition(of: scan, size: position.size, in: directory)
                if compacts, position.size > Self.compactionSize { compact(in: directory, &position) }
                return Contents(
                    floors: Self.floors(of: entries), condition: condition,
                    isForeign: entries.isEmpty && !scan.damage.isEmpty)
            } catch {
                guard error.code == .notFound else {
                    return Contents(condition: .unreadable("\(error.sentence) \(error.advice)"))
                }
                return Contents(condition: isLost ? .lost : .firstContact)
            }
        }
    }

    /// The states that other processes have added since the last look. Costs one look at the file's size when there is
    /// nothing.
    func news() -> [NameTag: AcceptedState] {
        position.withLock { position in
            do throws(FileError) {
                let directory = try Directory.openOwn(directoryPath)
                let facts = try directory.attributes(leaf)
                if facts.inode == position.inode && facts.size == position.size { return [:] }
                let (scan, others) = try readOn(in: directory, from: &position)
                return Self.floors(of: scan.entries + others)
            } catch {
                return [:]
            }
        }
    }

    /// Adds entries in one write.
    func append(_ entries: [WatermarkEntry]) throws(FileError) {
        let directory = try Directory.createOwn(directoryPath)
        let bytes = entries.flatMap { $0.encoded(key: key) }
        // Only compactions that follow each other at once make a round follow another.
        for _ in 0..<32 {
            if try append(bytes, in: directory) { return }
        }
        throw FileError(.lockTimeout, operation: "append to", path: directory.display(leaf))
    }
}

extension WatermarkLog {
    /// - Returns: False where a compaction took the file away meanwhile, perhaps before it saw these bytes.
    private func append(_ bytes: [UInt8], in directory: Directory) throws(FileError) -> Bool {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(leaf, flags, mode: 0o600, "append to")
        let before = try file.attributes()
        guard before.kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: directory.display(leaf))
        }
        if before.size == 0 { try noteLoss(of: file, in: directory) }
        try bytes.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
        guard let after = try? directory.attributes(leaf), after.inode == before.inode else { return false }
        position.withLock { position in
            mark(file, in: directory, &position)
            // What we added is no news to us; but only where nobody else added something meanwhile.
            let isAlone = position.size == before.size && after.size == before.size + Int64(bytes.count)
            if isAlone && position.inode == before.inode && position.offset == position.size {
                (position.offset, position.size) = (after.size, after.size)
            }
            if after.size > position.compaction { compact(in: directory, &position) }
        }
        return true
    }

    /// Leaves the note by which a lost file is told from a first contact. The file reaches the disk before it, so that a
    /// power loss does not look like a loss.
    private func mark(_ file: borrowing Descriptor, in directory: Directory, _ position: inout Position) {
        guard let marker, !position.isMarked else { return }
        position.isMarked = marker.exists
        guard !position.isMarked, fdatasync(file.rawValue) == 0, (try? directory.syncNames()) != nil else { return }
        position.isMarked = (try? marker.leave()) != nil
    }

    /// Reads on. Where the file is another one by now, or read for the first time, the entries besides those of its scan
    /// are what a compaction has not carried over yet.
    private func readOn(
        in directory: Directory, from position: inout Position
    ) throws(FileError) -> (scan: WatermarkScan, others: [WatermarkEntry]) {
        let (inode, isFirst) = (position.inode, position.offset == 0)
        let scan = try read(in: directory, from: &position)
        guard isFirst || inode != position.inode else { return (scan, []) }
        let previous = try previousEntries(in: directory)
        // Once the file before is gone, all of it was carried over: perhaps after we had read the new one.
        return (scan, previous + (try read(in: directory, from: &position).entries))
    }

    /// Reads on where the last reading ended, or all of a file that is another one by now.
    func read(in directory: Directory, from position: inout Position) throws(FileError) -> WatermarkScan {
        let facts = try refresh(&position, in: directory)
        guard facts.size - position.offset <= Self.maximumSize else {
            throw FileError(.tooLarge, operation: "read", path: directory.display(leaf))
        }
        let offset = position.offset
        let size = Int(facts.size - offset)
        let (scan, count) = try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) {
            (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> (WatermarkScan, Int) in
            let count = try position.file?.pread(into: buffer, at: offset) ?? 0
            return (WatermarkScan(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), key: key), count)
        }
        // What is no entry yet may be the beginning of one that is being written.
        let undecided = min(count - scan.end, WatermarkEntry.size - 1)
        position.offset = offset + Int64(count - undecided)
        position.size = offset + Int64(count)
        return scan
    }

    /// Opens the file that has the name now, unless it is the open one.
    private func refresh(_ position: inout Position, in directory: Directory) throws(FileError) -> FileAttributes {
        var facts = try directory.attributes(leaf)
        if facts.inode != position.inode {
            let file = try directory.openForReading(leaf)
            facts = try file.attributes()
            position.file = consume file
            position.inode = facts.inode
            position.offset = 0
        }
        if facts.size < position.offset { position.offset = 0 }
        return facts
    }

    static func floors(of entries: [WatermarkEntry]) -> [NameTag: AcceptedState] {
        var floors: [NameTag: AcceptedState] = [:]
        for entry in entries {
            guard let floor = entry.floor(in: .current) else { continue }
            floors[entry.name, default: floor].merge(floor)
        }
        return floors
    }
}

/// The file that a compaction replaces keeps a second name, `<file>.previous`, until everything in it was carried over.
///
/// What was appended to it behind the compactor's back would else be lost with a compactor that is killed, or fails, right
/// after the replace. There is one such file at most: the next compaction takes over what it finds there.
extension WatermarkLog {
    private var previousLeaf: String { leaf + ".previous" }

    /// What a file holds that was replaced and perhaps not carried over.
    func previousEntries(in directory: Directory) throws(FileError) -> [WatermarkEntry] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try directory.read(previousLeaf, limit: Int(Self.maximumSize))
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
        return bytes.withRawBytes { WatermarkScan($0, key: key).entries }
    }

    /// Gives the file that is about to be replaced its second name.
    func keepPrevious(in directory: Directory) throws(FileError) {
        do throws(FileError) {
            try directory.link(leaf, as: previousLeaf)
        } catch {
            // Not every file system has second names; a file must not grow without end for that.
            if error.code == .alreadyExists { throw error }
        }
    }

    /// Takes the second name from a file that was not replaced, for its compactor was killed before that: a file with two
    /// names is no lock. One that is about to replace it loses no more than the care for its own death.
    func dropUnreplaced(in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(leaf), facts.nlink > 1 else { return }
        try removePrevious(facts.inode, in: directory)
    }

    /// Takes over what an earlier compaction has left. It may be under way still, and then adds the same once more.
    func adoptPrevious(in directory: Directory) throws(FileError) {
        guard let inode = try? directory.attributes(previousLeaf).inode else { return }
        try add(Self.condensed(previousEntries(in: directory)), in: directory)
        try removePrevious(inode, in: directory)
    }

    /// Takes the second name away, unless a later compaction uses it by now.
    func removePrevious(_ inode: UInt64, in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(previousLeaf), facts.inode == inode else { return }
        do throws(FileError) { try directory.remove(previousLeaf, durability: .unsynced) } catch {
            if error.code != .notFound { throw error }
        }
    }

    /// Adds entries to whichever file has the name in the end.
    func add(_ entries: [WatermarkEntry], in directory: Directory) throws(FileError) {
        guard !entries.isEmpty else { return }
        let bytes = entries.flatMap { $0.encoded(key: key) }
        for _ in 0..<32 {
            let inode = try directory.attributes(leaf).inode
            try bytes.withRawBytes { bytes throws(FileError) in try directory.append(leaf, bytes, mode: 0o600) }
            if try directory.attributes(leaf).inode == inode { return }
        }
        throw FileError(.lockTimeout, operation: "append to", path: directory.display(leaf))
    }
}
