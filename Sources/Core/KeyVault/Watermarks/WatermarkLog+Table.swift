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
        /// The looks at the tables of both directories; 0 for one that does not exist.
        var tables = [0, 0]

        var hasTable: Bool { tables != [0, 0] }
    }

    var version: Version {
        Version(
            log: replacements.load(ordering: .acquiring),
            tables: [
                tableLooks.load(ordering: .acquiring), other?.tableLooks.load(ordering: .acquiring) ?? 0,
            ])
    }

    var tableLeaf: String { leaf + ".table" }
    /// The condition at the last look.
    var tableState: TableState { table.withLock { $0.state } }
    /// The id of the table; `nil` without one.
    var tableID: Bytes16? { table.withLock { $0.contents?.head.id } }

    /// Opens the file that has the name now.
    func lookForTable(in directory: Directory) throws(FileError) {
        try table.withLock { table throws(FileError) in
            table.state = .absent
            table.contents = nil
            table.file = nil
            table.looks += 1
            defer { tableLooks.store(table.state == .intact ? table.looks : 0, ordering: .releasing) }
            do throws(FileError) {
                let file = try directory.openForReading(tableLeaf)
                // The lock of a table that was moved away meanwhile leaves an empty file.
                guard try file.attributes().size > 0 else { return }
                table.contents = try WatermarkHashFile(reading: file, key: key)
                table.state = table.contents == nil ? .damaged : .intact
                table.file = consume file
            } catch {
                if error.code != .notFound { throw error }
            }
        }
    }

    /// Returns a record's state in the tables of both directories; `nil` if neither has one.
    ///
    /// - Parameter repairs: Whether to move damaged slots away.
    func stored(_ name: NameTag, repairs: Bool = true) throws(FileError) -> AcceptedState? {
        var state = try found(name, repairs: repairs)
        if let other = try? other?.found(name, repairs: false) { state = state.map { $0.merged(with: other) } ?? other }
        return state
    }

    private func found(_ name: NameTag, repairs: Bool) throws(FileError) -> AcceptedState? {
        let found = try table.withLock { table throws(FileError) in try table.contents?.search(name, key: key) }
        guard let found else { return nil }
        if found.damaged.isEmpty { return found.entry?.floor(in: .current) }
        return try foundAmongDamage(name, repairs: repairs)
    }

    /// Searches again while no program writes. Slots that are damaged even then are kept in the file for damage, so that
    /// a later search passes them.
    private func foundAmongDamage(_ name: NameTag, repairs: Bool) throws(FileError) -> AcceptedState? {
        let directory = try Directory.openOwn(directoryPath)
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(
            .whole, repairs ? .exclusive : .shared, timeout: .seconds(1))
        try lookForTable(in: directory)
        let file = try directory.openOrMake(tableLeaf, repairs ? O_RDWR : O_RDONLY, mode: 0o600, "repair")
        guard let table = try WatermarkHashFile(reading: file, key: key) else { return nil }
        let found = try table.search(name, key: key)
        damagedSlots.add(found.damaged.count, ordering: .relaxed)
        if repairs { try repair(found.damaged, of: table, in: directory) }
        lock.unlock()
        return found.entry?.floor(in: .current)
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
            var goesOn = true
            try WatermarkHashFile(reading: file, key: key)?.forEach(key: key) { (entry) throws(FileError) in
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
    /// - Parameter entries: One for each record.
    /// - Returns: The id of the table.
    func fold(_ entries: [WatermarkEntry], in directory: Directory) throws(FileError) -> Bytes16 {
        guard try directory.exists(tableLeaf) else { return try makeTable(from: nil, adding: entries, in: directory) }
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(
            .whole, .exclusive, timeout: .seconds(1))
        let file = try directory.openOrMake(tableLeaf, O_RDWR | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "write")
        guard try file.attributes().size > 0 else { return try makeTable(from: nil, adding: entries, in: directory) }
        guard var table = try WatermarkHashFile(reading: file, key: key) else {
            throw FileError(.tooLarge, operation: "add states to the damaged", path: directory.display(tableLeaf))
        }
        guard table.hasRoom(for: entries.count) else {
            return try makeTable(from: table, adding: entries, in: directory)
        }
        // First the largest number that is possible: a crash must not leave a file with more entries than it states.
        let count = table.head.count
        try table.update(count: count + UInt64(entries.count), key: key)
        let added = try add(entries, to: table) { slots throws(FileError) in
            try self.repair(slots, of: table, in: directory)
        }
        try table.update(count: count + UInt64(added), key: key)
        guard fdatasync(file.rawValue) == 0 else {
            throw FileError(errno: errno, operation: "sync", path: directory.display(tableLeaf))
        }
        lock.unlock()
        return table.head.id
    }

    /// Writes a table with the entries of another one, which it replaces.
    private func makeTable(
        from old: WatermarkHashFile?, adding entries: [WatermarkEntry], in directory: Directory
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
        if let old, let damaged {
            for slot in damaged { try keepDamage(old.bytes(of: slot), in: directory) }
        }
        count += try add(entries, to: table)
        try table.update(count: UInt64(count), key: key)
        let id = table.head.id
        try new.commit(replacing: true, durability: .durable)
        return id
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
        let known = try? entries(of: directory.openForReading(leaf))
        let note = WatermarkEntry(.takenOver, theirs.id, changes: theirs.changes)
        if known?.contains(where: { $0.kind == .takenOver && $0.name == note.name && $0.changes >= note.changes })
            == true
        {
            return
        }
        // The lock is on the log, and an empty one would be a lost one.
        if known == nil || known?.isEmpty == true { try append([WatermarkEntry(.takenOver, theirs.id, changes: 0)]) }
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .zero)
        let file = try Directory.openOwn(other.directoryPath).openForReading(other.tableLeaf)
        guard let table = try WatermarkHashFile(reading: file, key: key) else { return }
        var (batch, id): ([WatermarkEntry], Bytes16?) = ([], nil)
        try table.forEach(key: key) { (entry) throws(FileError) in
            batch += Self.condensed([entry])
            if batch.count >= 8192 {
                id = try self.fold(batch, in: directory)
                batch = []
            }
            return true
        }
        if !batch.isEmpty { id = try fold(batch, in: directory) }
        lock.unlock()
        try append([note] + (id.map { [WatermarkEntry(.table, $0)] } ?? []))
        try lookForTable(in: directory)
    }
}
