internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Compaction of the file.
extension WatermarkLog {
    /// Rewrites a file that contains much more than the valid entries, or those of many records; the remaining size
    /// decides when the next try is due.
    func compact(in directory: Directory, _ position: inout Position) {
        position.compaction = max(Self.compactionSize, 2 * position.size)
        guard let left = try? rewrite(in: directory, unlessAbove: 0.25) else { return }
        position.compaction = max(Self.compactionSize, 2 * left)
    }

    /// Replaces the file by one with only the valid entries, one for each record; those of many records move to the
    /// table. Bytes that belong to no entry move to the file for damage.
    ///
    /// No concurrent append is lost: the appending process sees that its file lost its name and appends again, and
    /// entries written before that are carried over. The replacement is durable, because a power loss must not take
    /// more than the entries of the last moments.
    /// - Parameter share: Does nothing if more than this share of the file would remain.
    /// - Returns: The remaining size.
    func rewrite(in directory: Directory, unlessAbove share: Double) throws(FileError) -> Int64 {
        try dropUnreplaced(in: directory)
        // The file is its own lock: of two processes one compacts, and the other finds another file.
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .zero)
        try adoptPrevious(in: directory)
        var whole = Position()
        let scan = try read(in: directory, from: &whole)
        // An empty file would look like a lost one, so one entry remains even if none is valid.
        guard let last = scan.entries.last else { return whole.size }
        let states = Self.condensed(scan.entries)
        var notes = Self.notes(scan.entries)
        lookForTable(in: directory)
        let folds = tableState != .absent || states.count >= Self.foldingCount
        let count = folds ? notes.count + 1 : max(1, states.count + notes.count)
        guard Double(count * WatermarkEntry.size) < share * Double(whole.size) else { return whole.size }
        guard lock.isStillNamed() else {
            throw FileError(.lockFileReplaced, operation: "compact", path: directory.display(leaf))
        }
        let named = notes.last { $0.kind == .table }
        // With a lost table, that of the other directory has to be taken over again.
        let isLost = isLost(named)
        notes.removeAll { $0.kind == .table || isLost }
        if folds {
            notes.append(try fold(states, named: named, in: directory))
        } else if isLost {
            try noteLoss(in: directory)
        }
        // After the table, which may have no room: a further try would keep the same bytes again.
        try keepDamage(scan.damage, of: whole, in: directory)
        let left = notes + (folds ? [] : states)
        let kept = left.isEmpty ? [scan.entries.last { $0.kind == .state } ?? last] : left
        try keepPrevious(in: directory)
        let bytes = kept.flatMap { $0.encoded(key: key) }
        try bytes.withRawBytes { bytes throws(FileError) in
            try directory.replace(leaf, with: bytes, mode: 0o600, durability: .durable)
        }
        try carryOver(from: whole, in: directory)
        try removePrevious(whole.inode, in: directory)
        return Int64(bytes.count)
    }

    /// Returns one entry for each record, with the same meaning in this boot and after a restart; none for a record of
    /// which nothing remains.
    static func condensed(_ entries: [WatermarkEntry]) -> [WatermarkEntry] {
        var meanings: [NameTag: EntryMeaning] = [:]
        for entry in entries where entry.kind == .state { meanings[entry.name, default: EntryMeaning()].add(entry) }
        return meanings.compactMap { name, meaning in meaning.entry(of: name) }
    }

    /// Returns two entries of one record as one.
    static func condensed(_ first: WatermarkEntry, _ second: WatermarkEntry) -> WatermarkEntry? {
        var meaning = EntryMeaning()
        meaning.add(first)
        meaning.add(second)
        return meaning.entry(of: first.name)
    }

    /// The meaning of a record's entries in this boot and after a restart.
    private struct EntryMeaning {
        private var now: AcceptedState?
        private var later: AcceptedState?

        mutating func add(_ entry: WatermarkEntry) {
            if entry.boot.isSame(as: .current) { now = now?.merged(with: entry.state) ?? entry.state }
            if let state = entry.state.afterRestart { later = later?.merged(with: state) ?? state }
        }

        func entry(of name: NameTag) -> WatermarkEntry? {
            if let now { return WatermarkEntry(name: name, state: later.map(now.merged(with:)) ?? now) }
            return later.map { WatermarkEntry(name: name, state: $0, boot: .unknown) }
        }
    }

    /// Returns the notes about tables, each once.
    static func notes(_ entries: [WatermarkEntry]) -> [WatermarkEntry] {
        var notes: [NameTag: WatermarkEntry] = [:]
        var table: WatermarkEntry?
        for entry in entries {
            switch entry.kind {
            case .state: break
            case .table: table = entry
            case .takenOver:
                if notes[entry.name].map({ $0.changes < entry.changes }) ?? true { notes[entry.name] = entry }
            }
        }
        return notes.values + (table.map { [$0] } ?? [])
    }

    /// Carries over the entries appended to the old file after it was read.
    private func carryOver(from old: borrowing Position, in directory: Directory) throws(FileError) {
        guard let size = try old.file?.attributes().size, size > old.offset else { return }
        var late = WatermarkScan()
        _ = try old.file?.read(into: &late, from: old.offset, key: key)
        try add(late.entries, in: directory)
    }
}

