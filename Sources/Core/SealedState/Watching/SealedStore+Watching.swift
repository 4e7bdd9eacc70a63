internal import FoundationEssentials
internal import Glibc
internal import Sealing
internal import SharedFiles

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
    /// `docs/guides/watching-and-settings.md` has the details.
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

/// How long a watcher waits for what the time alone changes.
extension RecordReader {
    /// A change that is due and has not come yet must not keep a watcher busy.
    private static let shortestWait = 0.02

    /// In how many seconds a value that was just read is to be looked at again; nil for never.
    func secondsToChange<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>, at place: RecordPlace) -> Double? {
        nextChange(of: snapshot, named: place.name.text).map(seconds)
    }

    /// The same for a record that was just refused as `notYetValid`.
    func secondsToBeginning(at place: RecordPlace) -> Double {
        seconds(until: change(ofRefused: place.name.text)) + 0.001
    }

    private func seconds(until date: Date) -> Double { max(Self.shortestWait, date.timeIntervalSince(options.now())) }
}

// What a watcher makes of errors.
extension StoreError {
    /// Whether another state of the vault may make it good, with the same blob in the record's place.
    var isOfVault: Bool {
        switch code {
        case .locked, .unknownKey, .wrongEpoch, .retiredEpoch, .vault, .vaultAbsent, .vaultCorrupt, .vaultRolledBack,
            .vaultMissing, .vaultReplaced, .vaultNotAccepted, .downgraded:
            true
        default: false
        }
    }

    /// Whether the same look may end otherwise a moment later though no file changed: a lack of descriptors, memory or
    /// watches, a disk that did not answer, a lock that somebody held. A new roster is no change near the record.
    var mayPass: Bool {
        switch code {
        case .file, .watchLimit, .lockTimeout, .notAuthorized, .rosterBehind: true
        // What others wrap keeps the system's number.
        default: errno.map(Self.passing.contains) ?? false
        }
    }

    private static let passing: Set<Int32> = [EMFILE, ENFILE, ENOMEM, ENOSPC, EIO, EAGAIN, EINTR, ENOLCK, ESTALE]

    /// Runs a step of setting up a watch and turns its failure into a store's.
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
