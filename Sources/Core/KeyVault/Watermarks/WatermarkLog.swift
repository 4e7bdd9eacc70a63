internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// The states that this user's readers have accepted, on disk: an append-only file of authenticated entries.
///
/// An append is one write of 128 bytes, without lock and without sync, and only when a state advanced. It is cheap
/// enough to run at once, so that a killed program forgets nothing. Reading merges entries by maximum, so their order
/// and repetition do not matter (`docs/decisions/0003-watermarks-are-a-log.md`). The states of many records move to a
/// table beside it.
final class WatermarkLog: Sendable {
    /// The size above which a file is compacted, so that opening it stays quick.
    static let compactionSize: Int64 = 64 * 1024
    /// The number of records from which compaction moves the entries to the table.
    static let foldingCount = Int(compactionSize) / WatermarkEntry.size
    /// The largest amount of damage that is kept, in bytes.
    static let maximumDamage = 64 << 20

    /// The position up to which the file was read. A compaction replaces the file, and the new one is read from its
    /// start.
    struct Position: ~Copyable {
        /// Held open, so that no later file gets its inode number and is mistaken for it.
        var file: Descriptor?
        var inode: UInt64 = 0
        var device: UInt64 = 0
        /// The end of the last entry that was read.
        var offset: Int64 = 0
        /// The file's size at the last look.
        var size: Int64 = 0
        /// The size at which an append tries to compact.
        var compaction = WatermarkLog.compactionSize
        /// `true` if the note for a lost file was found or left.
        var isMarked = false
        /// The file that this process has appended to, held open for the next append, and its attributes when it was
        /// opened; nil also during an append.
        var appended: Descriptor?
        var appendedFacts: FileAttributes?

        /// Returns `true` for the file that was read.
        func isFile(_ facts: FileAttributes) -> Bool { facts.inode == inode && facts.device == device }
    }

    let directoryPath: FilePath
    let leaf: String
    private let (path, directoryName): (String, String)
    let key: SecretBytes
    let marker: WatermarkMarker?
    /// The file in the other directory of memories. Its entries count as well, and it is only read.
    let other: WatermarkLog?
    let position = Mutex(Position())
    let table = Mutex(Table())
    /// The number of the last look at the table; 0 without a table.
    let tableLooks = Atomic<Int>(0)

    /// - Parameter marker: Distinguishes a lost file from a first contact; `nil` for no distinction.
    init(
        directoryPath: FilePath, leaf: String, key: consuming SecretBytes, marker: WatermarkMarker? = nil,
        other: WatermarkLog? = nil
    ) {
        self.directoryPath = directoryPath
        self.leaf = leaf
        (path, directoryName) = (directoryPath.appending(leaf).string, directoryPath.string)
        self.key = key
        self.marker = marker
        self.other = other
    }

