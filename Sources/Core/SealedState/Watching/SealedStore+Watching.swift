internal import FoundationEssentials
internal import Glibc
internal import Sealing
internal import SharedFiles

extension SealedStore {
    /// Watches a record: returns its present state, then every change, as a read would.
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
    /// It waits for the system's notifications, and polls only if the system cannot notify. It survives changes of the
    /// record's file, of the directories above it and of the whole container, also if they are removed and created
    /// again; a value that expires is refused from that time, and setting the clock causes another look.
    /// `docs/guides/watching-and-settings.md` has the details.
    /// - Parameters:
    ///   - type: The record's type.
    ///   - name: The record's name; the type's `recordName` unless stated.
    ///   - cursor: The last update that was handled, from this process or an earlier one. If the record is still in
    ///     that state, only the next change is returned.
    /// - Throws: `StoreError`: `.invalidName`; `.invalidCursor` for the cursor of another record; `.watchLimit` when
    ///   the system gives no more watches, with the setting that raises the limit.
    public func updates<Record: SealedRecord>(
        of type: Record.Type, named name: String = Record.recordName, from cursor: UpdateCursor? = nil
    ) throws(StoreError) -> RecordUpdates<Record> {
        try updates(of: type, at: places.place(name), from: cursor)
    }

    func updates<Record: SealedRecord>(
        of type: Record.Type, at place: RecordPlace, from cursor: UpdateCursor?
    ) throws(StoreError) -> RecordUpdates<Record> {
        if let cursor, cursor.mark.name != place.context.nameTag {
            throw .invalidCursor("It belongs to another record than \(place.name.text) of \(group).")
        }
        return RecordUpdates(try RecordWatch((try? following()) ?? self, place), after: cursor?.mark)
    }
}

extension SealedStore {
    /// Watches records of any type: the present state of each, then every change, with the reason of each refusal.
    ///
    /// ```swift
    /// for await change in try store.changes() { log(change.name, change.outcome) }
    /// ```
    ///
    /// A change is the result of a read, as far as it is known without the type: authentic, in its place, in order,
    /// fresh. The read state is accepted, as by any read. A new record is reported when it appears, a record whose file
    /// is missing as absent. It survives everything that `updates(of:)` survives. The library's own records, leases and
    /// suites of defaults, are omitted.
    /// - Parameter names: The records; nil for all present and future ones. A named record is also reported as absent.
    /// - Throws: `StoreError`: `.invalidName`; `.watchLimit` when the system gives no more watches, with the setting
    ///   that raises the limit; `.file` if the records cannot be listed.
    public func changes(of names: [String]? = nil) throws(StoreError) -> RecordChanges {
        for name in names ?? [] { _ = try places.place(name) }
        return try RecordChanges(self, of: names)
    }
}

/// The waiting times of a watcher for changes by time alone.
extension RecordReader {
    /// An overdue change must not keep a watcher busy.
    private static let shortestWait = 0.02

    /// Returns the seconds until a value that was just read is to be read again; nil for never.
    func secondsToChange<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>, at place: RecordPlace) -> Double? {
        nextChange(of: snapshot, named: place.name.text).map(seconds)
    }

    /// Returns the seconds for a record that was just refused as `notYetValid`.
    func secondsToBeginning(at place: RecordPlace) -> Double {
        seconds(until: change(ofRefused: place.name.text)) + 0.001
    }

    private func seconds(until date: Date) -> Double { max(Self.shortestWait, date.timeIntervalSince(options.now())) }
}

// The interpretation of errors by a watcher.
extension StoreError {
    /// Another state of the vault may make the same blob valid.
    var isOfVault: Bool {
        switch code {
        case .locked, .unknownKey, .wrongEpoch, .retiredEpoch, .vault, .vaultAbsent, .vaultCorrupt, .vaultRolledBack,
            .vaultMissing, .vaultReplaced, .vaultNotAccepted, .downgraded:
            true
        default: false
        }
    }

    /// The same look may succeed a moment later without a change of a file: descriptors, memory or watches were
    /// exhausted, a disk did not answer, a lock was held. A new roster is no change near the record.
    var mayPass: Bool {
        switch code {
        case .file, .watchLimit, .lockTimeout, .notAuthorized, .rosterBehind: true
        // Wrapped errors keep the system's number.
        default: errno.map(Self.passing.contains) ?? false
        }
    }

    private static let passing: Set<Int32> = [EMFILE, ENFILE, ENOMEM, ENOSPC, EIO, EAGAIN, EINTR, ENOLCK, ESTALE]

    /// Runs a step of setting up a watch and converts its failure into a store's.
    static func onWatching<Result>(
        _ subject: String, _ body: () throws(FileError) -> Result
    ) throws(StoreError) -> Result {
        do throws(FileError) { return try body() } catch {
            guard error.code == .watchLimit || error.code == .tooManyOpenFiles else {
                throw StoreError(error, "watch", subject)
            }
            throw StoreError(
                .watchLimit, "watch", subject, error.sentence, advice: error.advice, errno: error.errno,
                cause: error)
        }
    }
}
