internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The table, `<file>.table`: the states of many records, which move to it when the log is compacted. A look-up reads a
/// few slots of it, so that neither opening nor memory depends on the number of records.
extension WatermarkLog {
    /// The tables that this process uses.
    struct Table: ~Copyable {
        fileprivate var looks = 0
        fileprivate(set) var state = TableState.absent
        /// The present one is the last. One that was lost, or replaced by an older copy, counts on in this process.
        fileprivate var open: [OpenTable] = []
    }

    /// A table file that is open for reading.
    fileprivate final class OpenTable {
        let file: Descriptor
        let contents: WatermarkHashFile
        /// The damaged slots that searches have met.
        var damaged: Set<UInt64> = []

        init(_ file: consuming Descriptor, _ contents: WatermarkHashFile) {
            self.file = file
            self.contents = contents
        }

        /// Returns whether a table that was opened later has all entries of this one: it is a larger one, and no older
        /// copy.
        func isContained(in other: OpenTable, key: borrowing SecretBytes) -> Bool {
            guard contents.head.id == other.contents.head.id else { return false }
            let head = (try? WatermarkHashFile(reading: file, key: key))?.head ?? contents.head
            return head.changes <= other.contents.head.changes
        }

        func isSameFile(as other: OpenTable) -> Bool {
            guard let mine = try? file.attributes(), let theirs = try? other.file.attributes() else { return false }
            return mine.isSameFile(as: theirs)
        }
    }

    /// The condition of the file.
    enum TableState: Sendable, Hashable {
        case absent
        case intact
        /// Its head is not authentic: it is damaged as a whole, or another vault's.
        case damaged
        /// It could not be read, for the given reason.
        case unreadable(String)
    }

    /// Changes with each look at the tables of both directories; 0 without one.
    struct TableVersion: Hashable, Sendable {
        var own = 0
        var other = 0

        var hasTable: Bool { own != 0 || other != 0 }
    }

    var tableVersion: TableVersion {
        TableVersion(
            own: tableLooks.load(ordering: .acquiring), other: other?.tableLooks.load(ordering: .acquiring) ?? 0)
    }

    var tableLeaf: String { leaf + ".table" }
    /// The condition at the last look.
    var tableState: TableState { table.withLock { $0.state } }
    /// The note that names the intact table; `nil` without one.
    var tableNote: WatermarkEntry? {
        table.withLock { table in
            guard table.state == .intact, let head = table.open.last?.contents.head else { return nil }
            return WatermarkEntry(.table, head.id, changes: head.changes)
        }
    }

    /// Returns whether the table that the log names is gone, or is another one or an older copy by now.
    func isLost(_ named: WatermarkEntry?) -> Bool {
        guard let named else { return false }
        return table.withLock { table in
            switch table.state {
            case .damaged, .unreadable: return false
            case .absent: return true
            case .intact:
                guard let head = table.open.last?.contents.head, head.id == named.name.bytes else { return true }
                // A power loss may take back the last write of a head, which ends a change and is not synced.
                return head.changes + (head.isChanging ? 1 : 0) < named.changes
            }
        }
    }

