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
    private static let compactionSize: Int64 = 64 * 1024
    /// No more than that is read at once.
    private static let maximumSize: Int64 = 64 << 20

    /// How far the file was read. A compaction puts another file in its place, and then everything is new.
    private struct Position: ~Copyable {
        /// Held open, so that no later file gets its inode and passes for this one.
        var file: Descriptor?
        var inode: UInt64 = 0
        var offset: Int64 = 0
        /// The size from which on an append tries to compact.
        var compaction = WatermarkLog.compactionSize
    }

    private let directoryPath: FilePath
    private let leaf: String
    private let key: SecretBytes
    private let position = Mutex(Position())

    init(directoryPath: FilePath, leaf: String, key: consuming SecretBytes) {
        self.directoryPath = directoryPath
        self.leaf = leaf
        self.key = key
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

    /// What was read: the floors that hold now, and what is wrong with the file, if anything.
    struct Contents {
        var floors: [NameTag: Watermark] = [:]
        var condition = WatermarkCondition.firstContact
        /// Whether there are entries and none is authentic: as after damage, or under another vault's key.
        var isForeign = false
    }

    /// Reads the file. A damaged one is reported and left as it is; its intact entries count.
    func load() -> Contents {
        position.withLock { position in
            do throws(FileError) {
                position.offset = 0
                let directory = try Directory.openOwn(directoryPath)
                let part = try read(in: directory, from: &position)
                if position.offset > Self.compactionSize { compact(part, in: directory, &position) }
                return Contents(
                    floors: Self.floors(of: part.entries),
                    condition: part.damaged == 0 ? .intact : .damaged(entries: part.damaged),
                    isForeign: part.entries.isEmpty && part.damaged > 0)
            } catch {
                return Contents(condition: error.code == .notFound ? .firstContact : .unreadable(error.description))
            }
        }
    }

    /// The floors of what other processes have added since the last look. Costs one look at the file's size when there is
    /// nothing.
    func news() -> [NameTag: Watermark] {
        position.withLock { position in
            do throws(FileError) {
                let directory = try Directory.openOwn(directoryPath)
                let facts = try directory.attributes(leaf)
                if facts.inode == position.inode && facts.size == position.offset { return [:] }
                return Self.floors(of: try read(in: directory, from: &position).entries)
            } catch {
                return [:]
            }
        }
    }

    /// Takes a file that no entry of is authentic out of the way; nothing is deleted.
    func setAside() throws(FileError) {
        try position.withLock { position throws(FileError) in
            let directory = try Directory.openOwn(directoryPath)
            try directory.move(leaf, to: directory, as: try directory.freeName("\(leaf).foreign-\(UTCStamp.now())"))
            position = Position()
        }
    }

    /// Adds entries in one write.
    func append(_ entries: [WatermarkEntry]) throws(FileError) {
        let directory = try Directory.createOwn(directoryPath)
        let size = try self.size(in: directory)
        // Behind a torn entry everything would be read at the wrong offset.
        let torn = Int(size % Int64(WatermarkEntry.size))
        var bytes = [UInt8](repeating: 0, count: torn == 0 ? 0 : WatermarkEntry.size - torn)
        for entry in entries { bytes += entry.encoded(key: key) }
        try bytes.withRawBytes { bytes throws(FileError) in try directory.append(leaf, bytes, mode: 0o600) }
        appended(bytes.count, at: size, in: directory)
    }
}

extension WatermarkLog {
    private func size(in directory: Directory) throws(FileError) -> Int64 {
        do throws(FileError) { return try directory.attributes(leaf).size } catch {
            guard error.code == .notFound else { throw error }
            return 0
        }
    }

    /// What we added is no news to us; but only where nobody else added something meanwhile.
    private func appended(_ count: Int, at size: Int64, in directory: Directory) {
        position.withLock { position in
            guard let facts = try? directory.attributes(leaf) else { return }
            let end = size + Int64(count)
            if position.offset == size && facts.size == end && facts.inode == position.inode { position.offset = end }
            guard facts.size > position.compaction else { return }
            var start = Position()
            if let all = try? read(in: directory, from: &start) { compact(all, in: directory, &position) }
        }
    }

    /// Entries that were read one behind the other.
    private struct Part {
        var entries: [WatermarkEntry] = []
        var damaged = 0
    }

    /// Reads on where the last reading ended, or all of a file that is another one by now.
    private func read(in directory: Directory, from position: inout Position) throws(FileError) -> Part {
        let facts = try refresh(&position, in: directory)
        guard facts.size - position.offset <= Self.maximumSize else {
            throw FileError(.tooLarge, operation: "read", path: directory.display(leaf))
        }
        let offset = position.offset
        let size = Int(facts.size - offset)
        let (part, end) = try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) {
            (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> (Part, Int) in
            let count = try position.file?.pread(into: buffer, at: offset) ?? 0
            return parse(UnsafeRawBufferPointer(rebasing: buffer[0..<count]))
        }
        position.offset += Int64(end)
        return part
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

    /// Takes the entries apart, and says where the last whole one ends.
    private func parse(_ bytes: UnsafeRawBufferPointer) -> (Part, Int) {
        var part = Part()
        var start = 0
        while start + WatermarkEntry.size <= bytes.count {
            let place = UnsafeRawBufferPointer(rebasing: bytes[start..<start + WatermarkEntry.size])
            if let entry = WatermarkEntry(parsing: place, key: key) {
                part.entries.append(entry)
            } else {
                part.damaged += 1
            }
            start += WatermarkEntry.size
        }
        if start < bytes.count { part.damaged += 1 }
        return (part, start)
    }

    private static func floors(of entries: [WatermarkEntry]) -> [NameTag: Watermark] {
        var floors: [NameTag: Watermark] = [:]
        for entry in entries {
            guard let floor = entry.floor(in: .current) else { continue }
            if floors[entry.name]?.isOutdone(by: floor) ?? true { floors[entry.name] = floor }
        }
        return floors
    }

    /// Keeps of each record what its floor can come from, now and after a restart: the highest entry of this boot and the
    /// highest durable one. A damaged file stays as it is.
    ///
    /// Best effort: an entry that is appended to the old file meanwhile is lost from disk, not from the memory of who
    /// appended it. Durable, since a power loss must not take more than the entries of the last moments.
    private func compact(_ part: Part, in directory: Directory, _ position: inout Position) {
        let ofThisBoot = Self.highest(of: part.entries.filter { $0.boot == .current })
        let durable = Self.highest(of: part.entries.filter(\.isDurable))
        let kept = Set(ofThisBoot.values).union(durable.values)
        let isWorthIt = part.damaged == 0 && kept.count * 4 < part.entries.count
        let left = (isWorthIt ? kept.count : part.entries.count) * WatermarkEntry.size
        position.compaction = max(Self.compactionSize, 2 * Int64(left))
        guard isWorthIt else { return }
        let bytes = kept.flatMap { $0.encoded(key: key) }
        bytes.withRawBytes { try? directory.replace(leaf, with: $0, mode: 0o600, durability: .durable) }
    }

    private static func highest(of entries: [WatermarkEntry]) -> [NameTag: WatermarkEntry] {
        var highest: [NameTag: WatermarkEntry] = [:]
        for entry in entries where highest[entry.name]?.mark.isBehind(entry.mark) ?? true {
            highest[entry.name] = entry
        }
        return highest
    }
}
