internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import SealedBackends
internal import Sealing
public import SharedFiles

/// Changes of several records that are written together or not at all: see `SealedStore.transaction`.
///
/// Its calls see the changes that it has made so far.
public struct StoreTransaction: ~Copyable {
    private let records: TransactionRecords

    init(_ records: TransactionRecords) { self.records = records }

    /// Returns a record's value; see `SealedStore.read`.
    ///
    /// - Throws: `StoreError` with the reason why there is no value to believe.
    public func read<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> Record {
        try records.read(type, named: name)
    }

    /// Creates or replaces a record; see `SealedStore.write`.
    ///
    /// - Returns: The sequence of the write.
    /// - Throws: `StoreError`, such as `.conflict` if the stored state does not meet the condition.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always
    ) throws(StoreError) -> UInt64 {
        try records.write(value, named: name, onlyIf: condition)
    }

    /// Reads, changes and writes a record; see `SealedStore.update`.
    ///
    /// - Returns: The result of `change`.
    /// - Throws: `StoreError`; `.declined` with the closure's error as its `cause` when `change` threw.
    @discardableResult
    public func update<Record: SealedRecord, Result>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        _ change: (inout Record) throws -> Result
    ) throws(StoreError) -> Result {
        var value = try records.current(type, named: name, startingWith: initial)
        let result: Result
        do { result = try change(&value) } catch { throw RecordWriter.declined(error, name) }
        try records.write(value, named: name, onlyIf: .always)
        return result
    }

    /// Deletes a record; see `SealedStore.delete`.
    ///
    /// - Returns: The tombstone's sequence.
    /// - Throws: `StoreError`; `.absent` when there is no record to delete.
    @discardableResult
    public func delete(named name: String, onlyIf condition: WriteCondition = .always) throws(StoreError) -> UInt64 {
        try records.delete(named: name, onlyIf: condition)
    }
}

extension SealedStore {
    /// Changes several records together: all changes are made or none, also in a crash or a power loss. A reader that
    /// needs the records of one moment reads them in a transaction as well. For
    /// backends whose `BackendTraits.batchLimit` is above one; files write one record at a time.
    ///
    /// ```swift
    /// try store.transaction { transaction in
    ///     try transaction.update(Account.self, named: "accounts/ada") { $0.balance -= 10 }
    ///     try transaction.update(Account.self, named: "accounts/ben") { $0.balance += 10 }
    /// }
    /// ```
    ///
    /// Other writers of the group wait until it ends, so what it reads stays as it is. It needs the free locks of all
    /// records.
    /// - Parameters:
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the locks; the store's limit unless stated.
    ///   - body: Reads and changes records through its parameter. It must not write with the store itself. If it throws,
    ///     nothing is written. It may run again, from the beginning: when another machine wrote one of the records, when
    ///     the container was replaced, and when a name is written in the class *when unlocked* for the first time, which
    ///     is entered in the vault before.
    /// - Returns: The result of `body`.
    /// - Throws: `StoreError`, as `write`; `.declined` with the closure's error as its `cause` when `body` threw. A
    ///   `StoreError` that `body` throws is rethrown unchanged. `.backendUnknown` if it has more records than the
    ///   backend compares and writes at a time.
    @discardableResult
    public func transaction<Result>(
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil,
        _ body: (borrowing StoreTransaction) throws -> Result
    ) throws(StoreError) -> Result {
        let request = writer.request(holding: fence, durability: durability, timeout: timeout)
        return try onPresentContainer { store throws(StoreError) in
            try store.writer.transaction(in: store.places, request, body)
        }
    }

    /// Changes several records together; see the form without `async`.
    @discardableResult
    public func transaction<Result: Sendable>(
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil,
        _ body: @escaping @Sendable (borrowing StoreTransaction) throws -> Result
    ) async throws(StoreError) -> Result {
        try await limited(timeout) { (call) throws(StoreError) in
            let request = self.request(call, holding: fence, durability: durability)
            return try self.onPresentContainer { store throws(StoreError) in
                try store.writer.transaction(in: store.places, request, body)
            }
        }
    }
}

extension RecordWriter {
    /// Runs `body` while no other program writes, and commits its changes together.
    func transaction<Result>(
        in places: RecordPlaces, _ request: WriteRequest, _ body: (borrowing StoreTransaction) throws -> Result
    ) throws(StoreError) -> Result {
        refreshKeyring()
        defer { reader.space?.keepReserve() }
        return try transaction(in: places, request, raised: [:], body).result
    }