/// The entries in a range of the watermark log, and the damage between them.
///
/// A torn entry shifts everything behind it. After an entry that is not authentic, the next one is searched at every
/// byte, so that damage costs only the damaged bytes.
struct WatermarkScan {
    private(set) var entries: [WatermarkEntry] = []
    /// The ranges of the file whose bytes belong to no entry.
    private(set) var damage: [Range<Int64>] = []

    /// The largest number of bytes that are read at once.
    private static let chunk = 1 << 20

    fileprivate mutating func read(
        _ file: borrowing Descriptor, from offset: Int64, key: borrowing SecretBytes
    ) throws(FileError) -> (next: Int64, end: Int64) {
        let size = try file.attributes().size
        var next = offset
        while next < size {
            // A hole has no entries. An entry that ends behind it may have its first bytes in it.
            let data = file.nextData(from: next) ?? size
            let start = max(next, data - Int64(WatermarkEntry.size - 1))
            addDamage(next..<start)
            next = start
            let count = Int(min(size - start, Int64(Self.chunk)))
            let isLast = start + Int64(count) == size
            let used = try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
                (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int in
                let filled = try file.pread(into: buffer, at: start)
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
                return add(bytes, at: start, isLast: isLast || filled < count, key: key)
            }
            next += Int64(used)
            // Bytes before the end that were used up are all that is left.
            if isLast || used == 0 { break }
        }
        return (next, size)
    }

    /// Adds bytes of the file.
    ///
    /// - Parameter isLast: `true` if no bytes follow: the last ones count as damage then, until an entry is completed.
    /// - Returns: The number of bytes that need not be read again.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, isLast: Bool, key: borrowing SecretBytes
    ) -> Int {
        var (start, end) = (0, 0)
        while start < bytes.count {
            if let entry = Self.entry(in: bytes, at: start, key) {
                if start > end { addDamage(offset + Int64(end)..<offset + Int64(start)) }
                entries.append(entry)
                start += WatermarkEntry.size
                end = start
            } else {
                // The first bytes of an entry may have completed a torn one before it.
                start = Self.nextEntry(in: bytes, after: max(0, end - WatermarkEntry.size), key)
            }
        }
        let used = max(end, bytes.count - (WatermarkEntry.size - 1))
        addDamage(offset + Int64(end)..<offset + Int64(isLast ? bytes.count : used))
        return used
    }

    /// Adjacent ranges are one, wherever the file was divided for reading.
    private mutating func addDamage(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        if let last = damage.last, last.upperBound == range.lowerBound {
            damage[damage.count - 1] = last.lowerBound..<range.upperBound
        } else {
            damage.append(range)
        }
    }

    /// The number of entries that fit into the damage, each range rounded up.
    var damagedCount: Int { damage.reduce(0) { $0 + Self.entryCount(of: $1.count) } }

    /// Returns the number of entries that fit into `size` bytes, rounded up.
    static func entryCount(of size: Int) -> Int { (size + WatermarkEntry.size - 1) / WatermarkEntry.size }

    private static func entry(
        in bytes: UnsafeRawBufferPointer, at start: Int, _ key: borrowing SecretBytes
    ) -> WatermarkEntry? {
        guard start + WatermarkEntry.size <= bytes.count else { return nil }
        return WatermarkEntry(
            parsing: UnsafeRawBufferPointer(rebasing: bytes[start..<start + WatermarkEntry.size]), key: key)
    }

    private static func nextEntry(
        in bytes: UnsafeRawBufferPointer, after start: Int, _ key: borrowing SecretBytes
    ) -> Int {
        var next = start + 1
        while next + WatermarkEntry.size <= bytes.count {
            let place = UnsafeRawBufferPointer(rebasing: bytes[next..<next + WatermarkEntry.size])
            if WatermarkEntry.isPlausible(place), WatermarkEntry(parsing: place, key: key) != nil { return next }
            next += 1
        }
        return bytes.count
    }
}