    /// Returns a public name of a key, to distinguish the notes of two roots.
    static func identifier(of key: borrowing SecretBytes) -> String {
        key.withUnsafeBytes { key in
            Bytes16(filling: {
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .watermarkIdentifier,
                    into: $0)
            }).hexadecimal
        }
    }

    /// The result of reading: the present states, and the defects of the file, if any.
    struct Contents {
        /// The states in the log. Others may be in the table.
        var floors: [NameTag: AcceptedState] = [:]
        var condition = WatermarkCondition.firstContact
        /// `true` if entries exist and none is authentic: after damage, or under another vault's key.
        var isForeign = false
        /// The states that the other directory's file has and this one has not.
        var elsewhere: [NameTag: AcceptedState] = [:]

        /// Adds the entries of the other directory's file. An unreadable one is ignored, because other users may be
        /// able to put anything there.
        fileprivate mutating func merge(_ other: Contents) {
            for (name, floor) in other.floors {
                if floors[name].map({ $0.isMissing(floor) }) ?? true { elsewhere[name] = floor }
                floors[name, default: floor].merge(floor)
            }
            switch (condition, other.condition) {
            case (_, .firstContact), (_, .unreadable), (_, .notPersisted): return
            case (.firstContact, _), (.intact, .damaged): condition = other.condition
            default: break
            }
            isForeign = isForeign && floors.isEmpty
        }
    }

    /// Reads the file from its beginning. Damage is reported; intact entries count.
    ///
    /// - Parameter compacts: Whether to compact a large file.
    func load(compacts: Bool = true) -> Contents {
        var contents = loadOwn(compacts: compacts)
        if let other {
            contents.merge(other.load(compacts: false))
            if compacts { try? takeOver(other) }
        }
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
                let table = tableState
                if compacts, position.size > Self.compactionSize { compact(in: directory, &position) }
                let hasOnlyDamage =
                    switch table {
                    case .intact: false
                    case .damaged: true
                    case .absent, .unreadable: !scan.damage.isEmpty
                    }
                return Contents(
                    floors: Self.floors(of: entries), condition: condition,
                    isForeign: entries.isEmpty && hasOnlyDamage)
            } catch {
                guard error.code == .notFound else {
                    return Contents(condition: .unreadable("\(error.sentence) \(error.advice)"))
                }
                do throws(FileError) { lookForTable(in: try Directory.openOwn(directoryPath)) } catch {
                    if error.code != .notFound {
                        return Contents(condition: .unreadable("\(error.sentence) \(error.advice)"))
                    }
                }
                return Contents(condition: isLost || tableState != .absent ? .lost : .firstContact)
            }
        }
    }

    /// Returns the states that other processes have added since the last look. Without news it costs one look at the
    /// file's name.
    ///
    /// - Throws: `FileError` if the file cannot be read; all of it is news again at the next look.
    func news() throws(FileError) -> [NameTag: AcceptedState] {
        try position.withLock { position throws(FileError) in
            if isSeen(position) { return [:] }
            do throws(FileError) {
                let directory = try Directory.openOwn(directoryPath)
                if case .unreadable = tableState { lookForTable(in: directory) }
                let facts = try directory.attributes(leaf)
                if position.isFile(facts) && facts.size == position.size { return [:] }
                let (scan, others) = try readOn(in: directory, from: &position)
                return Self.floors(of: scan.entries + others)
            } catch {
                guard error.code == .notFound else { throw error }
                return [:]
            }
        }
    }

    /// Returns the same of the other directory's file. One that cannot be read does not count.
    func newsElsewhere() -> [NameTag: AcceptedState] { other.flatMap { try? $0.news() } ?? [:] }

    /// The file that was read to its end still has the name and its size, and the table needs no look.
    private func isSeen(_ position: borrowing Position) -> Bool {
        if case .unreadable = tableState { return false }
        guard position.inode != 0, isTrusted, let facts = present else { return false }
        return position.isFile(facts) && facts.size == position.size
    }

    /// The attributes of the file that has the name now; nil if the look fails. They are compared with those of a file
    /// that is held open: no other one has its number meanwhile.
    private var present: FileAttributes? { FileAttributes(ofName: path) }

    private var isTrusted: Bool { FileAttributes(ofName: directoryName)?.isOwnDirectory == true }

    /// Adds entries in one write.
    func append(_ entries: [WatermarkEntry]) throws(FileError) {
        let bytes = entries.flatMap { $0.encoded(key: key) }
        if try appendToOpen(bytes) { return }
        let directory = try Directory.createOwn(directoryPath)
        // Only immediately consecutive compactions cause another round.
        for _ in 0..<32 {
            if try append(bytes, in: directory) { return }
        }
        throw FileError(.lockTimeout, operation: "append to", path: directory.display(leaf))
    }
}

extension WatermarkLog {
    /// Adds bytes to the file that this process appended to before. After an error the file is opened again.
    ///
    /// - Returns: `false` if the name may denote another file by now, or if the file is to be compacted.
    private func appendToOpen(_ bytes: [UInt8]) throws(FileError) -> Bool {
        var file: Descriptor?
        // The write may take long: it is not under the lock, which reads take.
        let taken: (facts: FileAttributes, limit: Int64)? = position.withLock { position in
            guard marker == nil || position.isMarked, let facts = position.appendedFacts else { return nil }
            position.appendedFacts = nil
            file = position.appended.take()
            return (facts, position.compaction)
        }
        guard let (known, limit) = taken, isTrusted, let before = present, before.isSameFile(as: known),
            before.size > 0, before.size + Int64(bytes.count) <= limit
        else { return false }
        try bytes.withRawBytes { bytes throws(FileError) in try file?.write(bytes) }
        guard let after = present, after.isSameFile(as: known) else { return false }
        position.withLock { position in
            Self.passOwn(bytes.count, from: before, to: after, &position)
            if position.appendedFacts == nil {
                position.appended = file.take()
                position.appendedFacts = known
            }
        }
        return true
    }