    /// - Parameter raised: The places whose names were listed for this transaction.
    private func transaction<Result>(
        in places: RecordPlaces, _ request: WriteRequest, raised: [String: RecordPlace],
        _ body: (borrowing StoreTransaction) throws -> Result
    ) throws(StoreError) -> (result: Result, written: Set<String>) {
        var unlisted: RecordPlace?
        var result: (Result, Set<String>)?
        do {
            certifyIfNew(request)
            let lock = try wholeLock("write", request)
            result = try repeating(reader.group.identifier, request) { () throws(StoreError) in
                let records = TransactionRecords(self, places, request, raised: raised)
                let result: Result
                do { result = try body(StoreTransaction(records)) } catch {
                    unlisted = records.unlisted
                    if unlisted != nil { return nil }
                    throw Self.declined(error, reader.group.identifier)
                }
                // Also where `body` has caught the error.
                unlisted = records.unlisted
                if unlisted != nil { return nil }
                return (result, try records.commit(lock))
            }
        }
        if let (result, written) = result { return (result, written) }
        guard let place = unlisted, raised[place.name.text] == nil else {
            throw StoreError(
                .conflict, "write", unlisted?.name.text ?? reader.group.identifier,
                "Another program removed its name from the vault's list in the meantime.", advice: "Try again.")
        }
        // The vault's lock comes before the records' locks: the name is listed without them, and `body` runs again.
        return try raising(place, to: .whenUnlocked) { place throws(StoreError) in
            var raised = raised
            raised[place.name.text] = place
            let made = try transaction(in: places, request, raised: raised, body)
            // `body` may have decided otherwise when it ran again.
            if !made.written.contains(place.name.text) { lowerAgain(place) }
            return made
        }
    }

    /// Takes the locks of all records.
    func wholeLock(_ operation: String, _ request: WriteRequest) throws(StoreError) -> HeldLock {
        guard reader.isPresent else { throw reader.moved(operation, reader.group.identifier) }
        let lock: HeldLock
        do throws(FileError) {
            lock = try reader.locks.lock(.whole, timeout: request.timeout, isCancelled: request.isCancelled)
        } catch {
            throw StoreError(writing: error, reader.group.identifier)
        }
        guard reader.isPresent else { throw reader.moved(operation, reader.group.identifier) }
        reader.watermarks.refresh()
        return lock
    }
}

/// The records of a transaction: those that it has read, and the new blobs.
final class TransactionRecords {
    private struct Entry {
        let place: RecordPlace
        let seen = SeenHeader()
        var written: (blob: [UInt8], header: VerifiedHeader, isDeletion: Bool)?
    }

    private let writer: RecordWriter
    private let places: RecordPlaces
    private let request: WriteRequest
    private let raised: [String: RecordPlace]
    /// The key of *after first unlock*, read from the vault under the locks.
    private let key: Result<SealingKey, StoreError>
    private var entries: [String: Entry] = [:]
    /// A record whose name the vault must list first; nothing is committed then.
    private(set) var unlisted: RecordPlace?

    private var reader: RecordReader { writer.reader }

    init(_ writer: RecordWriter, _ places: RecordPlaces, _ request: WriteRequest, raised: [String: RecordPlace]) {
        self.writer = writer
        self.places = places
        self.raised = raised
        self.request = request
        key = writer.reader.keys.lookedUpKey()
    }

    private func entry(_ name: String) throws(StoreError) -> Entry {
        if let known = entries[name] { return known }
        let place = if let place = raised[name] { place } else { try places.place(name) }
        let entry = Entry(place: place)
        entries[name] = entry
        return entry
    }

    /// The blob that was written under a name, as what a next write finds.
    func existing(_ place: RecordPlace) -> ExistingBlob? {
        guard let header = entries[place.name.text]?.written?.header else { return nil }
        return header.header.flags.contains(.tombstone) ? .tombstone(header) : .value(header.header)
    }

    /// Notes a new blob.
    func put(_ blob: [UInt8], _ header: VerifiedHeader, at place: RecordPlace, isDeletion: Bool) {
        entries[place.name.text]?.written = (blob, header, isDeletion)
    }