    /// Opens the file that has the name now. Where that is not possible, the open one counts.
    ///
    /// - Parameter forgets: Whether to give up what a lost or damaged table has: a person has accepted it.
    func lookForTable(in directory: Directory, forgets: Bool = false) {
        table.withLock { table in
            if forgets { table.open = [] }
            do throws(FileError) {
                let file = try directory.openForReading(tableLeaf)
                if try file.attributes().size == 0 {
                    // The lock of a table that was moved away meanwhile.
                    table.state = .absent
                } else if let contents = try Self.contents(of: file, key: key) {
                    table.state = .intact
                    let found = OpenTable(file, contents)
                    if let open = table.open.last {
                        let isSame = open.isSameFile(as: found)
                        if isSame { found.damaged = open.damaged }
                        if !isSame, open.isContained(in: found, key: key) { table.open.removeLast() }
                    }
                    table.open.removeAll { $0.isSameFile(as: found) }
                    table.open.append(found)
                } else {
                    table.state = .damaged
                }
            } catch {
                table.state = error.code == .notFound ? .absent : .unreadable("\(error.sentence) \(error.advice)")
            }
            table.looks += 1
            tableLooks.store(table.open.isEmpty ? 0 : table.looks, ordering: .releasing)
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
        let others = other?.table.withLock { Self.damagedCount(of: $0) } ?? 0
        return table.withLock { table in
            let damaged = Self.damagedCount(of: table) + others
            return switch table.state {
            case .unreadable(let reason): .unreadable(reason)
            case .damaged: .damaged(entries: max(1, damaged))
            case .absent where !table.open.isEmpty: .lost
            case .intact where table.open.count > 1: .lost
            case .absent, .intact: damaged > 0 ? .damaged(entries: damaged) : nil
            }
        }
    }

    private static func damagedCount(of table: borrowing Table) -> Int {
        table.open.reduce(0) { $0 + $1.damaged.count }
    }

    /// Returns a record's state in the tables of both directories; `nil` if neither has one.
    ///
    /// - Parameter repairs: Whether to move damaged slots away.
    func stored(_ name: NameTag, repairs: Bool = true) -> AcceptedState? {
        let state = storedHere(name, repairs: repairs)
        guard let other = other?.storedHere(name) else { return state }
        return state?.merged(with: other) ?? other
    }

    /// Returns the same of this directory's tables alone.
    func storedHere(_ name: NameTag, repairs: Bool = false) -> AcceptedState? {
        // Another program may be writing a slot.
        for _ in 0..<3 {
            let (state, isDamaged) = search(name)
            guard isDamaged else { return state }
            RacePause.wait()
        }
        let (state, isDamaged) = search(name, notes: true)
        // Without room or a lock, a later move of entries repairs them.
        if isDamaged && repairs { try? repairSlots(near: name) }
        return state
    }

    /// Returns whether the table that has the name contains a record's state; damaged slots are passed.
    func isStoredHere(_ name: NameTag, _ state: AcceptedState) -> Bool {
        table.withLock { table in
            guard table.state == .intact, let open = table.open.last,
                let found = try? open.contents.search(name, key: key), let floor = found.entry?.floor(in: .current)
            else { return false }
            return !floor.isMissing(state)
        }
    }

    /// - Parameter notes: Whether to note the damaged slots.
    /// - Returns: The state, and whether the search has met damaged slots that were not noted before.
    private func search(_ name: NameTag, notes: Bool = false) -> (AcceptedState?, isDamaged: Bool) {
        table.withLock { table in
            var (state, isDamaged): (AcceptedState?, Bool) = (nil, false)
            for index in table.open.indices {
                do throws(FileError) {
                    let open = table.open[index]
                    let found = try open.contents.search(name, key: key)
                    if !found.damaged.isEmpty {
                        isDamaged = isDamaged || !open.damaged.isSuperset(of: found.damaged)
                        if notes { open.damaged.formUnion(found.damaged) }
                    }
                    if let floor = found.entry?.floor(in: .current) { state = state?.merged(with: floor) ?? floor }
                } catch {
                    table.state = .unreadable("\(error.sentence) \(error.advice)")
                }
            }
            return (state, isDamaged)
        }
    }

    /// Moves the bytes of the damaged slots near a name to the file for damage, so that a later search passes them.
    private func repairSlots(near name: NameTag) throws(FileError) {
        let directory = try Directory.openOwn(directoryPath)
        guard try directory.exists(tableLeaf) else { return }
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(.whole, .exclusive, timeout: .zero)
        if let table = try WatermarkHashFile(reading: lock.file, key: key) {
            try repair(try table.search(name, key: key).damaged, of: table, in: directory)
        }
        lock.unlock()
    }

    private func repair(_ slots: [UInt64], of table: WatermarkHashFile, in directory: Directory) throws(FileError) {
        guard !slots.isEmpty else { return }
        try keepDamage(try table.bytes(of: slots), in: directory)
        for slot in slots { try table.remove(slot) }
    }

    /// Passes the states of the tables of both directories to a closure until that returns `false`.
    ///
    /// - Returns: `false` if not all of this directory's table could be read. One of the other directory that cannot be
    ///   read does not count, because other users may be able to put anything there.
    func forEachStored(_ body: (NameTag, AcceptedState) -> Bool) -> Bool {
        var goesOn = true
        let isComplete = forEachStoredHere { name, state in
            goesOn = body(name, state)
            return goesOn
        }
        if goesOn, let other { _ = other.forEachStoredHere(body) }
        return isComplete
    }

    private func forEachStoredHere(_ body: (NameTag, AcceptedState) -> Bool) -> Bool {
        do throws(FileError) {
            let file = try Directory.openOwn(directoryPath).openForReading(tableLeaf)
            guard try file.attributes().size > 0 else { return true }
            guard let contents = try Self.contents(of: file, key: key) else { return false }
            let damaged = try contents.forEach(key: key) { (entry) throws(FileError) in
                entry.floor(in: .current).map { body(entry.name, $0) } ?? true
            }
            return damaged.isEmpty
        } catch {
            return error.code == .notFound
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
    ///   - named: The log's note of a table.
    /// - Returns: The note that names the table.
    func fold(
        _ entries: [WatermarkEntry], named: WatermarkEntry?, in directory: Directory
    ) throws(FileError) -> WatermarkEntry {
        if isLost(named) { try noteLoss(in: directory) }
        guard try directory.exists(tableLeaf) else {
            return try makeTable(from: nil, adding: entries, in: directory)
        }
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(
            .whole, .exclusive, timeout: .seconds(1))
        guard try lock.file.attributes().size > 0 else {
            return try makeTable(from: nil, adding: entries, in: directory)
        }
        guard var table = try WatermarkHashFile(reading: lock.file, key: key) else {
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
        guard fdatasync(lock.file.rawValue) == 0 else {
            throw FileError(errno: errno, operation: "sync", path: directory.display(tableLeaf))
        }
        try table.update(count: count + UInt64(added), isChanging: false, key: key)
        lock.unlock()
        return WatermarkEntry(.table, table.head.id, changes: table.head.changes)
    }

    /// Writes a table with the entries of another one, which it replaces.
    ///
    /// The bytes of its damaged slots move to the file for damage.
    /// - Parameter limit: The largest size of that file.
    private func makeTable(
        from old: WatermarkHashFile?, adding entries: [WatermarkEntry], in directory: Directory,
        damageUpTo limit: Int = maximumDamage
    ) throws(FileError) -> WatermarkEntry {
        let new = try NewFile.create(in: directory, leaf: tableLeaf, mode: 0o600)
        var table = try WatermarkHashFile.make(
            in: new, id: old?.head.id, changes: old?.head.changes ?? 0,
            holding: (old?.head.count ?? 0) + UInt64(entries.count), key: key)
        var count = 0
        let damaged = try old?.forEach(key: key) { (entry) throws(FileError) in
            count += try self.add(Self.condensed([entry]), to: table)
            return true
        }
        if let old, let damaged { try keepDamage(try old.bytes(of: damaged), upTo: limit, in: directory) }
        count += try add(entries, to: table)
        try table.update(count: UInt64(count), isChanging: false, key: key)
        let note = WatermarkEntry(.table, table.head.id, changes: table.head.changes)
        try new.commit(replacing: true, durability: .durable)
        return note
    }

    /// Replaces a table that has damaged slots by one without them, after a person has accepted the damage.
    func remakeTable(in directory: Directory) throws(FileError) {
        try dropUnreplaced(in: directory)
        let log = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .seconds(1))
        let lock = try LockFile(directory: directory, name: tableLeaf).acquire(
            .whole, .exclusive, timeout: .seconds(1))
        if let table = try WatermarkHashFile(reading: lock.file, key: key), try table.hasDamage(key: key) {
            _ = try makeTable(from: table, adding: [], in: directory, damageUpTo: .max)
        }
        lock.unlock()
        log.unlock()
        lookForTable(in: directory, forgets: true)
    }

    func hasDamagedSlots() -> Bool { !forEachStoredHere { _, _ in true } }

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
            guard let merged = Self.condensed(known, entry), merged != known else { continue }
            try table.write(merged, at: found.slot, key: key)
        }
        return added
    }

    /// Stores the states of the other directory's table, once for each of its changes: other users may be able to rename
    /// that directory.
    func takeOver(_ other: WatermarkLog) throws(FileError) {
        guard let theirs = other.table.withLock({ $0.open.last?.contents.head }) else { return }
        let directory = try Directory.createOwn(directoryPath)
        let known = (try? entries(of: directory.openForReading(leaf))) ?? []
        let note = WatermarkEntry(.takenOver, theirs.id, changes: theirs.changes)
        if known.contains(where: { $0.kind == .takenOver && $0.name == note.name && $0.changes >= note.changes }) {
            return
        }
        // The lock is on the log, and an empty one would be a lost one.
        if known.isEmpty { try append([WatermarkEntry(.takenOver, theirs.id)]) }
        try dropUnreplaced(in: directory)
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .zero)
        let file = try Directory.openOwn(other.directoryPath).openForReading(other.tableLeaf)
        guard let table = try WatermarkHashFile(reading: file, key: key) else { return }
        var named = known.last { $0.kind == .table }
        lookForTable(in: directory)
        var (batch, isFolded): ([WatermarkEntry], Bool) = ([], false)
        try table.forEach(key: key) { (entry) throws(FileError) in
            // Entries of the own table are not stored again: two programs would copy each other's table for ever.
            guard let state = entry.floor(in: .current), !self.isStoredHere(entry.name, state) else { return true }
            batch += Self.condensed([entry])
            guard batch.count >= 8192 else { return true }
            (named, isFolded) = (try self.fold(batch, named: named, in: directory), true)
            batch = []
            self.lookForTable(in: directory)
            return true
        }
        if !batch.isEmpty { (named, isFolded) = (try fold(batch, named: named, in: directory), true) }
        lock.unlock()
        // The name of the table makes other programs open it.
        try append([note] + (isFolded ? named.map { [$0] } ?? [] : []))
        lookForTable(in: directory)
    }
}
