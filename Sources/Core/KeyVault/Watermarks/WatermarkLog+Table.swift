internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The table, `<file>.table`: the states of many records, which move to it when the log is compacted. A look-up reads a
/// few slots of it, so that neither opening nor memory depends on the number of records.
extension WatermarkLog {
    /// The open table. A larger one replaces the file.
    struct Table: ~Copyable {
        fileprivate var looks = 0
        fileprivate(set) var state = TableState.absent
        fileprivate var file: Descriptor?
        fileprivate var contents: WatermarkHashFile?
    }

    /// The condition of the file.
    enum TableState: Sendable, Hashable {
        case absent
        case intact
        /// Its head is not authentic: it is damaged as a whole, or another vault's.
        case damaged
    }

    /// Changes with the files: what was looked up or read before may be incomplete.
    struct Version: Hashable, Sendable {
        /// The number of replaced logs that were noticed.
        var log = 0
        /// The look at the table; 0 without one.
        var table = 0
        /// The same of the other directory.
        var otherTable = 0

        var hasTable: Bool { table != 0 || otherTable != 0 }
    }

    var version: Version {
        Version(
            log: replacements.load(ordering: .acquiring), table: tableLooks.load(ordering: .acquiring),
            otherTable: other?.tableLooks.load(ordering: .acquiring) ?? 0)
    }

    var tableLeaf: String { leaf + ".table" }
    /// The condition at the last look.
    var tableState: TableState { table.withLock { $0.state } }
    /// The id of the table; `nil` without one.
    var tableID: Bytes16? { table.withLock { $0.contents?.head.id } }

    /// Opens the file that has the name now.
    ///
    /// - Parameter forgets: Whether to give up the open table if the file is lost or damaged; else it counts on.
    /// - Throws: `FileError` if the file cannot be read; the open table counts on.
    func lookForTable(in directory: Directory, forgets: Bool = false) throws(FileError) {
        try table.withLock { table throws(FileError) in
            table.state = .absent
            do throws(FileError) {
                let file = try directory.openForReading(tableLeaf)
                // The lock of a table that was moved away meanwhile leaves an empty file.
                if try file.attributes().size > 0 {
                    table.state = .damaged
                    if let contents = try Self.contents(of: file, key: key) {
                        (table.state, table.contents) = (.intact, contents)
                        table.file = consume file
                    }
                }
            } catch {
                if error.code != .notFound { throw error }
            }
            if table.state != .intact, forgets { table.contents = nil }
            table.looks += 1
            tableLooks.store(table.contents == nil ? 0 : table.looks, ordering: .releasing)
        }
    }

    /// Reads the head until it is authentic: another program may be writing it.
    private static func contents(
        of file: borrowing Descriptor, key: borrowing SecretBytes
    ) throws(FileError) -> WatermarkHashFile? {
        for _ in 0..<3 {
            if let contents = try WatermarkHashFile(reading: file, key: key) { return contents }
            RacePause.wait()
        }
        return nil
    }

    /// The condition of the tables that this process uses; `nil` if they are intact.
    var tableFault: WatermarkCondition? {
        let damaged = [self, other].compactMap { $0?.damagedSlots.load(ordering: .relaxed) }.max() ?? 0
        return table.withLock { table in
            switch table.state {
            case .absent where table.contents != nil: .lost
            case .damaged: .damaged(entries: max(1, damaged))
            default: damaged > 0 ? .damaged(entries: damaged) : nil
            }
        }
    }

    /// Returns a record's state in the tables of both directories; `nil` if neither has one.
    ///
    /// - Parameter repairs: Whether to move damaged slots away.
    /// - Throws: `FileError` if this directory's table cannot be read.
    func stored(_ name: NameTag, repairs: Bool = true) throws(FileError) -> AcceptedState? {
        var state = try storedHere(name, repairs: repairs)
        if let other = try? other?.storedHere(name) { state = state.map { $0.merged(with: other) } ?? other }
        return state
    }

    /// Returns the same of this directory's table alone.
    func storedHere(_ name: NameTag, repairs: Bool = false) throws(FileError) -> AcceptedState? {
        var found = try search(name)
        // Another program may be writing a slot.
        for _ in 0..<3 where found?.damaged.isEmpty == false {
            RacePause.wait()
            found = try search(name)
        }
        if let found, !found.damaged.isEmpty {
            damagedSlots.store(max(found.damaged.count, damagedSlots.load(ordering: .relaxed)), ordering: .relaxed)
            // Without room or a lock, each search passes them again.
            if repairs { try? repairSlots(near: name) }
        }
        return found?.entry?.floor(in: .current)
    }