    private func blob(of entry: Entry) throws(StoreError) -> AcceptedBlob {
        guard let written = entry.written else { return try reader.acceptedBlob(at: entry.place, seen: entry.seen) }
        if written.header.header.flags.contains(.tombstone) {
            throw StoreError(.absent, "read", entry.place.name.text, "The transaction has deleted it.")
        }
        let opened = try reader.openWhole(written.blob, "read", entry.place, limit: reader.maximumBlobSize)
        return AcceptedBlob(opened: opened, sealed: written.blob)
    }

    func read<Record: SealedRecord>(_ type: Record.Type, named name: String) throws(StoreError) -> Record {
        let entry = try entry(name)
        do throws(StoreError) {
            let blob = try blob(of: entry)
            return try reader.checkedSnapshot(of: type, from: blob, at: entry.place).value
        } catch {
            reader.notice(error, at: entry.place)
            throw error
        }
    }

    func current<Record: SealedRecord>(
        _ type: Record.Type, named name: String, startingWith initial: Record?
    ) throws(StoreError) -> Record {
        let entry = try entry(name)
        return try writer.current(type, at: entry.place, startingWith: initial) { () throws(StoreError) in
            let blob = try blob(of: entry)
            if entry.written == nil { entry.seen.note(blob.opened.header, of: blob.sealed) }
            return blob
        }
    }

    @discardableResult
    func write<Record: SealedRecord>(
        _ value: Record, named name: String, onlyIf condition: WriteCondition
    ) throws(StoreError) -> UInt64 {
        let payload = try writer.encode(value, named: name)
        defer { payload.wipe() }
        return try change(name, condition) { record, request throws(StoreError) in try record.write(payload, request) }
    }

    func delete(named name: String, onlyIf condition: WriteCondition) throws(StoreError) -> UInt64 {
        try change(name, condition) { record, request throws(StoreError) in try record.delete(request) }
    }

    private func change(
        _ name: String, _ condition: WriteCondition,
        _ body: (borrowing LockedRecord, WriteRequest) throws(StoreError) -> UInt64?
    ) throws(StoreError) -> UInt64 {
        let entry = try entry(name)
        var request = request
        request.condition = condition
        request.listsName = true
        let record = LockedRecord(entry.place, of: writer, in: self, key: key, seen: entry.seen)
        if let sequence = try body(record, request) { return sequence }
        unlisted = entry.place
        throw StoreError(
            .downgraded, "write", name, "It is written in the class \"when unlocked\" for the first time.",
            advice: "Let the error end the transaction: it is repeated with the name in the vault.")
    }

    /// Commits the new blobs, on condition that everything read is still stored.
    ///
    /// - Returns: The names of the written records.
    func commit(_ lock: borrowing HeldLock) throws(StoreError) -> Set<String> {
        let written = entries.values.filter { $0.written != nil }
        // Values that were read alone are of one moment only if all of them are still stored.
        let isRead = reader.isCompared && (entries.count > 1 || entries.values.contains { $0.seen.isOvertaken })
        guard let first = written.first ?? (isRead ? entries.values.first : nil) else { return [] }
        var writes: [BackendWrite] = []
        if let fence = request.fence {
            let lease = try writer.requireLease(fence)
            if reader.isCompared { writes.append(lease) }
        }
        try writer.requireNamed(lock, "write", first.place)
        for entry in entries.values where entry.written != nil || reader.isCompared {
            var write = BackendWrite(entry.place.key, .nothing)
            if reader.isCompared { write.condition = try entry.seen.requiredCondition(entry.place) }
            if let written = entry.written {
                write.change = .put(written.blob)
                write.isDeletion = written.isDeletion
            }
            writes.append(write)
        }
        let limit = reader.backend.traits.batchLimit
        guard writes.count <= limit else {
            throw StoreError(
                .backendUnknown, "write", reader.group.identifier,
                "The transaction has \(writes.count) records; the backend takes \(limit) at a time.",
                advice: "Use a backend with larger transactions, such as SQLite, or a smaller one.")
        }
        try writer.commit(
            writes, named: first.place.name.text, durability: written.isEmpty ? .unsynced : request.durability)
        guard reader.isPresent else { throw reader.moved("write", first.place.name.text) }
        if written.isEmpty { return [] }
        let verdicts = reader.watermarks.acknowledge(
            written.compactMap { $0.written?.header }, at: reader.options.now().timeIntervalSince1970)
        try writer.requireKept(verdicts, first.place, lock)
        for entry in written {
            guard let (blob, header, _) = entry.written else { continue }
            reader.noteWritten(blob, header.header, at: entry.place)
        }
        return Set(written.map(\.place.name.text))
    }
}
