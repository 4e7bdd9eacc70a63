extension SealedStore {
    /// The record's current value. Takes no lock.
    ///
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: Where it lies; the type's `recordName` unless stated.
    /// - Throws: `StoreError`, saying why there is no value to believe. Where the store keeps the last good value, that is
    ///   returned instead of a rejection.
    public func read<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> Record {
        try snapshot(of: type, named: name).value
    }

    /// The record's current value with its provenance. Takes no lock.
    ///
    /// Where the store keeps the last good value, that is returned instead of a rejection, and `rejection` says why.
    /// - Throws: `StoreError`, saying why there is no value to believe.
    public func snapshot<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let place = try places.place(name)
        do throws(StoreError) { return try checkedSnapshot(of: type, at: place) } catch {
            return try answer(to: error, type, at: place)
        }
    }

    /// The record's current value, or nil whatever the reason: the one call that gives the reason up.
    public func readIfValid<Record: SealedRecord>(
        _ type: Record.Type, named name: String = Record.recordName
    ) -> Record? {
        try? read(type, named: name)
    }
}