    /// Own entries are no news to this process, but only if no other process appended meanwhile.
    private static func passOwn(
        _ count: Int, from before: FileAttributes, to after: FileAttributes, _ position: inout Position
    ) {
        let isAlone = position.size == before.size && after.size == before.size + Int64(count)
        if isAlone && position.isFile(before) && position.offset == position.size {
            (position.offset, position.size) = (after.size, after.size)
        }
    }

    /// - Returns: `false` if a compaction replaced the file meanwhile, perhaps before it read these bytes.
    private func append(_ bytes: [UInt8], in directory: Directory) throws(FileError) -> Bool {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(leaf, flags, mode: 0o600, "append to")
        let before = try file.attributes()
        guard before.kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: directory.display(leaf))
        }
        if before.size == 0 { try noteLoss(of: file, in: directory) }
        try bytes.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
        guard let after = try? directory.attributes(leaf), after.isSameFile(as: before) else { return false }
        var kept: Descriptor? = consume file
        position.withLock { position in
            if let number = kept?.rawValue { mark(number, in: directory, &position) }
            Self.passOwn(bytes.count, from: before, to: after, &position)
            if after.size > position.compaction { compact(in: directory, &position) }
            position.appended = kept.take()
            position.appendedFacts = before
        }
        return true
    }

    /// Leaves the note that distinguishes a lost file from a first contact. The file reaches the disk before it, so
    /// that a power loss does not look like a loss.
    private func mark(_ file: Int32, in directory: Directory, _ position: inout Position) {
        guard let marker, !position.isMarked else { return }
        position.isMarked = marker.exists
        guard !position.isMarked, fdatasync(file) == 0, (try? directory.syncNames()) != nil else { return }
        position.isMarked = (try? marker.leave()) != nil
    }

    /// Reads new entries. If the file was replaced, or is read for the first time, the entries outside its scan are
    /// those that a compaction has not carried over yet.
    private func readOn(
        in directory: Directory, from position: inout Position
    ) throws(FileError) -> (scan: WatermarkScan, others: [WatermarkEntry]) {
        let (inode, isFirst) = (position.inode, position.offset == 0)
        let scan = try read(in: directory, from: &position)
        do throws(FileError) {
            // Not before the log: meanwhile entries may have moved from it to a table that replaced the other.
            if isFirst || inode != position.inode || scan.entries.contains(where: { $0.kind == .table }) {
                lookForTable(in: directory)
            }
            guard isFirst || inode != position.inode else { return (scan, []) }
            let previous = try previousEntries(in: directory)
            // Once the previous file is gone, all of it was carried over, perhaps after we had read the new one.
            return (scan, previous + (try read(in: directory, from: &position).entries))
        } catch {
            // All of it is news again at the next look.
            (position.inode, position.offset, position.size) = (0, 0, 0)
            throw error
        }
    }

    /// Reads from the end of the last reading, or a replaced file from its start.
    func read(in directory: Directory, from position: inout Position) throws(FileError) -> WatermarkScan {
        try refresh(&position, in: directory)
        var scan = WatermarkScan()
        if let read = try position.file?.read(into: &scan, from: position.offset, key: key) {
            (position.offset, position.size) = read
        }
        return scan
    }

    /// Opens the file that has the name now, unless it is the open one.
    private func refresh(_ position: inout Position, in directory: Directory) throws(FileError) {
        var facts = try directory.attributes(leaf)
        if !position.isFile(facts) {
            let file = try directory.openForReading(leaf)
            facts = try file.attributes()
            position.file = consume file
            (position.inode, position.device) = (facts.inode, facts.device)
            // All of it is news, also if the reading fails.
            (position.offset, position.size) = (0, 0)
        }
        if facts.size < position.offset { position.offset = 0 }
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
