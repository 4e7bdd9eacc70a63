internal import Sealing

extension SealedStore {
    /// Watches a record: its present state, then every change, as a read would answer them.
    ///
    /// ```swift
    /// for await update in try store.updates(of: WidgetAuthState.self) {
    ///     switch update.outcome {
    ///     case .value(let snapshot): show(snapshot.value)
    ///     case .absent: showPlaceholder()
    ///     case .rejected(let error): hide(because: error)
    ///     }
    /// }
    /// ```
    ///
    /// It waits for the system to tell of changes, and looks by itself only where the system cannot tell. It outlives
    /// whatever happens to the record's file, the directories above it and the whole container, also when they are removed
    /// and made anew; a value that expires is refused when its time is over, and setting the clock makes for another look.
    /// `docs/watching.md` has the details.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: Where it lies; the type's `recordName` unless stated.
    ///   - cursor: The last update that was dealt with, from this process or an earlier one. If the record is still in that
    ///     state, only the next change is told.
    /// - Throws: `StoreError`: `.invalidName`; `.invalidCursor` for the cursor of another record; `.watchLimit` when the
    ///   system gives no more watches, with the setting that raises the limit.
    public func updates<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName, from cursor: UpdateCursor? = nil
    ) throws(StoreError) -> RecordUpdates<Record> {
        let place = try places.place(name)
        if let cursor, cursor.mark.name != place.context.nameTag {
            throw .invalidCursor("It belongs to another record than \(name) of \(group).")
        }
        return RecordUpdates(try RecordWatch(self, place), after: cursor?.mark)
    }
}