    private func search(_ name: NameTag) throws(FileError) -> WatermarkHashFile.Search? {
        try table.withLock { table throws(FileError) in try table.contents?.search(name, key: key) }
    }

    /// Moves the bytes of the damaged slots near a name to the file for damage, so that a later search passes them.
    private func repairSlots(near name: NameTag) throws(FileError) {
        let directory = try Directory.openOwn(directoryPath)
        guard try directory.exists(tableLeaf) else { return }
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(.whole, .exclusive, timeout: .zero)
        let file = try directory.openOrMake(tableLeaf, O_RDWR | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "repair")
        if let table = try WatermarkHashFile(reading: file, key: key) {
            try repair(try table.search(name, key: key).damaged, of: table, in: directory)
        }
        lock.unlock()
    }

    private func repair(_ slots: [UInt64], of table: WatermarkHashFile, in directory: Directory) throws(FileError) {
        guard !slots.isEmpty else { return }
        var bytes: [UInt8] = []
        for slot in slots { bytes += try table.bytes(of: slot) }
        try keepDamage(bytes, in: directory)
        for slot in slots { try table.remove(slot) }
    }

    /// Passes the states of the tables of both directories to a closure until that returns `false`.
    func forEachStored(_ body: (NameTag, AcceptedState) -> Bool) throws(FileError) {
        for log in [self, other].compactMap({ $0 }) {
            let directory: Directory
            let file: Descriptor
            do throws(FileError) {
                directory = try Directory.openOwn(log.directoryPath)
                file = try directory.openForReading(log.tableLeaf)
            } catch {
                if error.code == .notFound { continue }
                throw error
            }
            guard let contents = try Self.contents(of: file, key: key) else {
                throw FileError(.notRegularFile, operation: "read the damaged", path: file.path)
            }
            var goesOn = true
            try contents.forEach(key: key) { (entry) throws(FileError) in
                goesOn = entry.floor(in: .current).map { body(entry.name, $0) } ?? true
                return goesOn
            }
            guard goesOn else { return }
        }
    }
}

// MARK: Folding

extension WatermarkLog {
    /// Moves the entries of the log to the table, durably. Called with the log's lock held; the log is shortened
    /// afterwards, so a crash loses nothing.
    ///
    /// - Parameters:
    ///   - entries: One for each record.
    ///   - isNamed: Whether the log names a table: then a missing one is lost.
    /// - Returns: The id of the table.
    func fold(
        _ entries: [WatermarkEntry], isNamed: Bool, in directory: Directory
    ) throws(FileError) -> Bytes16 {
        guard try directory.exists(tableLeaf) else {
            if isNamed { try noteLoss(in: directory) }
            return try makeTable(from: nil, adding: entries, in: directory)
        }
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(
            .whole, .exclusive, timeout: .seconds(1))
        let file = try directory.openOrMake(tableLeaf, O_RDWR | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "write")
        guard try file.attributes().size > 0 else { return try makeTable(from: nil, adding: entries, in: directory) }
        guard var table = try WatermarkHashFile(reading: file, key: key) else {
            throw FileError(.notRegularFile, operation: "add states to the damaged", path: directory.display(tableLeaf))
        }
        // After a change that was not completed the disk may lack what this machine still has in memory, and a further
        // sync would not report that.
        guard table.hasRoom(for: entries.count), !table.head.isChanging else {
            return try makeTable(from: table, adding: entries, in: directory)
        }
        // First the largest number that is possible: a crash must not leave a file with more entries than it states.
        let count = table.head.count
        try table.update(count: count + UInt64(entries.count), isChanging: true, key: key)
        let added = try add(entries, to: table) { slots throws(FileError) in
            try self.repair(slots, of: table, in: directory)
        }
        guard fdatasync(file.rawValue) == 0 else {
            throw FileError(errno: errno, operation: "sync", path: directory.display(tableLeaf))
        }
        try table.update(count: count + UInt64(added), isChanging: false, key: key)
        lock.unlock()
        return table.head.id
    }

