internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
public import SharedFiles

extension SealedStore {
    /// Creates or replaces a record. Blocks while another program writes the same record.
    ///
    /// - Parameters:
    ///   - value: The value; its own rules are checked first.
    ///   - name: Where it goes; the type's `recordName` unless stated.
    ///   - durability: The store's unless stated.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`; the old value stands, except after `.durabilityUnknown`.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, named name: String = Record.recordName, durability: Durability? = nil
    ) throws(StoreError) -> UInt64 {
        try write(value, named: name, durability: durability, isCancelled: nil)
    }

    /// Reads, changes and writes a record under its lock: no other program's write is lost.
    ///
    /// An expired value is handed to `change` as well: renewing it is what updates are for.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: Where it lies.
    ///   - initial: What `change` gets when the record is absent; with nil that is an error.
    ///   - change: Changes the value; it must not use the store for the same record.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`; the old value stands, except after `.durabilityUnknown`.
    @discardableResult
    public func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        durability: Durability? = nil, _ change: (inout Record) -> Void
    ) throws(StoreError) -> UInt64 {
        try update(
            type, named: name, startingWith: initial, durability: durability, isCancelled: nil, change)
    }

    /// Deletes a record: a tombstone takes its place and its next sequence, so that the deletion cannot be undone unseen.
    ///
    /// - Returns: The tombstone's sequence.
    /// - Throws: `StoreError`, `.absent` when there is nothing to delete.
    @discardableResult
    public func delete(named name: String, durability: Durability? = nil) throws(StoreError) -> UInt64 {
        try delete(named: name, durability: durability, isCancelled: nil)
    }

    /// Deletes the record of a type.
    @discardableResult
    public func delete<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, durability: Durability? = nil
    ) throws(StoreError) -> UInt64 {
        try delete(named: name, durability: durability)
    }
}

extension SealedStore {
    func write<Record: SealedRecord>(
        _ value: Record, named name: String, durability: Durability?, isCancelled: (() -> Bool)?
    ) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        let payload = try encode(value, named: name)
        defer { payload.wipe() }
        return try locked(place, isCancelled) { writer throws(StoreError) in
            try writer.write(payload, durability: durability ?? options.durability)
        }
    }

    func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String, startingWith initial: Record?, durability: Durability?,
        isCancelled: (() -> Bool)?, _ change: (inout Record) -> Void
    ) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        return try locked(place, isCancelled) { writer throws(StoreError) in
            var value = try current(type, named: name, startingWith: initial)
            change(&value)
            let payload = try encode(value, named: name)
            defer { payload.wipe() }
            return try writer.write(payload, durability: durability ?? options.durability)
        }
    }

    func delete(named name: String, durability: Durability?, isCancelled: (() -> Bool)?) throws(StoreError) -> UInt64 {
        let place = try places.place(name)
        return try locked(place, isCancelled) { writer throws(StoreError) in
            try writer.delete(durability: durability ?? options.durability)
        }
    }

    func locked(
        _ place: RecordPlace, _ isCancelled: (() -> Bool)?,
        _ body: (borrowing RecordWriter) throws(StoreError) -> UInt64
    ) throws(StoreError) -> UInt64 {
        let lock = try StoreError.onFiles("write", place.name.text) { () throws(FileError) in
            try backend.lock(place.address, timeout: options.lockTimeout, isCancelled: isCancelled)
        }
        // What other processes accepted since: a write that stayed below it would be refused by them.
        watermarks.refresh()
        return try body(RecordWriter(store: self, place: place, lock: lock))
    }

    private func current<Record: SealedRecord>(
        _ type: Record.Type, named name: String, startingWith initial: Record?
    ) throws(StoreError) -> Record {
        do throws(StoreError) {
            let place = try places.place(name)
            let snapshot = try decodedSnapshot(of: type, from: acceptedBlob(at: place), at: place)
            try Freshness(now: options.now(), skew: options.clockSkew)
                .check(sealedAt: snapshot.provenance.sealedAt, expiresAt: nil, maximumAge: nil, named: name)
            try validate(snapshot.value, named: name)
            return snapshot.value
        } catch {
            guard error.code == .absent, let initial else { throw error }
            return initial
        }
    }
}
