public import SharedFiles

/// Writing, for users. Every call waits for the record's lock, at most as long as its time limit.
///
/// Common parameters:
/// - `onlyIf`: The required stored state; otherwise the call throws `.conflict` and writes nothing.
/// - `holding`: The lease that the caller relies on; once another program has it, the call throws `.leaseLost` and
///   writes nothing.
/// - `durability`: The store's unless stated.
/// - `timeout`: The time limit for the record's lock; the store's `lockTimeout` unless stated.
///
/// After every error but two the old value remains. After `.durabilityUnknown` the new one is in place and may not
/// survive a power loss; after `.lockLost` it is in place and another program's concurrent write may be lost.
extension SealedStore {
    /// Creates or replaces a record. Blocks while another program writes the same record.
    ///
    /// - Parameters:
    ///   - value: The value; its own rules are checked first.
    ///   - name: The record's name; the type's `recordName` unless stated.
    ///   - condition: The required stored state; any unless stated.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the record's lock; the store's limit unless stated.
    /// - Returns: The sequence of this write, for a later `onlyIf: .sequence(_)`.
    /// - Throws: `StoreError`; `.conflict`, `.leaseLost`, `.lockTimeout`, `.noSpace`, `.quotaExceeded`, `.readOnly`,
    ///   `.permissionDenied`, `.invalid` and `.tooLarge` leave the old value in place.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        try writer.write(
            value, at: places.place(name),
            writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout))
    }

    /// Reads, changes and writes a record under its lock: no other program's write is lost.
    ///
    /// An expired value is passed to `change` as well: updates serve to renew it.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: The record's name.
    ///   - initial: The value for `change` if the record is absent; with `nil` that is an error.
    ///   - condition: The required stored state; any unless stated. Checked before `change` is called.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the record's lock; the store's limit unless stated.
    ///   - change: Changes the value; it must not use the store for the same record. It may throw, and then nothing is
    ///     written.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`, as `write`; `.declined` with the closure's error as its `cause` when `change` threw. A
    ///   `StoreError` that `change` throws is rethrown unchanged.
    @discardableResult
    public func update<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, startingWith initial: Record? = nil,
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, _ change: (inout Record) throws -> Void
    ) throws(StoreError) -> UInt64 {
        try writer.update(
            type, at: places.place(name), startingWith: initial,
            writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout), change)
    }

    /// Deletes a record: a tombstone takes its place and its next sequence, so that the deletion cannot be undone
    /// unseen.
    ///
    /// - Returns: The tombstone's sequence.
    /// - Throws: `StoreError`, as `write`; `.absent` when there is no record to delete.
    @discardableResult
    public func delete(
        named name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        try writer.delete(
            at: places.place(name),
            writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout))
    }

    /// Deletes the record of a type.
    @discardableResult
    public func delete<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName, onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        try delete(named: name, onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
    }

    /// Removes the tombstone of a deleted record, always durably: nothing of the record is left in the container.
    ///
    /// It is a separate call, after `delete`. The states that this user's programs have accepted are kept, so that an
    /// old blob that is put back is still refused, and the next write continues after it. Users whose programs never
    /// read the deletion see the record missing without a reason.
    /// - Throws: `StoreError`: `.absent` if the record does not exist; `.conflict` if something other than a tombstone
    ///   is stored, which is left unchanged; `.durabilityUnknown` if the tombstone is removed and may reappear after a
    ///   power loss.
    public func purge(named name: String, timeout: Duration? = nil) throws(StoreError) {
        try writer.purge(at: places.place(name), writer.request(durability: .durable, timeout: timeout))
    }
}

/// The stored state that a write requires: compare-and-swap.
///
/// Under the record's lock it is compared with the result of a read at that moment. If they differ, nothing is written
/// and the error is `.conflict`; its reason names the stored state. A blob that readers refuse (damaged, put back,
/// forked, too far ahead) meets no condition: it is neither absent nor the value that a caller has read.
public enum WriteCondition: Sendable, Hashable {
    /// Anything or nothing.
    case always
    /// Nothing, or a deletion: the write creates the record. A file that is missing without a deletion is absent as
    /// well, as it is for readers.
    case absent
    /// The value of that sequence, as a read or a write returned it; never a deletion.
    case sequence(UInt64)
}