    /// Writes a table with the entries of another one, which it replaces.
    ///
    /// - Parameter keepsDamage: Whether to keep the bytes of damaged slots.
    private func makeTable(
        from old: WatermarkHashFile?, adding entries: [WatermarkEntry], in directory: Directory,
        keepsDamage: Bool = true
    ) throws(FileError) -> Bytes16 {
        let new = try NewFile.create(in: directory, leaf: tableLeaf, mode: 0o600)
        var table = try WatermarkHashFile.make(
            in: new, id: old?.head.id, changes: old?.head.changes ?? 0,
            holding: (old?.head.count ?? 0) + UInt64(entries.count), key: key)
        var count = 0
        let damaged = try old?.forEach(key: key) { (entry) throws(FileError) in
            count += try self.add(Self.condensed([entry]), to: table)
            return true
        }
        if keepsDamage, let old, let damaged {
            var bytes: [UInt8] = []
            for slot in damaged { bytes += try old.bytes(of: slot) }
            try keepDamage(bytes, in: directory)
        }
        count += try add(entries, to: table)
        try table.update(count: UInt64(count), isChanging: false, key: key)
        let id = table.head.id
        try new.commit(replacing: true, durability: .durable)
        return id
    }

    /// Replaces a table with damaged slots, or with many that are only passed, by one without them. The old file is kept
    /// under another name. Called after a person has accepted the damage.
    func remakeTable(in directory: Directory) throws(FileError) {
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .seconds(1))
        let file = try directory.openForReading(tableLeaf)
        guard let table = try WatermarkHashFile(reading: file, key: key) else { return }
        try directory.link(tableLeaf, as: directory.freeName("\(tableLeaf).damaged-\(UTCStamp.now())"))
        _ = try makeTable(from: table, adding: [], in: directory, keepsDamage: false)
        lock.unlock()
        try lookForTable(in: directory)
    }

    /// Merges entries with those of the table.
    ///
    /// - Parameter repair: Called with the damaged slots on the way.
    /// - Returns: The number of new records.
    private func add(
        _ entries: [WatermarkEntry], to table: WatermarkHashFile,
        repair: (([UInt64]) throws(FileError) -> Void)? = nil
    ) throws(FileError) -> Int {
        var added = 0
        for entry in entries {
            let found = try table.search(entry.name, key: key)
            if !found.damaged.isEmpty { try repair?(found.damaged) }
            guard let known = found.entry else {
                try table.write(entry, at: found.slot, key: key)
                added += 1
                continue
            }
            guard let merged = Self.condensed([known, entry]).first, merged != known else { continue }
            try table.write(merged, at: found.slot, key: key)
        }
        return added
    }

    /// Stores the states of the other directory's table, once for each of its changes: other users may be able to rename
    /// that directory.
    func takeOver(_ other: WatermarkLog) throws(FileError) {
        guard let theirs = other.table.withLock({ $0.contents?.head }) else { return }
        let directory = try Directory.createOwn(directoryPath)
        let known = (try? entries(of: directory.openForReading(leaf))) ?? []
        let note = WatermarkEntry(.takenOver, theirs.id, changes: theirs.changes)
        if known.contains(where: { $0.kind == .takenOver && $0.name == note.name && $0.changes >= note.changes }) {
            return
        }
        // The lock is on the log, and an empty one would be a lost one.
        if known.isEmpty { try append([WatermarkEntry(.takenOver, theirs.id)]) }
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .zero)
        let file = try Directory.openOwn(other.directoryPath).openForReading(other.tableLeaf)
        guard let table = try WatermarkHashFile(reading: file, key: key) else { return }
        var isNamed = known.contains { $0.kind == .table }
        var (batch, id): ([WatermarkEntry], Bytes16?) = ([], nil)
        let damaged = try table.forEach(key: key) { (entry) throws(FileError) in
            batch += Self.condensed([entry])
            guard batch.count >= 8192 else { return true }
            id = try self.fold(batch, isNamed: isNamed, in: directory)
            (batch, isNamed) = ([], false)
            return true
        }
        if !batch.isEmpty { id = try fold(batch, isNamed: isNamed, in: directory) }
        lock.unlock()
        other.damagedSlots.store(damaged.count, ordering: .relaxed)
        // The name of the table makes other programs open it.
        try append([note] + (id.map { [WatermarkEntry(.table, $0)] } ?? []))
        try lookForTable(in: directory)
    }
}