extension Descriptor {
    /// Adds the entries from an offset to the present end to a scan, however many they are.
    ///
    /// - Returns: The offset at which to go on later, as the last bytes may be the beginning of an entry; and the end.
    func read(
        into scan: inout WatermarkScan, from offset: Int64, key: borrowing SecretBytes
    ) throws(FileError) -> (next: Int64, end: Int64) {
        try scan.read(self, from: offset, key: key)
    }
}

/// The second name, `<file>.previous`, of a file that a compaction replaces. It remains until all entries were carried
/// over.
///
/// Otherwise, entries appended to it during the compaction would be lost if the compactor were killed, or failed, right
/// after the replacement. At most one such file exists: the next compaction takes over the one that it finds.
extension WatermarkLog {
    var previousLeaf: String { leaf + ".previous" }

    /// Returns the entries of a file that was replaced and perhaps not carried over.
    func previousEntries(in directory: Directory) throws(FileError) -> [WatermarkEntry] {
        do throws(FileError) {
            return try entries(of: directory.openForReading(previousLeaf))
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
    }

    /// Returns the entries of a file from an offset on.
    func entries(of file: borrowing Descriptor, from offset: Int64 = 0) throws(FileError) -> [WatermarkEntry] {
        var scan = WatermarkScan()
        _ = try file.read(into: &scan, from: offset, key: key)
        return scan.entries
    }

    /// Gives the file to replace its second name.
    func keepPrevious(in directory: Directory) throws(FileError) {
        do throws(FileError) {
            try directory.link(leaf, as: previousLeaf)
        } catch {
            // Some file systems have no second names; the file must not grow without limit there.
            if error.code == .alreadyExists { throw error }
        }
    }

    /// Removes the second name of a file that was not replaced because its compactor was killed: a file with two names
    /// is no lock. A compactor about to replace it loses only the protection for the case that it is killed itself.
    func dropUnreplaced(in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(leaf), facts.nlink > 1 else { return }
        try removePrevious(facts.inode, in: directory)
    }

    /// Takes over the entries that an earlier compaction has left. It may still be running, and then adds them again.
    func adoptPrevious(in directory: Directory) throws(FileError) {
        guard let inode = try? directory.attributes(previousLeaf).inode else { return }
        try add(Self.condensed(previousEntries(in: directory)), in: directory)
        try removePrevious(inode, in: directory)
    }

    /// Removes the second name, unless a later compaction uses it by now.
    func removePrevious(_ inode: UInt64, in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(previousLeaf), facts.inode == inode else { return }
        do throws(FileError) { try directory.remove(previousLeaf, durability: .unsynced) } catch {
            if error.code != .notFound { throw error }
        }
    }

    /// Begins a file with an entry.
    func add(_ first: WatermarkEntry, in directory: Directory) throws(FileError) {
        let bytes = first.encoded(key: key)
        try bytes.withRawBytes { bytes throws(FileError) in try directory.append(leaf, bytes, mode: 0o600) }
    }

    /// Adds entries to the file that finally has the name.
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
