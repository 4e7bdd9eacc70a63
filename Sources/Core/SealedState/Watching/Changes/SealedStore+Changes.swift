extension SealedStore {
    /// Watches records whatever their types: the present state of each, then every change, with the reason of each refusal.
    ///
    /// ```swift
    /// for await change in try store.changes() { log(change.name, change.outcome) }
    /// ```
    ///
    /// It is told what a read would answer, as far as that can be said without the type: authentic, in its place, in order,
    /// of the present. What is read is accepted, as by any read. A record that is new is told when it comes, one whose file
    /// is gone as absent. It outlives what `updates(of:)` outlives. The library's own records, leases and suites of
    /// defaults, are left out.
    /// - Parameter names: The records; all that there are and that come, with nil. A named one is told as absent as well.
    /// - Throws: `StoreError`: `.invalidName`; `.watchLimit` when the system gives no more watches, with the setting that
    ///   raises the limit; `.file` where the records cannot be listed.
    public func changes(of names: [String]? = nil) throws(StoreError) -> RecordChanges {
        for name in names ?? [] { _ = try places.place(name) }
        return try RecordChanges(self, of: names)
    }
}
